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
    return _only_what_stays(terminal)


def _bar(terminal: pytest.TerminalReporter) -> Progress:
    def show(what: str, done: int, total: int) -> None:
        if not total:
            _tell(terminal, what)
            return
        bar = "#" * (_WIDTH * done // total)
        terminal.rewrite(f"soulmem: {what} [{bar:{_WIDTH}}] {done}/{total}", erase=True)
        if done >= total:
            terminal.rewrite("", erase=True)

    return show


def _lines() -> Progress:
    last = time.monotonic()

    def show(what: str, done: int, total: int) -> None:
        nonlocal last
        if not total:
            _tell(None, what)
        elif time.monotonic() - last > _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            sys.stderr.write(f"soulmem: {what} {done}/{total}\n")

    return show


def _only_what_stays(terminal: pytest.TerminalReporter | None) -> Progress:
    """Show no progress: the output is no terminal."""

    def show(what: str, _done: int, total: int) -> None:
        if not total:
            _tell(terminal, what)

    return show


def _tell(terminal: pytest.TerminalReporter | None, what: str) -> None:
    if terminal is None:
        sys.stderr.write(f"soulmem: {what}\n")
        return
    terminal.ensure_newline()
    terminal.write_line(f"soulmem: {what}")
