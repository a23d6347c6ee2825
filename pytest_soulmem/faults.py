"""What is wrong with a fixture, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pytest_soulmem.positions import Positions, text_of
from pytest_soulmem.reporting.text import visible


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a file.

    ``place`` is a path in the document (``$[3].mem_type``), empty for the file as a whole.
    ``owner`` names the node or case that the place belongs to, in words. ``below`` are lines
    that tell the faults of another file that are the fault here.
    """

    place: str
    message: str
    owner: str = ""
    below: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = " ".join(filter(None, (self.place, f"({self.owner})" if self.owner else "")))
        return visible(f"{where}: {self.message}" if where else self.message)


class FixtureError(Exception):
    """A file that cannot be used, with everything that was found wrong in it."""

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        super().__init__(path, faults)
        self.path = path
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return self._listing

    @cached_property
    def _listing(self) -> str:
        # Once: a faulty graph may be large, and be named by many query files.
        return listing(self.path, self.faults)

    @property
    def reason(self) -> str:
        """What is wrong, in one line without the file."""
        return summary(self.faults)

    def at(self, place: str) -> Fault:
        """The faults of this file as one fault of another, which names this one there."""
        first, *below = str(self).split("\n")
        return Fault(place, first, below=tuple(below))


def listing(path: Path, faults: Sequence[Fault]) -> str:
    """All faults of one file as text, safe to print, each with its line and column.

    As ``file:line:column``, which editors and terminals make a link.
    """
    file, indent, lines = visible(str(path)), "", []
    if len(faults) > 1:
        indent, lines = "  ", [f"{file}: {len(faults)} faults"]
    text = text_of(path)
    positions = Positions(text)
    for fault in faults:
        where = ":".join(map(str, [file, *positions.of(fault.place)])) if text else file
        lines.append(f"{indent}{where}: {fault}")
        lines += [f"{indent}{line}" for line in fault.below]
    return "\n".join(lines)


def summary(faults: Sequence[Fault]) -> str:
    """All faults of one file or case in one line: the only one, or how many and the first."""
    first = str(faults[0])
    return first if len(faults) == 1 else f"{len(faults)} faults; the first: {first}"


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
