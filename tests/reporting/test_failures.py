from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.failures import (
    FailureText,
    obstacles,
    pack,
    reason_and_text,
    unpack,
)

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


def report(nodeid: str, reason: str, **fields: Any) -> Any:
    crash = SimpleNamespace(message=f"Failed: {reason}")
    longrepr = SimpleNamespace(reprcrash=crash)
    return SimpleNamespace(nodeid=nodeid, longrepr=longrepr, longreprtext=reason, **fields)


def pointing(number: int, case: str, file: str) -> list[Any]:
    text = f'nothing to use: see "{case}" in {file}'
    return [report(f"b.json::{at}", text, soulmem="") for at in range(number)]


def test_what_keeps_many_cases_from_being_judged_is_told_once_for_each_reason() -> None:
    errors = [
        report("q/a.json::a", "no server at x.y. There are ways on.", soulmem=""),
        *pointing(2, "a", "a.json"),
        report("other.py::test", 'no: see "a" in a.json'),
    ]
    other = pointing(3, "c", "c.json")
    for at, one in enumerate(other):
        one.nodeid = f"c.json::more {at}"
    failed = [report("c.json::c", "KeyError: 7", soulmem="")]
    assert list(obstacles(failed, errors + other)) == [
        "3 case(s) could not run: no server at x.y. In full: q/a.json::a",
        "4 case(s) could not run: KeyError: 7. In full: c.json::c",
    ]


def test_few_cases_or_a_reason_that_is_not_told_need_no_line() -> None:
    teller = report("a.json::a", "no server", soulmem="")
    assert list(obstacles([], [teller, *pointing(1, "a", "a.json")])) == []
    assert list(obstacles([], [teller, *pointing(3, "else", "a.json")])) == []
    assert list(obstacles([], [])) == []
