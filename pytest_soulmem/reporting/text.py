"""Making text from fixtures safe to print."""

from __future__ import annotations

import unicodedata

_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""The text with control, direction and half characters shown as ``\xNN``.

    They could move the cursor, reorder a line or break an encoding. Joiners, which scripts and
    emoji need, stay.
    """
    return "".join(
        _escaped(character)
        if unicodedata.category(character) in _INVISIBLE and character not in _JOINERS
        else character
        for character in text
    )


def visible_lines(text: str) -> str:
    """A text of several lines, each made safe to print."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
