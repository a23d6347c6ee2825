"""The user's code, asked with care: nonsense and errors become texts that say whose they are."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.text import visible, visible_lines
from pytest_soulmem.reporting.tracebacks import one_line, users_traceback


class Misbehaviour(Exception):
    """A user's code raised, or returned what cannot be judged."""

    def __init__(self, reason: str, details: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.details = details

    @property
    def failure(self) -> Failure:
        """How a case fails for it."""
        reason = visible(self.reason)
        return Failure(reason, "\n".join(filter(None, (reason, visible_lines(self.details)))))


def ask_hook(name: str, call: Callable[[], Any]) -> Any:
    """What a user's hook returns.

    Raises:
        Misbehaviour: the hook raised.
    """
    try:
        return call()
    except Exception as error:
        reason = f"the hook {name} raised {one_line(error)}"
        raise Misbehaviour(reason, _traceback(error)) from None


def ask_method(method: str, context: str, call: Callable[[], Any]) -> Any:
    """What a method of the user's returns; ``context`` says what it was asked about.

    Raises:
        Misbehaviour: it raised.
    """
    try:
        return call()
    except Exception as error:
        details = f"asked about: {context}\n\n{_traceback(error)}"
        raise Misbehaviour(f"{method} raised {one_line(error)}", details) from None


def nonsense(method: str, context: str, value: object, expected: str) -> Misbehaviour:
    """What to raise for a return value that cannot be judged."""
    reason = f"{method} returned {shown(value)}; expected {expected}"
    return Misbehaviour(reason, f"asked about: {context}")


def name_of(system: object) -> str:
    """The class, function or module that a hook returned, with where it was defined."""
    if isinstance(system, ModuleType):  # a module with functions serves too
        return system.__name__
    named = system if hasattr(system, "__qualname__") else type(system)
    return f"{named.__module__}.{named.__qualname__}"


def shown(value: object) -> str:
    """A value in few words."""
    shape = getattr(value, "shape", ())
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {tuple(shape)}"
    try:
        text = repr(value)
    except Exception:
        return f"an object of type {type(value).__qualname__}"
    return text if len(text) <= 60 else f"an object of type {type(value).__qualname__}"


def _traceback(error: Exception) -> str:
    """The user's frames; the error alone where none of them is below ours."""
    return users_traceback(error) or one_line(error)
