"""Collects what the cases found, from this process or from xdist's workers."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Iterator, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_soulmem.reporting.results import Results
    from pytest_soulmem.settings import Settings

Record = dict[str, Any]
COMMON_FIELDS = frozenset(
    {
        "kind",
        "index",
        "nodeid",
        "outcome",
        "seconds",
        "failure",
        "figures",
        "variation",
        "fingerprint",
    }
)
"""The fields that the records of all kinds have; the rest is what the kind found."""


def attach(report: pytest.TestReport, record: Record, outcome: str) -> None:
    """Let what a case found travel with its report."""
    found = {**record, "outcome": outcome, "seconds": report.duration}
    # Text, because xdist carries plain values only.
    report.__dict__["soulmem"] = _encoded(found)


def attached(report: object) -> Record | None:
    """What a case found, if the report is of one of ours."""
    text = getattr(report, "soulmem", None)
    return _decoded(text) if isinstance(text, str) else None


def _encoded(record: Record) -> str:
    # Imported here: a run without fixtures must not feel the plugin.
    import msgspec

    try:
        return msgspec.json.encode(record).decode()
    except UnicodeEncodeError:
        from pytest_soulmem.reporting import unread

        # Half a character, which users' code may say and no UTF-8 can hold.
        return json.dumps(unread.read(record))


def _decoded(text: str) -> Record:
    import msgspec

    from pytest_soulmem.reporting import unread

    try:
        return unread.decode(text)
    except msgspec.DecodeError:
        record: Record = json.loads(text)
        return record


def _kind_of(report: Any) -> str | None:
    """The kind of the file that a report from a worker is about, if it is one of ours."""
    file = report.nodeid.split("::")[0]
    if not file.endswith(".json"):
        return None
    from pytest_soulmem.faults import FixtureError
    from pytest_soulmem.files import recognise

    try:
        found = recognise(report.node.config.rootpath / file, named=True)
    except FixtureError:
        return None
    return found.kind.name if found else None


def _held_by(nodes: Sequence[Any]) -> Iterator[str]:
    """The node ids of the cases among a file's nodes, and of those that its groups will make."""
    for node in nodes:
        yield from (f"{node.nodeid}::{case.name}" for case in getattr(node, "cases", ()))
        yield node.nodeid


class Gatherer:
    """A plugin object that keeps every record of the run."""

    def __init__(self) -> None:
        self._started = datetime.now(timezone.utc)
        self._found: dict[str, str] = {}
        """By node id the record of each case, as text: with thousands of records in parts the
        garbage collector would have ever more to go through."""
        self._records: list[Record] | None = None
        """All records in parts, once they are asked for: files and the terminal report both are."""
        self._errors: dict[str, str] = {}
        self._selected: Sequence[str] = ()
        """Under xdist, the node ids of all that workers run, in order."""
        self._held: dict[str, None] = {}

    @property
    def held(self) -> Collection[str]:
        """The node ids in all files that were collected, of cases that were not selected too."""
        return self._held.keys()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Keep what a file holds; innermost, before ``--lf`` drops what passed."""
        report = yield
        if collector.nodeid.endswith(".json"):
            self._held.update(dict.fromkeys(_held_by(report.result)))
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let what a case found travel with its report, to another process too."""
        report = yield
        record: Record | None = getattr(item, "soulmem_record", None)
        if record is None:
            return report
        if report.failed:
            from pytest_soulmem.reporting import failures

            record["failure"] = failures.reason_and_text(report)
        if report.when == "call":
            attach(report, record, report.outcome)
        elif report.when == "setup" and report.failed:
            attach(report, record, "error")
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the record of a report."""
        text = getattr(report, "soulmem", None) or self._crashed(report)
        if text is not None:
            # Of a case that was run again, the last attempt counts.
            self._found[report.nodeid] = text
            self._records = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Keep the order of what a worker is about to run; it is the same in all."""
        self._selected = ids

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let a worker tell what it held besides the cases that all workers share."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            selected = {item.nodeid for item in session.items}
            rest = [name for name in self._held if name not in selected]
            # As text, which xdist carries whatever the names hold.
            output["soulmem_unselected"] = json.dumps(rest)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Keep what a worker held; one that died does not say."""
        rest = getattr(node, "workeroutput", {}).get("soulmem_unselected")
        if rest is not None:
            self._held.update(dict.fromkeys((*self._selected, *json.loads(rest))))

    def _crashed(self, report: pytest.TestReport) -> str | None:
        """The record of a case whose worker died: how it ended, and what is known besides."""
        if getattr(report, "when", None) != "???" or report.nodeid not in self._selected:
            return None
        kind = _kind_of(report)
        if kind is None:
            return None
        from pytest_soulmem.reporting.text import visible

        # Not its longer text, which begins with the worker's Python.
        said = visible(str(report.longrepr))
        nothing = {
            "kind": kind,
            "index": self._selected.index(report.nodeid),
            "nodeid": report.nodeid,
            "seconds": 0.0,
            "figures": {},
            "variation": "",
            "fingerprint": "",
        }
        known = self._found.get(report.nodeid)
        record = _decoded(known) if known else nothing
        return _encoded({**record, "outcome": "failed", "failure": [said, said]})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what is wrong with a fixture file; under xdist every worker tells it."""
        if report.failed and report.nodeid.endswith(".json"):
            from pytest_soulmem.reporting.text import visible_lines

            self._errors[report.nodeid] = visible_lines(str(report.longrepr))

    def found_something(self) -> bool:
        """Whether the run had anything of ours."""
        return bool(self._found or self._errors)

    def ordered(self) -> list[Record]:
        """The records in the order of collection: workers report in any order."""
        if self._records is None:
            from pytest_soulmem.collector import collector_paused

            with collector_paused():
                records = map(_decoded, self._found.values())
                self._records = sorted(records, key=lambda record: record["index"])
        return self._records

    def by_kind(self) -> dict[str, list[Record]]:
        """The records per kind, in the order of collection."""
        kinds: dict[str, list[Record]] = {}
        for record in self.ordered():
            kinds.setdefault(record["kind"], []).append(record)
        return kinds

    def results(self, settings: Settings) -> Results:
        """Everything that was found, as one document."""
        from pytest_soulmem.reporting.results import build_results

        return build_results(self.ordered(), self._errors, self._started, settings)
