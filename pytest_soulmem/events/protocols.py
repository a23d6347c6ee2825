"""What code that reduces model events must offer to be judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pytest_soulmem.events.terms import Outcome, Raw


class Reducer(Protocol):
    """Any function like this; return one from the hook ``pytest_soulmem_event_reducer``.

    It is given a whole stream, as plain data of its own, in the order of arrival. The stream may
    hold events of several steps, events of unknown types, or nothing at all; the verdict is on
    the one step that is named. The same arguments must always give the same verdict.

    Example::

        from pytest_soulmem.events import Outcome

        def reduce(events, turn, step):
            state = MyState()
            for event in events:
                data = event.get("data", {})
                if (data.get("turn"), data.get("step")) == (turn, step):
                    state.feed(event)
            return Outcome(state.terminal, "known" if state.usage else "unknown", ...)

        def pytest_soulmem_event_reducer(config):
            return reduce
    """

    def __call__(self, events: Sequence[Raw], turn: int, step: int, /) -> Outcome:
        """The verdict on one step."""
        ...
