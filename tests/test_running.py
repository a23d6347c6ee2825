from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_soulmem.cases import BrokenCase
from pytest_soulmem.faults import Fault
from pytest_soulmem.kinds import Verdict
from pytest_soulmem.running import BrokenItem, CaseItem, LawfulRun, LawItem
from pytest_soulmem.users_code import Misbehaviour

ROOT = Path("/project")
BROKEN = BrokenCase("bro\tken", (Fault("$.test_cases[0]", "`text` is missing"),))


@dataclass(frozen=True)
class Case:
    name: str


class Run(LawfulRun[str, Case]):
    """Judges documents that are their own cases; the system under test is not to be asked."""

    def cases(self, path, document):
        return self._items(path, "file", document, ("first", "second"))

    def _judge_case(self, item):
        if item.case.name == "asks":
            raise Misbehaviour("the system raised")
        return Verdict(None, {"judged": item.name})

    def _judge_law(self, item):
        if item.name == "second":
            raise Misbehaviour("the system raised")
        return Verdict(None, {"tried": item.name})

    def _misbehaved(self, item, failure):
        return Verdict(failure, {"misbehaved": item.name})


def items(*cases, laws=True, path=ROOT / "forget" / "a.json"):
    run = Run(SimpleNamespace(rootpath=ROOT), SimpleNamespace(laws=laws))
    return run, run.cases(path, cases)


def test_cases_come_in_the_order_of_the_file_and_then_the_laws() -> None:
    _, found = items(BROKEN, Case("b\x1b"), Case("a"))
    assert found == [
        BrokenItem("bro\\x09ken", ROOT / "forget" / "a.json", BROKEN),
        CaseItem("b\\x1b", "file", Case("b\x1b")),
        CaseItem("a", "file", Case("a")),
        LawItem("first", "file", "forget/a.json"),
        LawItem("second", "file", "forget/a.json"),
    ]
    assert [item.group for item in found] == ["", "", "", "laws", "laws"]


def test_a_law_has_a_key_that_no_other_has() -> None:
    _, own = items(Case("a"))
    _, other = items(Case("a"), path=ROOT / "forget" / "b.json")
    keys = [item.key for item in (*own, *other) if isinstance(item, LawItem)]
    assert len(set(keys)) == 4


def test_a_session_can_go_without_laws() -> None:
    _, found = items(Case("a"), laws=False)
    assert [item.name for item in found] == ["a"]


def test_a_case_that_cannot_run_fails_with_its_faults_and_nobody_is_asked() -> None:
    run, (broken, *_) = items(BROKEN)
    verdict = run.judge(broken)
    assert verdict.failure
    assert "`text` is missing" in verdict.failure.text
    assert verdict.record == {"broken": True}


@pytest.mark.parametrize(
    ("position", "properties", "reason"),
    [
        (0, {"judged": "a"}, None),
        (1, {"misbehaved": "asks"}, "the system raised"),
        (2, {"tried": "first"}, None),
        (3, {"misbehaved": "second"}, "the system raised"),
    ],
)
def test_what_the_users_code_does_wrong_fails_that_item(position, properties, reason) -> None:
    run, found = items(Case("a"), Case("asks"))
    assert run.obstacle(found[position]) is None
    verdict = run.judge(found[position])
    assert verdict.properties == properties
    assert (verdict.failure and verdict.failure.reason) == reason
