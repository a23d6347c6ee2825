from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.failures import FailureText, pack, reason_and_text, unpack

FAILURE = Failure("why", "why, at length\nmore\n\n  a\x0btable")


class Writer:
    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, bool]]] = []

    def line(self, text: str, **markup: bool) -> None:
        self.lines.append((text, markup))


def config_with(tbstyle: str) -> Any:
    return SimpleNamespace(getoption=lambda name, default: {"tbstyle": tbstyle}[name])


def test_the_first_line_is_red() -> None:
    writer = Writer()
    FailureText(FAILURE).toterminal(writer)
    assert writer.lines == [
        ("why, at length", {"red": True}),
        ("more", {}),
        ("", {}),
        ("  a\x0btable", {}),
    ]


def test_brief_writes_nothing_but_keeps_the_text() -> None:
    writer = Writer()
    brief = FailureText(FAILURE, brief=True)
    brief.toterminal(writer)
    assert writer.lines == []
    assert str(brief) == FAILURE.text
    assert str(brief.reprcrash) == brief.reprcrash.message == "why"


@pytest.mark.parametrize(("tbstyle", "brief"), [("auto", False), ("short", False), ("line", True)])
def test_a_failure_crosses_processes(tbstyle: str, brief: bool) -> None:
    data: dict[str, Any] = {}
    pack(SimpleNamespace(longrepr=FailureText(FAILURE)), data)
    arrived = SimpleNamespace(longrepr=FAILURE.text, **data)
    unpack(arrived, config_with(tbstyle))
    assert arrived.longrepr == FailureText(FAILURE)
    assert arrived.longrepr.brief is brief


def test_other_reports_stay_as_they_are() -> None:
    data: dict[str, Any] = {}
    for longrepr in (None, "text", ("file", 1, "reason")):
        pack(SimpleNamespace(longrepr=longrepr), data)
        arrived = SimpleNamespace(longrepr=longrepr)
        unpack(arrived, config_with("auto"))
        assert arrived.longrepr is longrepr
    assert data == {}


def test_equal_failures_are_equal() -> None:
    assert len({FailureText(FAILURE), FailureText(FAILURE)}) == 1
    assert FailureText(FAILURE) != FailureText(Failure("why", "other"))
    assert FailureText(FAILURE) != FAILURE.text


def test_reason_and_text() -> None:
    ours = SimpleNamespace(longrepr=FailureText(FAILURE), longreprtext=FAILURE.text)
    assert reason_and_text(ours) == ["why", FAILURE.text]
    plain = SimpleNamespace(longrepr="a\nb", longreprtext="a\nb")
    assert reason_and_text(plain) == ["a", "a\nb"]
    crash = SimpleNamespace(reprcrash=SimpleNamespace(message="E: x\ny"))
    assert reason_and_text(SimpleNamespace(longrepr=crash, longreprtext="t")) == ["E: x", "t"]
