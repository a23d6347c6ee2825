from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_soulmem.reporting import progress


class Terminal:
    def __init__(self, isatty: bool) -> None:
        self.isatty = isatty
        self.written: list[str] = []
        self.lines: list[str] = []

    def ensure_newline(self) -> None:
        """What pytest does before a line of its own."""

    def write_line(self, line: str) -> None:
        self.lines.append(line)

    def rewrite(self, text: str, erase: bool) -> None:
        assert erase, "a shorter line must not leave the end of a longer one"
        self.written.append(text)


def config_with(terminal: Terminal | None, **fields: Any) -> Any:
    plugins = SimpleNamespace(get_plugin=lambda name: {"terminalreporter": terminal}[name])
    return SimpleNamespace(pluginmanager=plugins, **fields)


def test_a_bar_on_a_terminal() -> None:
    terminal = Terminal(isatty=True)
    show = progress.progress_of(config_with(terminal))
    show("embedding texts", 64, 128)
    show("embedding texts", 128, 128)
    half = "#" * 12 + " " * 12
    assert terminal.written[0] == f"soulmem: embedding texts [{half}] 64/128"
    assert terminal.written[-1] == "", "the bar goes away when all is done"


@pytest.mark.parametrize("isatty", [True, False])
def test_what_has_nothing_to_count_is_a_line_that_stays(isatty: bool) -> None:
    terminal = Terminal(isatty)
    progress.progress_of(config_with(terminal))("waiting", 0, 0)
    assert terminal.lines == ["soulmem: waiting"]
    assert terminal.written == []


@pytest.mark.parametrize("fields", [{}, {"workerinput": {}}])
def test_such_a_line_is_told_without_a_terminal_and_by_workers_at_once(fields, capsys) -> None:
    progress.progress_of(config_with(None, **fields))("waiting", 0, 0)
    assert capsys.readouterr().err == "soulmem: waiting\n"


@pytest.mark.parametrize("terminal", [Terminal(isatty=False), None])
def test_nothing_where_there_is_no_terminal(terminal: Terminal | None, capsys) -> None:
    progress.progress_of(config_with(terminal))("x", 1, 2)
    assert terminal is None or terminal.written == []
    assert capsys.readouterr() == ("", "")


def test_whole_lines_now_and_then_from_a_worker(capsys, monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    terminal = Terminal(isatty=True)
    show = progress.progress_of(config_with(terminal, workerinput={}))
    for seconds in (1, 4, 5.5, 6, 11):
        now[0] = 100 + seconds
        show("x", int(seconds), 20)
    assert terminal.written == []
    assert capsys.readouterr().err == "soulmem: x 5/20\nsoulmem: x 11/20\n"
