"""The cores of the machine, where several processes of pytest-xdist share them."""

from __future__ import annotations

import os
from collections.abc import Callable

from threadpoolctl import ThreadpoolController


def take_a_share() -> Callable[[], None]:
    """Let matrix products of an xdist worker use its share of the cores; returns what undoes it.

    Otherwise every worker has a thread on every core, and those that wait for each other keep the
    cores busy: two workers took a quarter longer.
    """
    told = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    workers = int(told) if told.isdecimal() else 1
    libraries = ThreadpoolController().select(user_api="blas")
    threads = max((library.num_threads for library in libraries.lib_controllers), default=1)
    share = max(1, _cores() // max(1, workers))
    if workers <= 1 or threads <= share:
        return lambda: None
    restore: Callable[[], None] = libraries.limit(limits=share).restore_original_limits
    return restore


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
