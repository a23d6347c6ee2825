"""The part of a traceback that is the user's."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

from pytest_soulmem.reporting.text import visible, visible_lines

_PACKAGE = Path(__file__).parent.parent


_MACHINERY = ("pluggy", "_pytest")
"""Packages between us and a user's hook."""
_HEADER = "Traceback (most recent call last):\n"


def users_traceback(error: BaseException | None) -> str:
    """The user's frames below the last one of this package, the error and what caused it, as text.

    Nothing where there is no error or no such frame: then the fault is not in the user's code.
    """
    if error is None:
        return ""
    told = traceback.TracebackException.from_exception(error)
    if not _theirs(told.stack):
        return ""
    link: traceback.TracebackException | None = told
    while link:
        link.stack = traceback.StackSummary.from_list(_theirs(link.stack))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return visible_lines("".join(told.format()).removeprefix(_HEADER).rstrip())


def one_line(error: BaseException) -> str:
    """The error's type and the first line of what it says."""
    name = type(error).__name__
    said = next(iter(str(error).splitlines()), "")
    return visible(f"{name}: {said}" if said else name)


def _theirs(frames: Sequence[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    ours = [at for at, frame in enumerate(frames) if _PACKAGE in Path(frame.filename).parents]
    below = frames[ours[-1] + 1 :] if ours else frames
    return [frame for frame in below if Path(frame.filename).parent.name not in _MACHINERY]
