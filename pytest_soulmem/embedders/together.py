"""Doing a few things at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def together(
    function: Callable[[T, threading.Event], R],
    parts: Sequence[T],
    threads: int,
    patience: float,
) -> list[R]:
    """``function(part, stop)`` of every part, in the order of the parts.

    The first failure is raised at once. The threads are daemons, so that neither it nor Ctrl-C
    waits for a call that hangs; ``stop`` is set when nobody waits for results any more.

    Raises:
        TimeoutError: for ``patience`` seconds no call ended.
    """
    todo = iter(enumerate(parts))
    taking = threading.Lock()
    stop = threading.Event()
    ended: SimpleQueue[tuple[int, R | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while not stop.is_set():
            with taking:
                taken = next(todo, None)
            if taken is None:
                return
            number, part = taken
            try:
                ended.put((number, function(part, stop), None))
            except BaseException as error:  # Raised again where it is waited for.
                ended.put((number, None, error))
                stop.set()

    for _ in range(min(threads, len(parts))):
        threading.Thread(target=work, daemon=True, name="soulmem").start()
    results: dict[int, R] = {}
    try:
        while len(results) < len(parts):
            number, result, error = ended.get(timeout=patience)
            if error is not None:
                raise error
            results[number] = result  # type: ignore[assignment]
    except Empty:
        raise TimeoutError from None
    finally:
        stop.set()
    return [results[number] for number in range(len(parts))]
