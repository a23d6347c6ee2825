"""The user's code, asked with care: nonsense and errors become texts that say whose they are."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.text import visible, visible_lines

_PACKAGE = Path(__file__).parent


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
        reason = f"the hook {name} raised {headline(error)}"
        raise Misbehaviour(reason, users_traceback(error)) from None


def ask_method(method: str, context: str, call: Callable[[], Any]) -> Any:
    """What a method of the user's returns; ``context`` says what it was asked about.

    Raises:
        Misbehaviour: it raised.
    """
    try:
        return call()
    except Exception as error:
        details = f"asked about: {context}\n\n{users_traceback(error)}"
        raise Misbehaviour(f"{method} raised {headline(error)}", details) from None


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


def headline(error: Exception) -> str:
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
