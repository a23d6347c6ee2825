from __future__ import annotations

from typing import Any

import pytest

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting import terminal
from pytest_soulmem.reporting.table import Section, Table


class Terminal:
    def __init__(self) -> None:
        self.written: list[tuple[str, dict[str, bool]]] = []

    def section(self, title: str) -> None:
        self.written.append((f"== {title}", {}))

    def line(self, text: str, **markup: bool) -> None:
        self.written.append((text, markup))


@pytest.fixture
def written(monkeypatch) -> Any:
    """What is written for a section of every kind."""

    def write(section: Section, records: dict[str, list[Any]]) -> list[tuple[str, dict[str, bool]]]:
        for kind in KINDS:
            monkeypatch.setattr(kind.load_report(), "section", lambda records: section)
        out: Any = Terminal()
        terminal.write_report(out, records)
        return out.written  # type: ignore[no-any-return]

    return write


def test_a_section(written, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    table = Table(["w", "n"], [["a", "1"], ["b", "2"]], title="file", marked=frozenset({1}))
    assert written(Section("title", [table], ["a note"]), {"retrieval": [{}]}) == [
        ("== soulmem title", {}),
        ("file", {"bold": True}),
        ("  w  n", {"green": False}),
        ("  a  1", {"green": False}),
        ("  b  2", {"green": True}),
        ("a note", {}),
    ]


def test_a_row_is_marked_in_every_part_of_a_wide_table(written, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    table = Table(["w", "nnnnnn", "mmmmmm"], [["a", "1", "2"]], marked=frozenset({0}))
    lines = written(Section("title", [table]), {"retrieval": [{}]})
    assert [markup["green"] for _, markup in lines[1:]] == [False, True, False, True]


def test_kinds_without_records_have_no_section(written) -> None:
    assert written(Section("title"), {"retrieval": [], "unknown": [{}]}) == []


def test_kinds_come_in_one_order(written) -> None:
    records = {kind.name: [{}] for kind in reversed(KINDS)}
    assert len(written(Section("title"), records)) == len(KINDS)
