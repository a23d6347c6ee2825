"""What every project that has the plugin installed imports: little, for it may hold no fixture.

The rest waits in :mod:`pytest_soulmem.session` until a fixture is met.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_soulmem import hooks, options, places

if TYPE_CHECKING:
    from pytest_soulmem.session import FixtureSession

_session = pytest.StashKey["FixtureSession"]()


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let users implement our hooks."""
    pluginmanager.add_hookspecs(hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ``--soulmem-…`` options."""
    options.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Begin at once where something is asked of us, so that a wrong wish ends the run.

    What xdist's workers find is reported where nothing is collected.
    """
    config.addinivalue_line("markers", "soulmem: every case of a SoulMem fixture")
    for kind, summary in places.SUMMARIES.items():
        config.addinivalue_line("markers", f"soulmem_{kind}: {summary}")
    if config.getoption("dist", "no") != "no" or options.anything_asked(config):
        _session_of(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the JSON files that are ours."""
    if not file_path.name.endswith(".json"):
        return None
    named = parent.session.isinitpath(file_path)
    if not named and not places.place_of(file_path):
        return None
    return _session_of(parent.config).collected(file_path, parent, named=named)


def _session_of(config: pytest.Config) -> FixtureSession:
    if _session not in config.stash:
        from pytest_soulmem.session import FixtureSession

        config.stash[_session] = FixtureSession(config)
        config.pluginmanager.register(config.stash[_session], "soulmem_session")
    return config.stash[_session]
