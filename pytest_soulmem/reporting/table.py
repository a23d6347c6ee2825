"""Plain-text tables that line up with Chinese in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wcwidth import wcswidth

_CHARACTERS_PER_COLUMN = 8


@dataclass(frozen=True)
class Table:
    """A table: the first column and ``left`` columns are aligned left, the others right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    left: tuple[int, ...] = (0,)
    marked: frozenset[int] = frozenset()
    """Rows to highlight."""
    notes: Sequence[str] = ()
    """Lines below the table."""


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
    # Not all of a long text is measured: no emoji takes more characters for each column.
    end = min(len(text), _CHARACTERS_PER_COLUMN * columns)
    if end == len(text) and width(text) <= columns:
        return text
    end = bisect_right(range(end + 1), columns - 1, key=lambda at: width(text[:at])) - 1
    return text[: max(0, end)] + "…"


def fitting(table: Table, columns: int) -> list[Table]:
    """The table, or several with the same first column, none wider than that many columns."""
    widths = [
        max(width(row[at]) for row in [table.header, *table.rows])
        for at in range(len(table.header))
    ]
    groups: list[list[int]] = [[0]]
    used = widths[0]
    for at in range(1, len(widths)):
        if used + 2 + widths[at] > columns and len(groups[-1]) > 1:
            groups.append([0])
            used = widths[0]
        groups[-1].append(at)
        used += 2 + widths[at]
    return [_columns(table, group) for group in groups]


def _columns(table: Table, kept: Sequence[int]) -> Table:
    return replace(
        table,
        header=[table.header[at] for at in kept],
        rows=[[row[at] for at in kept] for row in table.rows],
        left=tuple(new for new, at in enumerate(kept) if at in table.left),
    )


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
