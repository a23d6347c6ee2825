"""Which JSON files are ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_soulmem.decoding import read_json
from pytest_soulmem.faults import Fault, FixtureError
from pytest_soulmem.kinds import KINDS, Kind, kind_of_place


@dataclass(frozen=True)
class Recognised:
    """A file of ours, decoded."""

    kind: Kind
    document: object


def recognise(path: Path, *, named: bool) -> Recognised | None:
    """Decode a file and tell its kind; None for a file that is none of ours.

    ``named`` says that the file stands on the command line: then it is never None.

    Raises:
        FixtureError: the file is named, or has a sibling of ours, and cannot be decoded; or it
            is named and is none of ours.
    """
    place = kind_of_place(path)
    try:
        document = read_json(path)
    except FixtureError:
        if named or (place and _has_sibling(path, place)):
            raise
        return None
    if place and place.load().recognises(document):
        return Recognised(place, document)
    if not named:
        return None
    kind = likely_kind(document)
    if kind is None:
        raise FixtureError(path, [Fault("", _refusal(document))])
    return Recognised(kind, document)


def likely_kind(document: object) -> Kind | None:
    """What a document would be, wherever it lies; None if it has the shape of no fixture."""
    likeliest = _likeliest_first(document)
    return next((kind for kind in likeliest if kind.load().recognises(document)), None)


def _likeliest_first(document: object) -> list[Kind]:
    """The kinds, those first whose fields the document or the items of its lists have."""
    fields = set(document) if isinstance(document, dict) else set()
    for value in document.values() if isinstance(document, dict) else ():
        items = value if isinstance(value, list) else ()
        fields.update(name for item in items if isinstance(item, dict) for name in item)
    return sorted(KINDS, key=lambda kind: -len(kind.hints & fields))


def _has_sibling(path: Path, kind: Kind) -> bool:
    """Whether another file of this place is ours."""
    for other in sorted(path.parent.glob("*.json")):
        if other == path or not kind.claims(other):
            continue
        try:
            if kind.load().recognises(read_json(other)):
                return True
        except FixtureError:
            continue
    return False


def _refusal(document: object) -> str:
    if isinstance(document, list):
        shape = "a JSON array; if it is a memory graph, run the query file that names it"
    else:
        marks = " nor ".join(dict.fromkeys(kind.mark for kind in KINDS))
        shape = f"not a fixture: it has neither {marks}"
    return f"{shape} (fixtures live in {all_places()})"


def all_places() -> str:
    """Where the fixtures of every kind live, in words."""
    return ", ".join(pattern for kind in KINDS for pattern in kind.places)
