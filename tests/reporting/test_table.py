from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.reporting.table import Table, clip, fitting, lines, pad, width

TEXTS = st.text(st.sampled_from("ab 记忆é🦀e\u0301"), max_size=12)


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("ab", 2), ("记忆", 4), ("e\u0301", 1), ("🦀", 2), ("a\x1b", 0)]
)
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns


def test_pad() -> None:
    assert pad("记", 4, left=True) == "记  "
    assert pad("记", 4, left=False) == "  记"
    assert pad("long", 2, left=True) == "long"


@pytest.mark.parametrize(
    ("text", "columns", "clipped"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("记忆", 4, "记忆"),
        ("记忆", 3, "记…"),
        ("记忆", 2, "…"),
    ],
)
def test_clip(text: str, columns: int, clipped: str) -> None:
    assert clip(text, columns) == clipped


@given(TEXTS, st.integers(1, 12))
def test_clipped_text_fits(text: str, columns: int) -> None:
    assert width(clip(text, columns)) <= columns


@given(TEXTS, st.integers(1, 12))
def test_as_much_is_kept_as_fits(text: str, columns: int) -> None:
    prefixes = [text[:end] for end in range(len(text) + 1)]
    longest = max((one for one in prefixes if width(one) <= columns - 1), key=len)
    assert clip(text, columns) == (text if width(text) <= columns else f"{longest}…")


def test_a_book_is_clipped_at_once() -> None:
    assert clip("记忆" * 1_000_000, 40) == "记忆" * 9 + "记…"


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5))
def test_columns_line_up(rows: list[tuple[str, str, str]]) -> None:
    table = Table(["记忆 name", "n", "rest|"], [[a, b, f"{c}|"] for a, b, c in rows], left=(0,))
    written = lines(table, "  ")
    assert len(written) == len(rows) + 1
    assert len({width(line) for line in written}) == 1, "all lines end in the last column's bar"


def test_lines() -> None:
    table = Table(["id", "score"], [["记忆", "0.5"], ["a", "10.25"]])
    assert lines(table, "> ") == ["> id    score", "> 记忆    0.5", "> a     10.25"]
    left = Table(["id", "note"], [["a", "x"]], left=(0, 1))
    assert lines(left) == ["id  note", "a   x"]


WIDE = Table(["w", "aaaa", "bbbb", "cccc"], [["行行", "1", "2", "3"]], left=(0, 3))


@pytest.mark.parametrize(
    ("columns", "parts"), [(80, 1), (22, 1), (21, 2), (16, 2), (15, 3), (1, 3)]
)
def test_a_wide_table_falls_into_parts(columns: int, parts: int) -> None:
    found = fitting(WIDE, columns)
    assert len(found) == parts
    assert [part.header[0] for part in found] == ["w"] * parts
    assert [name for part in found for name in part.header[1:]] == ["aaaa", "bbbb", "cccc"]
    assert [cell for part in found for cell in part.rows[0][1:]] == ["1", "2", "3"]
    assert [
        name for part in found for at, name in enumerate(part.header) if at in part.left and at
    ] == ["cccc"]
    if columns >= 10:
        assert all(width(line) <= columns for part in found for line in lines(part))
