"""The forgetter under test, asked with care: nonsense and errors become texts that say whose."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from pytest_soulmem.faults import suggestion
from pytest_soulmem.forgetting.protocols import Forgetter, Masks, Reviser, Updates
from pytest_soulmem.forgetting.terms import ACTIONS, Action, CurveSettings, Memory
from pytest_soulmem.forgetting.wording import asked
from pytest_soulmem.reporting.text import visible_lines

_PACKAGE = Path(__file__).parent.parent


class Misbehaviour(Exception):
    """A user's code raised, or returned what cannot be judged."""

    def __init__(self, reason: str, details: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.details = details


@dataclass(frozen=True)
class Subject:
    """A forgetter and its name in texts."""

    forgetter: Forgetter

    @property
    def name(self) -> str:
        """The forgetter's class, or module, with where it was defined."""
        if hasattr(self.forgetter, "__name__"):  # a module with functions serves too
            return str(self.forgetter.__name__)
        kind = type(self.forgetter)
        return f"{kind.__module__}.{kind.__qualname__}"

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
        try:
            return call()
        except Exception as error:
            what = f"{self.name}.{method} raised {_headline(error)}"
            details = f"asked about: {context}\n\n{users_traceback(error)}"
            raise Misbehaviour(what, details) from None

    def _nonsense(self, method: str, context: str, value: object, expected: str) -> Misbehaviour:
        what = f"{self.name}.{method} returned {_shown(value)}; expected {expected}"
        return Misbehaviour(what, f"asked about: {context}")


def ask_hook(name: str, call: Callable[[], Any]) -> Any:
    """What a user's hook returns.

    Raises:
        Misbehaviour: the hook raised.
    """
    try:
        return call()
    except Exception as error:
        reason = f"the hook {name} raised {_headline(error)}"
        raise Misbehaviour(reason, users_traceback(error)) from None


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
        raise Misbehaviour(f"{hook} returned {_shown(forgetter)}, which has no method {missing}")
    return Subject(forgetter)


def _as_float(value: Any) -> float | None:
    """A finite number, whatever its type; numpy's and torch's scalars included."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return None
    if getattr(value, "shape", ()) != ():
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _shown(value: object) -> str:
    """A value in few words."""
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {tuple(shape)}"
    try:
        shown = repr(value)
    except Exception:
        return f"an object of type {type(value).__qualname__}"
    return shown if len(shown) <= 60 else f"an object of type {type(value).__qualname__}"


def _headline(error: Exception) -> str:
    """The type and the first line of the message."""
    first = next(iter(str(error).splitlines()), "")
    return f"{type(error).__qualname__}: {first}" if first else type(error).__qualname__


def users_traceback(error: Exception) -> str:
    """The traceback of a user's error without the frames that called their code."""
    error.__traceback__ = _from_users_code(error.__traceback__)
    return visible_lines("".join(traceback.format_exception(error)).rstrip())


def _from_users_code(frames: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame that is neither ours nor pluggy's."""
    while frames is not None and _is_machinery(Path(frames.tb_frame.f_code.co_filename)):
        frames = frames.tb_next
    return frames


def _is_machinery(path: Path) -> bool:
    return _PACKAGE in path.parents or "pluggy" in path.parts


def as_reviser(reviser: Any) -> Reviser | None:
    """Check what the hook for revisers returned.

    Raises:
        Misbehaviour: it cannot be called.
    """
    if reviser is None or callable(reviser):
        found: Reviser | None = reviser
        return found
    raise Misbehaviour(
        f"the hook pytest_soulmem_reviser returned {_shown(reviser)}; "
        "expected a function of the masked text"
    )
