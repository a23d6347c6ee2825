"""What is wrong with a fixture, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a file.

    ``place`` is a path in the document (``$[3].mem_type``), empty for the file as a whole.
    ``owner`` names the node or case that the place belongs to, in words.
    """

    place: str
    message: str
    owner: str = ""

    def __str__(self) -> str:
        where = " ".join(filter(None, (self.place, f"({self.owner})" if self.owner else "")))
        return f"{where}: {self.message}" if where else self.message


class FixtureError(Exception):
    """A file that cannot be used, with everything that was found wrong in it."""

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        super().__init__(path, faults)
        self.path = path
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return listing(self.path, self.faults)


def listing(path: Path, faults: Sequence[Fault]) -> str:
    """All faults of one file as text, the file first."""
    if len(faults) == 1:
        return f"{path}: {faults[0]}"
    return "\n".join([f"{path}: {len(faults)} faults", *(f"  {fault}" for fault in faults)])


def owned_by(owner: str, faults: Iterable[Fault]) -> list[Fault]:
    """The same faults, each naming the node or case that it belongs to."""
    return [replace(fault, owner=owner) for fault in faults]


def suggestion(word: str, known: Iterable[str]) -> str:
    """``; did you mean "…"?`` for the closest of the known words, or nothing if none is close."""
    # Imported here: only a faulty file needs it.
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    found = process.extractOne(
        word, list(known), scorer=Levenshtein.normalized_similarity, score_cutoff=0.5
    )
    return f'; did you mean "{found[0]}"?' if found else ""
