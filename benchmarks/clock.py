"""A pytest plugin for ``reporting.py``: how much of a run's processor time goes into reports.

What counts is the gathering of details while cases run, and all that happens at the end of the
session: files, gates, the report in the terminal. Both are of one process and one moment, so what
else the machine does changes the times, but hardly their ratio.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Generator
from typing import Any

import pytest

from pytest_soulmem.reporting import gather
from pytest_soulmem.retrieval import kind

_PARTS = (
    (kind, "_explanation"),
    (kind, "comparisons"),
    (kind, "sub_query_results"),
    (gather, "attach"),
    (gather, "attached"),
)

spent = [0.0]


def _timed(work: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(work)
    def counted(*arguments: Any) -> Any:
        begin = time.process_time()
        try:
            return work(*arguments)
        finally:
            spent[0] += time.process_time() - begin

    return counted


for _module, _name in _PARTS:
    setattr(_module, _name, _timed(getattr(_module, _name)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish() -> Generator[None, Any, Any]:
    """Count the files and gates, and with them the terminal report."""
    begin = time.process_time()
    result = yield
    spent[0] += time.process_time() - begin
    return result


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Say it, as the last line."""
    print(f"\nreporting {spent[0]:.4f} of {time.process_time():.4f}")
