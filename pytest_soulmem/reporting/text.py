"""Making text from fixtures safe to print."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any

_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""The text with control, direction and half characters shown as ``\xNN``.

    They could move the cursor, reorder a line or break an encoding. Joiners, which scripts and
    emoji need, stay.
    """
    if text.isprintable():  # Nothing unsafe is.
        return text
    return "".join(_escaped(one) if _unsafe(one) else one for one in text)


def visible_lines(text: str) -> str:
    """A text of several lines, each made safe to print."""
    return "\n".join(map(visible, text.split("\n")))


def visible_json(value: object) -> str:
    """JSON that reads back as the value and is safe to print: Chinese as it is, no controls."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():  # Nothing unsafe is.
        return text
    return "".join(json.dumps(one)[1:-1] if _unsafe(one) else one for one in text)


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Plain data with all its texts changed, names of fields too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {each_text(key, change): each_text(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [each_text(item, change) for item in value]
    return value


def _unsafe(character: str) -> bool:
    if ord(character) & 0xFFFE == 0xFFFE:  # No character, and not allowed in XML.
        return True
    return unicodedata.category(character) in _INVISIBLE and character not in _JOINERS


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
