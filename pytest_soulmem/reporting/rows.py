"""Rows and details of our cases in the page of pytest-html, where that plugin writes one.

Figures stand behind the test's name: a column of their own would be empty in every project that
has this plugin installed and no fixture of ours, since pytest-html asks for columns before
anything is collected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_soulmem.reporting.gather import Gatherer, attached

if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.settings import Settings

_NAME = 1
"""The position of the cell with the test's name."""


class Rows:
    """A plugin object with the hooks of pytest-html."""

    def __init__(self, gatherer: Gatherer, settings: Settings) -> None:
        self._gatherer = gatherer
        self._settings = settings

    def pytest_html_results_table_row(self, report: pytest.TestReport, cells: list[str]) -> None:
        """The name, escaped, which pytest-html leaves undone, and the key figures."""
        record = attached(report)
        if record and len(cells) > _NAME:
            from pytest_soulmem.reporting.html.render import name_cell

            cells[_NAME] = name_cell(record)

    def pytest_html_results_table_html(self, report: pytest.TestReport, data: list[str]) -> None:
        """The drill-down of a case, above what pytest-html says."""
        record = attached(report)
        if record:
            from pytest_soulmem.reporting.html.render import row_details

            # What pytest-html shows instead of nothing.
            if report.passed and not report.sections:
                data.clear()
            data.insert(0, row_details(record))

    def pytest_html_results_summary(self, prefix: list[str], **_: Any) -> None:
        """The means per file and weight set."""
        if self._gatherer.found_something():
            from pytest_soulmem.reporting.html.render import means_tables

            prefix += means_tables(self._gatherer.results(self._settings).means)
