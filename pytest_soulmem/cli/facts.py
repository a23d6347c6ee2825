"""Plain data as lines, for people: what a case was asked, expected to find, and found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def facts(record: Mapping[str, Any]) -> Iterator[str]:
    """A line for each fact of a record; what is empty is left out.

    >>> list(facts({"law": "", "points": [{"hours": 6.0, "degree": 0.25}, {"hours": 12.0}]}))
    ['points[0]: hours 6, degree 0.25', 'points[1]: hours 12']
    """
    for name, value in record.items():
        yield from _lines(name, value)


def _lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        told = {own: inner for own, inner in value.items() if _scalar(inner)}
        shown = [f"{own} {_text(inner)}" for own, inner in told.items() if not _empty(inner)]
        if shown:
            yield f"{name}: {', '.join(shown)}"
        for own, inner in value.items():
            if own not in told:
                yield from _lines(f"{name}.{own}", inner)
    elif isinstance(value, (list, tuple)):
        if value and all(map(_scalar, value)):
            yield f"{name}: {', '.join(map(_text, value))}"
            return
        for position, inner in enumerate(value):
            yield from _lines(f"{name}[{position}]", inner)
    elif not _empty(value):
        yield f"{name}: {_text(value)}"


def _scalar(value: Any) -> bool:
    return not isinstance(value, (Mapping, list, tuple))


def _empty(value: Any) -> bool:
    return value is None or value == ""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
