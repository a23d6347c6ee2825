"""Where a place of a JSON document stands in its text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from json.decoder import JSONDecoder
from pathlib import Path

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_SPACE = re.compile(r"[ \t\r\n]*")
# Integers as text: Python refuses to read those of thousands of digits.
_DECODER = JSONDecoder(parse_int=str)


class Positions:
    """Lines and columns in one text. What was read for one place is kept for the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: dict[int, dict[object, int]] = {}
        """Of each object and array that was read: where its values start, by key or index."""

    def of(self, place: str) -> tuple[int, int]:
        """Line and column, both from 1, of a place such as ``$.test_cases[2].name``.

        A place that the text does not have stands where its nearest parent does; without a place,
        a text that is no JSON stands where it stops being some.
        """
        try:
            at = self._offset(place) if place else _whole(self._text)
        except json.JSONDecodeError as error:
            at = 0 if place else error.pos
        except (IndexError, ValueError, RecursionError):
            at = 0
        line_start = self._text.rfind("\n", 0, at) + 1
        return bisect_right(self._line_starts, at), at - line_start + 1

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self._text))]

    def _offset(self, place: str) -> int:
        at = _skip_space(self._text, 0)
        for key, index in _STEP.findall(place):
            start = self._children(at, of_object=bool(key)).get(key or int(index))
            if start is None:
                break
            at = start
        return at

    def _children(self, at: int, *, of_object: bool) -> dict[object, int]:
        if at not in self._starts:
            parts = _members(self._text, at) if of_object else _items(self._text, at)
            self._starts[at] = dict(parts)
        return self._starts[at]


def text_of(path: Path) -> str:
    """A file's text, for finding places in it; empty if it is none."""
    try:
        return path.read_text("utf-8-sig") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return ""


def _whole(text: str) -> int:
    json.loads(text)
    return 0


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
