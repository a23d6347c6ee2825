"""pytest's hooks, and nothing else.

Every project that has the plugin installed imports this module: heavy imports wait in the
functions that need them.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_soulmem import hooks, settings
from pytest_soulmem.places import KINDS, kind_of_place
from pytest_soulmem.reporting import gather

if TYPE_CHECKING:
    from pytest_soulmem.items import CaseItem
    from pytest_soulmem.kinds import Kind, Run

_settings = pytest.StashKey[settings.Settings]()
_runs = pytest.StashKey[dict[str, "Run"]]()
_conclusion = pytest.StashKey[Any]()
_gatherer = pytest.StashKey[gather.Gatherer]()
_ENDED = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
"""How a run ends that was not broken off."""


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
    config.stash[_gatherer] = gatherer = gather.Gatherer()
    if config.getoption("dist", "no") != "no":
        # What xdist's workers find is reported here, where nothing is collected.
        _listen(config)
    if config.stash[_settings].rows and config.pluginmanager.hasplugin("html"):
        from pytest_soulmem.reporting.rows import Rows

        config.pluginmanager.register(Rows(gatherer, config.stash[_settings]), "soulmem_rows")
    config.addinivalue_line("markers", "soulmem: every case of a SoulMem fixture")
    for kind in KINDS:
        config.addinivalue_line("markers", f"soulmem_{kind.name}: {kind.summary}")


def _listen(config: pytest.Config) -> None:
    """Hear of every test from now on: not before there is a fixture, for others pay for it."""
    gatherer = config.stash[_gatherer]
    if not config.pluginmanager.is_registered(gatherer):
        config.pluginmanager.register(gatherer, "soulmem_gatherer")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the JSON files that are ours."""
    if not file_path.name.endswith(".json"):
        return None
    named = parent.session.isinitpath(file_path)
    if not named and not kind_of_place(file_path):
        return None
    _listen(parent.config)
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
        from pytest_soulmem.reporting.progress import progress_of

        runs[kind.name] = kind.load().open_run(config, config.stash[_settings], progress_of(config))
    return runs[kind.name]


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Prepare all selected cases of a kind together, before the first one runs."""
    if session.config.option.collectonly or not session.config.stash[_runs]:
        return (yield)
    from pytest_soulmem.collector import made_so_far_spared

    ours = _prepare(session)
    if len(ours) < len(session.items):
        # Tests of others may count on the collector.
        return (yield)
    with made_so_far_spared():
        return (yield)


def _prepare(session: pytest.Session) -> list[CaseItem]:
    runs = session.config.stash[_runs]
    from pytest_soulmem.items import CaseItem

    ours = []
    for index, item in enumerate(session.items):
        if isinstance(item, CaseItem):
            item.index = index
            ours.append(item)
    for name, run in runs.items():
        run.prepare([item.case for item in ours if item.kind.name == name])
    return ours


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(report: Any) -> Generator[None, Any, Any]:
    """Let the one-line reason of a failure travel to another process."""
    from pytest_soulmem.reporting import failures

    data = yield
    if data is not None:
        failures.pack(report, data)
    return data


@pytest.hookimpl(wrapper=True)
def pytest_report_from_serializable(config: pytest.Config) -> Generator[None, Any, Any]:
    """Give a failure from another process its one-line reason back."""
    from pytest_soulmem.reporting import failures

    report = yield
    failures.unpack(report, config)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write result files, check gates and compare with a baseline."""
    config = session.config
    gatherer = config.stash[_gatherer]
    asked = config.stash[_settings]
    if not gatherer.found_something():
        # Where pytest itself broke off, or only collected, that says enough.
        ended = session.exitstatus in _ENDED and not config.option.collectonly
        asked = asked.without_fixtures() if ended else settings.Settings()
    # A worker's cases are concluded by the controller.
    if hasattr(config, "workerinput") or not asked.concludes:
        return
    from pytest_soulmem.collector import collector_paused
    from pytest_soulmem.reporting.finish import conclude

    with collector_paused():
        conclusion = conclude(
            gatherer.results(asked),
            asked,
            config.rootpath,
            config.invocation_params.dir,
            gatherer.held,
            broken_off=session.exitstatus not in _ENDED
            or bool(session.shouldstop or session.shouldfail),
        )
    config.stash[_conclusion] = conclusion
    if session.exitstatus == pytest.ExitCode.OK and conclusion.exit_status:
        session.exitstatus = conclusion.exit_status


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write the report; a worker of xdist has no terminal."""
    if hasattr(config, "workerinput"):
        return
    gatherer = config.stash[_gatherer]
    if gatherer.found_something():
        from pytest_soulmem.collector import collector_paused
        from pytest_soulmem.reporting.terminal import write_report

        with collector_paused():
            write_report(terminalreporter, gatherer.by_kind())
    conclusion = config.stash.get(_conclusion, None)
    if conclusion:
        from pytest_soulmem.reporting.terminal import write_conclusion

        write_conclusion(terminalreporter, conclusion)


@pytest.hookimpl(wrapper=True, tryfirst=True, specname="pytest_terminal_summary")
def pytest_soulmem_last_lines(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Generator[None, object, object]:
    """Below pytest's list of errors, tell what most of them have in common."""
    result = yield
    if terminalreporter.stats.get("error") and config.stash[_gatherer].found_something():
        from pytest_soulmem.reporting.terminal import write_obstacles

        write_obstacles(terminalreporter)
    return result
