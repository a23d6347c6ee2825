"""How figures of forgetting are put into words."""

from __future__ import annotations

from pytest_soulmem.forgetting.terms import CurveSettings, Memory

BAR = 24
"""Columns of a full bar."""


def number(value: float) -> str:
    """A number that reads back as exactly itself, without a trailing ``.0``."""
    return repr(float(value)).removesuffix(".0")


def degree(value: float) -> str:
    """A missing degree, to the digits that the pinned values have."""
    return f"{value:.9g}"


def curve_text(settings: CurveSettings) -> str:
    """The curve's parameters in one line."""
    return (
        f"half-life {number(settings.base_half_life_hours)} h, "
        f"factor {number(settings.active_factor)}, cap {settings.max_activation_cap}"
    )


def asked(memory: Memory, hours: float, settings: CurveSettings) -> str:
    """What a forgetter was asked about, in one line."""
    count = memory.retrieval_count
    return f"{number(hours)} h, retrieval_count {count}, {curve_text(settings)}"


def bar(value: float) -> str:
    """A bar as long as a degree is large; one point of a curve drawn in text."""
    return "#" * round(BAR * min(max(value, 0.0), 1.0))
