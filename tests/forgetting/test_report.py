from __future__ import annotations

from statistics import fmean

from pytest_soulmem.forgetting.report import section
from pytest_soulmem.forgetting.result import EffectSeen, ForgettingResult, Point
from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting.table import lines


def record(inference="magnitude", outcome="passed", degrees=(0.5,), **more):
    mean = {"missing_degree": fmean(degrees)} if degrees else {}
    return {"inference": inference, "outcome": outcome, "figures": mean} | more


def effect(*, due=True, triggered=True, similarity=0.5, revised=None, fallback=""):
    return {
        "should_forget": due,
        "triggered": triggered,
        "similarity": similarity,
        "revised": revised,
        "fallback": fallback,
    }


def table_of(*records):
    return lines(section(records).tables[0])


def notes_of(*records):
    return list(section(records).notes)


def test_the_kind_declares_every_figure():
    seen = EffectSeen(should_forget=True, triggered=True)
    result = ForgettingResult(
        points=(Point(hours=1.0, retrieval_count=0, degree=0.5),), effect=seen
    )
    (kind,) = (kind for kind in KINDS if kind.name == "forgetting")
    assert set(result.figures) == set(kind.figures)


def test_rates_and_means_per_kind():
    table = table_of(
        record(degrees=[0.5]),
        record(degrees=[0.2, 0.4], outcome="failed"),
        record("branch", degrees=[0, 0.1, 0.8]),
    )
    assert table == [
        "              judged  passed  pass rate  mean missing degree",
        "T3 magnitude       2       1        50%               0.4000",
        "T4 branch          1       1       100%               0.3000",
    ]


def test_unusable_cases_and_laws_have_rows_of_their_own():
    table = table_of(
        {"broken": True, "outcome": "failed"},
        {"law": "scale", "outcome": "passed"},
        {"law": "mask-ratio", "outcome": "skipped"},
    )
    assert [row.split() for row in table[1:]] == [
        ["unusable", "1", "0", "0%", "-"],
        ["laws", "1", "1", "100%", "-"],
    ]


def test_a_case_whose_forgetter_misbehaved_has_no_degree():
    assert table_of({"inference": "effect", "outcome": "failed"})[1].split()[-1] == "-"


def test_the_trigger_rate_counts_what_should_forget():
    notes = notes_of(
        record("effect", effect=effect()),
        record("effect", effect=effect(triggered=False, similarity=None)),
        record("effect", effect=effect(due=False, triggered=True)),
    )
    assert notes == ["trigger rate: 50% (1 of 2 that should forget did)"]


def test_fallbacks_are_counted_by_reason():
    notes = notes_of(
        record("effect", effect=effect(due=False, revised=True)),
        record("effect", effect=effect(due=False, revised=False, fallback="a")),
        record("effect", effect=effect(due=False, revised=False, fallback="b")),
        record("effect", effect=effect(due=False, revised=False, fallback="b")),
    )
    assert notes == ["3 of 4 revisions fell back to masking (b: 2, a: 1)"]


def test_what_could_not_be_judged_is_said():
    notes = notes_of(
        record("effect", system={"forgetter": "mine"}, effect=effect(due=False, similarity=None)),
        {"law": "mask-ratio", "outcome": "skipped", "system": {"forgetter": "mine"}},
    )
    assert notes == [
        "forgetter: mine",
        "similarity not judged for 1: the forgetter does not mask",
        "laws skipped: 1 (the forgetter does not offer what they are about)",
    ]
