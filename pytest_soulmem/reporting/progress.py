"""A progress bar on a terminal; whole lines from an xdist worker, which has none."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.kinds import Progress

_WIDTH = 24
_SECONDS_BETWEEN_LINES = 5.0


def progress_of(config: pytest.Config) -> Progress:
    """The way to show progress that suits this process."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workerinput"):
        return _lines()
    if terminal and terminal.isatty:
        return _bar(terminal)
    return _nothing


def _bar(terminal: pytest.TerminalReporter) -> Progress:
    def show(what: str, done: int, total: int) -> None:
        bar = "#" * (_WIDTH * done // max(total, 1))
        terminal.rewrite(f"soulmem: {what} [{bar:{_WIDTH}}] {done}/{total}", erase=True)
        if done >= total:
            terminal.rewrite("", erase=True)

    return show


def _lines() -> Progress:
    last = time.monotonic()

    def show(what: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            sys.stderr.write(f"soulmem: {what} {done}/{total}\n")

    return show


def _nothing(_what: str, _done: int, _total: int) -> None:
    """Show nothing: the output is no terminal."""
