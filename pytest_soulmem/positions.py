"""Where a place of a JSON document stands in its text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import JSONDecoder

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()


def position(text: str, place: str) -> tuple[int, int]:
    """Line and column, both from 1, of a place such as ``$.test_cases[2].name``.

    A place that the text does not have stands where its nearest parent does; without a place, a
    text that is no JSON stands where it stops being some.
    """
    try:
        at = _offset(text, place) if place else _whole(text)
    except json.JSONDecodeError as error:
        at = 0 if place else error.pos
    except (IndexError, ValueError, RecursionError):
        at = 0
    line = text.count("\n", 0, at) + 1
    return line, at - text.rfind("\n", 0, at)


def _whole(text: str) -> int:
    json.loads(text)
    return 0


def _offset(text: str, place: str) -> int:
    at = _skip_space(text, 0)
    for key, index in _STEP.findall(place):
        parts = _members(text, at) if key else _items(text, at)
        wanted = key or int(index)
        found = [start for name, start in parts if name == wanted]
        if not found:
            break
        at = found[-1]
    return at


def _members(text: str, at: int) -> Iterator[tuple[object, int]]:
    """The keys of the object that starts here, and where their values start."""
    if text[at] != "{":
        return
    at = _skip_space(text, at + 1)
    while text[at] == '"':
        key, at = _DECODER.raw_decode(text, at)
        start = _skip_space(text, _skip_space(text, at) + 1)
        yield key, start
        at = _next(text, start)


def _items(text: str, at: int) -> Iterator[tuple[object, int]]:
    """The positions in the array that starts here, and where their values start."""
    if text[at] != "[":
        return
    at = _skip_space(text, at + 1)
    index = 0
    while text[at] != "]":
        yield index, at
        at = _next(text, at)
        index += 1


def _next(text: str, start: int) -> int:
    """Where the next key or item stands after a value, or the closing bracket."""
    _, end = _DECODER.raw_decode(text, start)
    at = _skip_space(text, end)
    return _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return max(0, min(found.end() if found else at, len(text) - 1))
