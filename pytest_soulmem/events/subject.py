"""The reducer under test, asked with care: nonsense and errors become texts that say whose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pytest_soulmem.events.protocols import Reducer
from pytest_soulmem.events.terms import TERMINAL_STATES, USAGE_STATES, Outcome, Raw, Step
from pytest_soulmem.events.wording import json_lines
from pytest_soulmem.faults import suggestion
from pytest_soulmem.users_code import Misbehaviour, ask_method, name_of, nonsense, shown


@dataclass(frozen=True)
class Subject:
    """A reducer and its name in texts."""

    reducer: Reducer

    @property
    def name(self) -> str:
        """The reducer's function or class, with where it was defined."""
        return name_of(self.reducer)

    def outcome(self, events: Sequence[Raw], step: Step) -> Outcome:
        """The verdict on a step.

        Raises:
            Misbehaviour: it raised, or returned anything but a well-formed outcome.
        """
        # A copy: a reducer may consume what it is given.
        given = deepcopy(list(events))
        context = "\n  ".join([f"{step} of", *json_lines(events)])
        value = ask_method(self.name, context, lambda: self.reducer(given, *step))
        if not isinstance(value, Outcome):
            raise nonsense(self.name, context, value, "an Outcome of pytest_soulmem.events")
        for field, expected in _faults(value):
            method = f"{self.name} returned an Outcome whose {field} is"
            raise Misbehaviour(
                f"{method} {shown(getattr(value, field))}; expected {expected}",
                f"asked about: {context}",
            )
        return value


def _faults(outcome: Outcome) -> list[tuple[str, str]]:
    """The fields that hold nonsense, each with what was expected."""
    faults = [
        (field, f"one of {', '.join(words)}{_hint(getattr(outcome, field), words)}")
        for field, words in (("terminal_state", TERMINAL_STATES), ("usage_state", USAGE_STATES))
        if getattr(outcome, field) not in words
    ]
    faults += [
        (field, "text or None")
        for field in ("finish_reason", "final_text", "error_code", "partial_text")
        if not isinstance(getattr(outcome, field), str | None)
    ]
    if not _is_usage(outcome.usage):
        faults.append(("usage", "a mapping from names to numbers, or None"))
    return faults


def _hint(value: object, words: Sequence[str]) -> str:
    return suggestion(value, words) if isinstance(value, str) else ""


def _is_usage(usage: Any) -> bool:
    return usage is None or (
        isinstance(usage, Mapping)
        and all(isinstance(name, str) for name in usage)
        and all(_is_number(figure) for figure in usage.values())
    )


def _is_number(figure: object) -> bool:
    return isinstance(figure, int | float) and not isinstance(figure, bool)


def as_subject(reducer: Any) -> Subject:
    """Check what the hook returned before anything is asked of it.

    Raises:
        Misbehaviour: it cannot be called, or is a class.
    """
    if callable(reducer) and not isinstance(reducer, type):
        return Subject(reducer)
    what = f"the class {reducer.__qualname__}" if isinstance(reducer, type) else shown(reducer)
    raise Misbehaviour(
        f"the hook pytest_soulmem_event_reducer returned {what}; "
        "expected a function of (events, turn, step)"
    )
