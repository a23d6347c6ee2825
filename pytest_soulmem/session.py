"""pytest's hooks from the first fixture on: prepare the cases, gather what they find, conclude."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_soulmem.reporting.gather import Gatherer
from pytest_soulmem.settings import Settings, read_settings

if TYPE_CHECKING:
    from pytest_soulmem.items import CaseItem
    from pytest_soulmem.kinds import Kind, Run
    from pytest_soulmem.reporting.finish import Conclusion

_ENDED = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
"""How a run ends that was not broken off."""


class FixtureSession:
    """A plugin object for one run of pytest; under xdist, for one process of it.

    Raises:
        pytest.UsageError: an option or an ini value that is wrong.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = read_settings(config)
        self._runs: dict[str, Run] = {}
        self._gatherer = Gatherer()
        self._conclusion: Conclusion | None = None
        config.pluginmanager.register(self._gatherer, "soulmem_gatherer")
        if self._settings.rows and config.pluginmanager.hasplugin("html"):
            from pytest_soulmem.reporting.rows import Rows

            config.pluginmanager.register(Rows(self._gatherer, self._settings), "soulmem_rows")

    def collected(
        self, path: Path, parent: pytest.Collector, *, named: bool
    ) -> pytest.Collector | None:
        """The node of a file, if it is ours; ``named`` says that it stands on the command line."""
        from pytest_soulmem.faults import FixtureError
        from pytest_soulmem.files import recognise
        from pytest_soulmem.items import FixtureFile, UnusableFile

        try:
            found = recognise(path, named=named)
        except FixtureError as error:
            return UnusableFile.from_parent(parent, path=path, error=error)
        if found is None:
            return None
        return FixtureFile.from_parent(
            parent,
            path=path,
            kind=found.kind,
            run=self._run_of(found.kind),
            document=found.document,
        )

    def _run_of(self, kind: Kind) -> Run:
        if kind.name not in self._runs:
            from pytest_soulmem.reporting.progress import progress_of

            self._runs[kind.name] = kind.load().open_run(
                self._config, self._settings, progress_of(self._config)
            )
        return self._runs[kind.name]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Prepare all selected cases of a kind together, before the first one runs."""
        if self._config.option.collectonly or not self._runs:
            return (yield)
        from pytest_soulmem.collector import made_so_far_spared

        ours = self._prepare(session)
        if len(ours) < len(session.items):
            # Tests of others may count on the collector.
            return (yield)
        with made_so_far_spared():
            return (yield)

    def _prepare(self, session: pytest.Session) -> list[CaseItem]:
        from pytest_soulmem.items import CaseItem

        ours = []
        for index, item in enumerate(session.items):
            if isinstance(item, CaseItem):
                item.index = index
                ours.append(item)
        for name, run in self._runs.items():
            run.prepare([item.case for item in ours if item.kind.name == name])
        return ours

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self, report: Any) -> Generator[None, Any, Any]:
        """Let the one-line reason of a failure travel to another process."""
        from pytest_soulmem.reporting import failures

        data = yield
        if data is not None:
            failures.pack(report, data)
        return data

    @pytest.hookimpl(wrapper=True)
    def pytest_report_from_serializable(self) -> Generator[None, Any, Any]:
        """Give a failure from another process its one-line reason back."""
        from pytest_soulmem.reporting import failures

        report = yield
        failures.unpack(report, self._config)
        return report

    # After xdist's, which waits for what its workers still have to say.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write result files, check gates and compare with a baseline."""
        asked = self._settings
        if not self._gatherer.found_something():
            # Where pytest itself broke off, or only collected, that says enough.
            ended = session.exitstatus in _ENDED and not self._config.option.collectonly
            asked = asked.without_fixtures() if ended else Settings()
        # A worker's cases are concluded by the controller.
        if self._is_worker or not asked.concludes:
            return
        from pytest_soulmem.collector import collector_paused
        from pytest_soulmem.reporting.finish import conclude

        with collector_paused():
            self._conclusion = conclude(
                self._gatherer.results(asked),
                asked,
                self._config.rootpath,
                self._config.invocation_params.dir,
                self._gatherer.held,
                broken_off=session.exitstatus not in _ENDED
                or bool(session.shouldstop or session.shouldfail),
            )
        if session.exitstatus == pytest.ExitCode.OK and self._conclusion.exit_status:
            session.exitstatus = self._conclusion.exit_status

    @property
    def _is_worker(self) -> bool:
        return hasattr(self._config, "workerinput")

    # Below what other plugins say, whenever the first fixture was met.
    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the report; a worker of xdist has no terminal."""
        if self._is_worker:
            return
        if self._gatherer.found_something():
            from pytest_soulmem.collector import collector_paused
            from pytest_soulmem.reporting.terminal import write_report

            with collector_paused():
                write_report(terminalreporter, self._gatherer.by_kind())
        if self._conclusion:
            from pytest_soulmem.reporting.terminal import write_conclusion

            write_conclusion(terminalreporter, self._conclusion)

    @pytest.hookimpl(wrapper=True, tryfirst=True, specname="pytest_terminal_summary")
    def pytest_soulmem_last_lines(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, object, object]:
        """Below pytest's list of errors, tell what most of them have in common."""
        result = yield
        if terminalreporter.stats.get("error") and self._gatherer.found_something():
            from pytest_soulmem.reporting.terminal import write_obstacles

            write_obstacles(terminalreporter)
        return result
