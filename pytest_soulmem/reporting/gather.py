"""Collects what the cases found, from this process or from xdist's workers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

Record = dict[str, Any]


def attach(report: pytest.TestReport, record: Record) -> None:
    """Let what a case found travel with its report."""
    # Text, because xdist carries plain values only.
    report.__dict__["soulmem"] = json.dumps({**record, "outcome": report.outcome})


def attached(report: object) -> Record | None:
    """What a case found, if the report is of one of ours."""
    text = getattr(report, "soulmem", None)
    return json.loads(text) if isinstance(text, str) else None


class Gatherer:
    """A plugin object that keeps every record of the run."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the record of a report."""
        record = attached(report)
        if record is not None:
            self.records.append(record)

    def by_kind(self) -> dict[str, list[Record]]:
        """The records per kind, in the order of collection: workers report in any order."""
        kinds: dict[str, list[Record]] = {}
        for record in sorted(self.records, key=lambda record: record["index"]):
            kinds.setdefault(record["kind"], []).append(record)
        return kinds
