"""Where the files of each kind live."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.places import PLACES, SUMMARIES, place_of

FOLDERS = st.sampled_from([*(kind.file for kind in KINDS), "queries", "forget", "Queries", "a", ""])
FILES = st.sampled_from(
    [
        "question.json",
        "question 1.json",
        "questions.json.json",
        "Question.json",
        "question.JSON",
        ".json",
        "a.json",
        "json",
        "question",
        "aquestion.json",
    ]
)


def by_fnmatch(path: Path) -> str | None:
    place = f"{path.parent.name}/{path.name}"
    for kind, patterns in PLACES.items():
        if any(fnmatchcase(place, pattern) for pattern in patterns):
            return kind
    return None


@given(FOLDERS, FILES)
def test_a_place_is_what_its_pattern_says(folder: str, file: str) -> None:
    path = Path("/root") / folder / file
    assert place_of(path) == by_fnmatch(path)


def test_every_kind_has_its_places() -> None:
    assert list(PLACES) == list(SUMMARIES) == [kind.name for kind in KINDS]
