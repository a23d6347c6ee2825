"""Plain-text tables that line up with Chinese in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wcwidth import wcswidth


@dataclass(frozen=True)
class Table:
    """A table: the first column and ``left`` columns are aligned left, the others right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    left: tuple[int, ...] = (0,)
    marked: frozenset[int] = frozenset()
    """Rows to highlight."""


@dataclass(frozen=True)
class Section:
    """A part of the terminal report."""

    title: str
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


def width(text: str) -> int:
    """Terminal columns of a text: a Chinese character takes two."""
    return max(0, wcswidth(text))


def pad(text: str, columns: int, *, left: bool) -> str:
    """The text filled with spaces to a number of terminal columns."""
    fill = " " * (columns - width(text))
    return text + fill if left else fill + text


def clip(text: str, columns: int) -> str:
    """The text cut to a number of terminal columns, with an ellipsis where it was cut."""
    if width(text) <= columns:
        return text
    end = len(text)
    while end and width(text[:end]) > columns - 1:
        end -= 1
    return text[:end] + "…"


def lines(table: Table, indent: str = "") -> list[str]:
    """The table as lines: header, then rows, columns two spaces apart."""
    grid = [list(table.header), *(list(row) for row in table.rows)]
    widths = [max(width(row[column]) for row in grid) for column in range(len(table.header))]
    return [
        (
            indent
            + "  ".join(
                pad(cell, columns, left=column in table.left)
                for column, (cell, columns) in enumerate(zip(row, widths, strict=True))
            )
        ).rstrip()
        for row in grid
    ]
