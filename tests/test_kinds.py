from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_soulmem.kinds import KINDS, kind_of_place


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("queries/a.json", "retrieval"),
        ("deep/down/queries/案例.json", "retrieval"),
        ("any/question.json", "retrieval"),
        ("any/question_2.json", "retrieval"),
        ("any/questions.json", "retrieval"),
        ("forget/a.json", "forgetting"),
        ("forget/question.json", "retrieval"),
        ("queries/a.jsonl", None),
        ("queries/a.JSON", None),
        ("Queries/a.json", None),
        ("myqueries/a.json", None),
        ("queries/below/a.json", None),
        ("graphs/g.json", None),
        ("any/my_question.json", None),
        ("a.json", None),
    ],
)
def test_kind_of_place(place: str, kind: str | None) -> None:
    found = kind_of_place(Path("/root") / place)
    assert (found.name if found else None) == kind


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_loads_what_it_promises(kind) -> None:
    module = kind.load()
    assert callable(module.open_run)
    assert callable(kind.load_report().section)
    for other in (None, 7, "test_cases", [], {}, [{"test_cases": []}]):
        assert not module.recognises(other)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_reports_need_nothing_heavy(kind) -> None:
    code = f"import sys, {kind.package}.report; print('numpy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert said.stdout == "False\n"


def test_kinds_are_told_apart() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    places = [place for kind in KINDS for place in kind.places]
    assert len(set(places)) == len(places)
