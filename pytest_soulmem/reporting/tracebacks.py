"""The part of a traceback that is the user's."""

from __future__ import annotations

import traceback
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent


def users_traceback(error: BaseException | None) -> str:
    """The frames below the last one of this package, and the error, as text.

    Nothing where there is no error or no such frame: then the fault is not in the user's code.
    """
    if error is None:
        return ""
    frames = list(traceback.extract_tb(error.__traceback__))
    ours = [at for at, frame in enumerate(frames) if _PACKAGE in Path(frame.filename).parents]
    theirs = frames[ours[-1] + 1 :] if ours else frames
    if not theirs:
        return ""
    lines = traceback.format_list(theirs) + traceback.format_exception_only(error)
    return "".join(lines).rstrip()
