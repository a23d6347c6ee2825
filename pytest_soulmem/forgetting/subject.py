"""The forgetter under test, asked with care: nonsense and errors become texts that say whose."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_soulmem.faults import suggestion
from pytest_soulmem.forgetting.protocols import Forgetter, Masks, Reviser, Updates
from pytest_soulmem.forgetting.terms import ACTIONS, Action, CurveSettings, Memory
from pytest_soulmem.forgetting.wording import asked
from pytest_soulmem.users_code import Misbehaviour, ask_method, name_of, nonsense, shown


@dataclass(frozen=True)
class Subject:
    """A forgetter and its name in texts."""

    forgetter: Forgetter

    @property
    def name(self) -> str:
        """The forgetter's class, or module, with where it was defined."""
        return name_of(self.forgetter)

    @property
    def masks(self) -> bool:
        """Whether it offers masking."""
        return isinstance(self.forgetter, Masks)

    @property
    def updates(self) -> bool:
        """Whether it can go on from a known degree."""
        return isinstance(self.forgetter, Updates)

    def missing_degree(self, memory: Memory, hours: float, settings: CurveSettings) -> float:
        """The degree as a finite float.

        Raises:
            Misbehaviour: it raised, or returned anything else.
        """
        ask = self.forgetter.missing_degree
        context = asked(memory, hours, settings)
        return self._degree("missing_degree", context, lambda: ask(memory, hours, settings))

    def update(self, memory: Memory, known: float, hours: float, settings: CurveSettings) -> float:
        """The degree that follows a known one.

        Raises:
            Misbehaviour: it raised, or returned anything but a finite number.
        """
        forgetter = self.forgetter
        if not isinstance(forgetter, Updates):
            raise TypeError(f"{self.name} has no method update")
        context = f"{asked(memory, hours, settings)}, from a degree of {known!r}"
        return self._degree(
            "update", context, lambda: forgetter.update(memory, known, hours, settings)
        )

    def action(self, memory: Memory, hours: float, settings: CurveSettings) -> Action:
        """The decision.

        Raises:
            Misbehaviour: it raised, or returned anything but the name of an action.
        """
        ask = self.forgetter.action
        context = asked(memory, hours, settings)
        value = self._call("action", context, lambda: ask(memory, hours, settings))
        for action in ACTIONS:
            if isinstance(value, str) and value == action:
                return action
        hint = suggestion(value, ACTIONS) if isinstance(value, str) else ""
        raise self._nonsense("action", context, value, f"one of {', '.join(ACTIONS)}{hint}")

    def mask(self, memory: Memory, degree: float) -> str:
        """The masked text.

        Raises:
            Misbehaviour: it raised, or returned anything but text.
        """
        forgetter = self.forgetter
        if not isinstance(forgetter, Masks):
            raise TypeError(f"{self.name} has no method mask")
        context = f"missing degree {degree!r}"
        value = self._call("mask", context, lambda: forgetter.mask(memory, degree))
        if not isinstance(value, str):
            raise self._nonsense("mask", context, value, "the masked text")
        return str(value)

    def _degree(self, method: str, context: str, call: Callable[[], object]) -> float:
        value = self._call(method, context, call)
        number = self._call(method, context, lambda: _as_float(value))
        if number is None:
            raise self._nonsense(method, context, value, "a finite number")
        return float(number)

    def _call(self, method: str, context: str, call: Callable[[], Any]) -> Any:
        return ask_method(f"{self.name}.{method}", context, call)

    def _nonsense(self, method: str, context: str, value: object, expected: str) -> Misbehaviour:
        return nonsense(f"{self.name}.{method}", context, value, expected)


def as_subject(forgetter: object) -> Subject:
    """Check what the hook returned before anything is asked of it.

    Raises:
        Misbehaviour: it is no forgetter.
    """
    hook = "the hook pytest_soulmem_forgetter"
    if isinstance(forgetter, type):
        raise Misbehaviour(f"{hook} returned the class {forgetter.__qualname__}, not an instance")
    lacking = [
        method
        for method in ("missing_degree", "action")
        if not callable(getattr(forgetter, method, None))
    ]
    if lacking or not isinstance(forgetter, Forgetter):
        missing = " and ".join(lacking)
        raise Misbehaviour(f"{hook} returned {shown(forgetter)}, which has no method {missing}")
    return Subject(forgetter)


def _as_float(value: Any) -> float | None:
    """A finite number, whatever its type; numpy's and torch's scalars included."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return None
    if getattr(value, "shape", ()) != ():
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def as_reviser(reviser: Any) -> Reviser | None:
    """Check what the hook for revisers returned.

    Raises:
        Misbehaviour: it cannot be called.
    """
    if reviser is None or callable(reviser):
        found: Reviser | None = reviser
        return found
    raise Misbehaviour(
        f"the hook pytest_soulmem_reviser returned {shown(reviser)}; "
        "expected a function of the masked text"
    )
