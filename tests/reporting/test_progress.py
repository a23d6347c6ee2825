from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_soulmem.reporting import progress


class Terminal:
    def __init__(self, isatty: bool) -> None:
        self.isatty = isatty
        self.written: list[str] = []

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


def test_nothing_to_do_divides_nothing() -> None:
    terminal = Terminal(isatty=True)
    progress.progress_of(config_with(terminal))("x", 0, 0)
    assert terminal.written[-1] == ""


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
