"""How pytest shows a failure: our text, our one-line reason, no traceback."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.text import visible, visible_lines

_KEY = "soulmem_failure"
_FEW = 2
_TOLD_ELSEWHERE = re.compile(r': see "(.+)" in (.+)')


class FailureText:
    """A failure as pytest prints it. ``brief`` leaves the text to JUnit, as ``--tb=line`` asks."""

    def __init__(self, failure: Failure, *, brief: bool = False) -> None:
        self.failure = failure
        self.brief = brief
        self.reprcrash = _Crash(failure.reason)

    def __str__(self) -> str:
        return self.failure.text

    # xdist tells what several workers fail to collect once, if it is equal.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, FailureText) and self.failure == other.failure

    def __hash__(self) -> int:
        return hash(self.failure)

    def toterminal(self, tw: Any) -> None:
        """Write the text; the first line, which says what was violated, in red."""
        if self.brief:
            return
        first, *rest = self.failure.text.split("\n")
        tw.line(first, red=True)
        for line in rest:
            tw.line(line)


class _Crash:
    """The part of pytest's crash location that reports read: the message."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __str__(self) -> str:
        return self.message


def failure_text(failure: Failure, config: Any) -> FailureText:
    """The failure as this run's ``--tb`` wants it."""
    return FailureText(failure, brief=config.getoption("tbstyle", "auto") == "line")


def reason_and_text(report: Any) -> list[str]:
    """The two parts of any failed report, ours or pytest's own."""
    if isinstance(report.longrepr, FailureText):
        failure = report.longrepr.failure
        return [failure.reason, failure.text]
    text = report.longreprtext
    crash = getattr(report.longrepr, "reprcrash", None)
    reason = crash.message if crash else text
    # Not ours: what a user's code said, or pytest.
    return [visible(reason.split("\n", 1)[0]), visible_lines(text)]


def pack(report: Any, data: dict[str, Any]) -> None:
    """Keep the reason of a report that goes to another process; pytest itself keeps the text."""
    if isinstance(report.longrepr, FailureText):
        data[_KEY] = reason_and_text(report)


def unpack(report: Any, config: Any) -> None:
    """Restore what :func:`pack` kept."""
    kept = getattr(report, _KEY, None)
    if kept:
        report.longrepr = failure_text(Failure(*kept), config)


def obstacles(failed: Iterable[Any], errors: Iterable[Any]) -> Iterator[str]:
    """What kept many of our cases from being judged: a line for each reason.

    Its first sentence, for the case that tells it in full may stand hundreds of errors above.

    Args:
        failed: reports of cases that failed when they were judged.
        errors: reports of cases that could not be judged.
    """
    reasons = {report.nodeid: _reason(report) for report in errors if _ours(report)}
    told = {report.nodeid: _reason(report) for report in failed if _ours(report)} | reasons
    pointers = Counter(reason for reason in reasons.values() if _TOLD_ELSEWHERE.search(reason))
    for pointer, others in pointers.items():
        if others < _FEW:
            continue
        case, file = _TOLD_ELSEWHERE.findall(pointer)[0]
        for teller, reason in told.items():
            if f"/{teller}".endswith(f"/{file}::{case}"):
                sentence = reason.partition(". ")[0].rstrip(".")
                yield f"{others + 1} case(s) could not run: {sentence}. In full: {teller}"


def _ours(report: Any) -> bool:
    return hasattr(report, "soulmem")


def _reason(report: Any) -> str:
    # What an item tells before it runs goes through pytest.fail, whose exception has this name.
    return reason_and_text(report)[0].removeprefix("Failed: ")
