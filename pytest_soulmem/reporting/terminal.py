"""The terminal section."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting.failures import obstacles
from pytest_soulmem.reporting.table import Section, fitting, lines

if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.reporting.finish import Conclusion

_INDENT = "  "


def write_report(
    terminal: pytest.TerminalReporter,
    records: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    """Write one section per kind that has records (by kind name)."""
    for kind in KINDS:
        if records.get(kind.name):
            _write_section(terminal, kind.load_report().section(records[kind.name]))


def write_conclusion(terminal: pytest.TerminalReporter, conclusion: Conclusion) -> None:
    """Write the comparison, what was written where, and in red what falls short."""
    for section in conclusion.sections:
        _write_section(terminal, section)
    for line in conclusion.lines:
        terminal.line(line)
    for problem in conclusion.problems:
        terminal.line(f"soulmem: {problem}", red=True)


def write_obstacles(terminal: pytest.TerminalReporter) -> None:
    """Write in red what kept several cases from being judged."""
    stats = terminal.stats
    for line in obstacles(stats.get("failed", ()), stats.get("error", ())):
        terminal.line(f"soulmem: {line}", red=True)


def _write_section(terminal: pytest.TerminalReporter, section: Section) -> None:
    columns = shutil.get_terminal_size().columns
    terminal.section(f"soulmem {section.title}")
    for table in section.tables:
        if table.title:
            terminal.line(table.title, bold=True)
        for part in fitting(table, columns - len(_INDENT)):
            for position, line in enumerate(lines(part, _INDENT)):
                terminal.line(line, green=position - 1 in table.marked)
        for note in table.notes:
            terminal.line(_INDENT + note)
    for note in section.notes:
        terminal.line(note)
