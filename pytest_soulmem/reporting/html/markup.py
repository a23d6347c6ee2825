"""Text of fixtures and of users' code as HTML.

What writes markup in Python keeps to one rule: into a tag or between tags goes a number, a word of
ours, markup of a function of ours, or what :func:`text` or :func:`name` made of anything else.
"""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

import msgspec

from pytest_soulmem.reporting import unread
from pytest_soulmem.reporting.text import each_text, visible, visible_lines


def text(value: str) -> str:
    """A text, escaped for any place between tags or in a quoted attribute, and made visible."""
    return escape(shown(value))


name = lru_cache(maxsize=4096)(text)
"""The same for what appears again and again, such as the name of a memory."""


def shown(value: str) -> str:
    """A text with its invisible characters made visible."""
    if value.isprintable():
        return value
    return visible_lines(value) if "\n" in value else visible(value)


def data(value: Any) -> str:
    """Plain data as a line of JSON that stands in an element and cannot end it."""
    try:
        written = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # A half character.
        written = ""
    # A backslash may stand for an invisible character.
    if not written or "\\" in written or not written.isprintable():
        written = msgspec.json.encode(each_text(unread.read(value), shown)).decode()
    return written.replace("<", "\\u003c")


def duration(seconds: float) -> str:
    """A time in words, escaped."""
    if seconds < 0.001:
        return "&lt; 1 ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def scrolling(label: str, table: str) -> str:
    """A table that scrolls where it is too wide; ``label`` is markup already, and names it."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{label}">\n{table}</div>\n'
