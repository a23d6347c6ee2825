"""A pytest plugin for ``reporting.py``: how much of a run's processor time goes into reports.

What counts is ours alone: the gathering of details while cases run, and our part of the end of the
session, with all that it imports: files, gates, the report in the terminal. What other plugins do
at the end, such as hypothesis's report, counts as part of the run. Both are of one process and one
moment, so what else the machine does changes the times, but hardly their ratio.

``-p clock`` loads this before our plugin registers, so that pytest gets the counted hooks.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_soulmem.reporting import gather
from pytest_soulmem.retrieval import kind
from pytest_soulmem.session import FixtureSession

_PARTS = (
    (kind, "_explanation"),
    (kind, "comparisons"),
    (kind, "sub_query_results"),
    (gather, "attach"),
    (gather, "attached"),
    (FixtureSession, "pytest_sessionfinish"),
    (FixtureSession, "pytest_terminal_summary"),
)
"""None of them calls another."""

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


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Say it, as the last line."""
    print(f"\nreporting {spent[0]:.4f} of {time.process_time():.4f}")
