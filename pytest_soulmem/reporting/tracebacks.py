"""The part of a traceback that is the user's."""

from __future__ import annotations

import traceback
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent


def users_traceback(error: BaseException | None) -> str:
    """The frames of an error outside this package, as text on lines of its own.

    Nothing where there is no error or no such frame.
    """
    if error is None:
        return ""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if _PACKAGE not in Path(frame.filename).parents
    ]
    if not frames:
        return ""
    lines = traceback.format_list(frames) + traceback.format_exception_only(error)
    return "\n\n" + "".join(lines).rstrip()
