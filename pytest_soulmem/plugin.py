"""pytest's hooks, and nothing else.

Every project that has the plugin installed imports this module: heavy imports wait in the
functions that need them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_soulmem import hooks, settings

if TYPE_CHECKING:
    from pytest_soulmem.kinds import Kind, Run

_settings = pytest.StashKey[settings.Settings]()
_runs = pytest.StashKey[dict[str, "Run"]]()
_gatherer = pytest.StashKey["_Gatherer"]()

_MARKERS = (
    "soulmem: every case of a SoulMem fixture",
    "soulmem_retrieval: a retrieval case",
    "soulmem_forgetting: a forgetting case or law",
)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let users implement our hooks."""
    pluginmanager.add_hookspecs(hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ``--soulmem-…`` options."""
    settings.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, so that a wrong one ends the run at once."""
    config.stash[_settings] = settings.read_settings(config)
    config.stash[_runs] = {}
    config.stash[_gatherer] = gatherer = _Gatherer()
    config.pluginmanager.register(gatherer, "soulmem_gatherer")
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the JSON files that are ours."""
    if not file_path.name.endswith(".json"):
        return None
    from pytest_soulmem.kinds import kind_of_place

    named = parent.session.isinitpath(file_path)
    if not named and not kind_of_place(file_path):
        return None
    from pytest_soulmem.faults import FixtureError
    from pytest_soulmem.files import recognise
    from pytest_soulmem.items import FixtureFile, UnusableFile

    try:
        found = recognise(file_path, named=named)
    except FixtureError as error:
        return UnusableFile.from_parent(parent, path=file_path, error=error)
    if found is None:
        return None
    return FixtureFile.from_parent(
        parent,
        path=file_path,
        kind=found.kind,
        run=_run_of(parent.config, found.kind),
        document=found.document,
    )


def _run_of(config: pytest.Config, kind: Kind) -> Run:
    runs = config.stash[_runs]
    if kind.name not in runs:
        progress = _progress(config)
        runs[kind.name] = kind.load().open_run(config, config.stash[_settings], progress)
    return runs[kind.name]


def _progress(config: pytest.Config) -> Any:
    """A progress bar on a terminal, whole lines from an xdist worker, else nothing."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput"):

        def show(what: str, done: int, total: int) -> None:
            if 0 < done < total:
                sys.stderr.write(f"soulmem: {what} {done}/{total}\n")

    elif terminal and terminal.isatty:

        def show(what: str, done: int, total: int) -> None:
            bar = "#" * round(24 * done / total)
            terminal.rewrite(f"soulmem: {what} [{bar:24}] {done}/{total}", erase=True)
            if done == total:
                terminal.rewrite("", erase=True)

    else:

        def show(what: str, done: int, total: int) -> None:
            return None

    return show


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Prepare all selected cases of a kind together, before the first one runs."""
    if not session.config.option.collectonly:
        _prepare(session)
    return (yield)


def _prepare(session: pytest.Session) -> None:
    runs = session.config.stash[_runs]
    if not runs:
        return
    from pytest_soulmem.items import CaseItem

    ours = [item for item in session.items if isinstance(item, CaseItem)]
    for index, item in enumerate(ours):
        item.index = index
    for name, run in runs.items():
        run.prepare([item.case for item in ours if item.kind.name == name])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let what a case found travel with its report, to another process too."""
    report = yield
    verdict = getattr(item, "verdict", None)
    if report.when == "call" and verdict is not None and hasattr(item, "kind"):
        record = {
            "kind": item.kind.name,
            "index": item.index,
            "nodeid": item.nodeid,
            "outcome": report.outcome,
            **verdict.record,
        }
        if verdict.failure:
            record["failure"] = [verdict.failure.reason, verdict.failure.text]
        # Text, because xdist carries plain values only.
        report.soulmem = json.dumps(record)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_report_from_serializable(data: dict[str, Any]) -> Generator[None, Any, Any]:
    """Give a failure from another process its one-line reason back."""
    report = yield
    record = _record(report)
    if record and "failure" in record:
        from pytest_soulmem.items import FailureText
        from pytest_soulmem.kinds import Failure

        report.longrepr = FailureText(Failure(*record["failure"]))
    return report


def _record(report: object) -> dict[str, Any] | None:
    text = getattr(report, "soulmem", None)
    return json.loads(text) if isinstance(text, str) else None


class _Gatherer:
    """Collects what the cases found, from this process or from xdist's workers."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = _record(report)
        if record is not None:
            self.records.append(record)

    def by_kind(self) -> dict[str, list[dict[str, Any]]]:
        """The records per kind, in the order of collection: workers report in any order."""
        kinds: dict[str, list[dict[str, Any]]] = {}
        for record in sorted(self.records, key=lambda record: record["index"]):
            kinds.setdefault(record["kind"], []).append(record)
        return kinds


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write the report."""
    records = config.stash[_gatherer].by_kind()
    if records:
        from pytest_soulmem.reporting.terminal import write_report

        write_report(terminalreporter, records, config.stash[_settings])
