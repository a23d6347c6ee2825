from __future__ import annotations

import threading
import time

import pytest

from pytest_soulmem.embedders.together import together


def test_results_come_in_the_order_of_the_parts() -> None:
    def slower_first(part: int, stop: threading.Event) -> int:
        time.sleep(0.02 * (5 - part))
        return part * part

    assert together(slower_first, range(5), 3, 5) == [0, 1, 4, 9, 16]
    assert together(slower_first, [], 3, 5) == []


def test_no_more_at_once_than_asked() -> None:
    counting, running, most = threading.Lock(), 0, 0

    def work(part: int, stop: threading.Event) -> None:
        nonlocal running, most
        with counting:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with counting:
            running -= 1

    together(work, range(9), 3, 5)
    assert most == 3


def test_the_first_failure_ends_it_all_and_waits_for_nobody() -> None:
    stopped = threading.Event()
    begun = []

    def work(part: int, stop: threading.Event) -> None:
        begun.append(part)
        if part == 1:
            raise ValueError("no")
        if stop.wait(10):
            stopped.set()

    before = time.monotonic()
    with pytest.raises(ValueError, match="no"):
        together(work, range(100), 2, 30)
    assert time.monotonic() - before < 5
    assert stopped.wait(5)
    assert len(begun) == 2


def test_what_hangs_is_given_up() -> None:
    with pytest.raises(TimeoutError):
        together(lambda part, stop: stop.wait(10), [1], 2, 0.05)
