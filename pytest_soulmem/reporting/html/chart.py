"""Charts as numbers: scales, ticks and marks, ready for a template that writes SVG.

Everything here is geometry in the units of the drawing; how it looks is the style sheet's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

WIDTH, HEIGHT = 380, 232
LEFT, TOP, BOTTOM = 34, 14, 42
"""Margins for the axes."""
RIGHT, WIDE_RIGHT = 50, 88
"""The margin for the names of lines, short or in words."""
NAME_GAP = 8
"""From the end of a line to its name."""
_LETTER = 6.6
"""How wide a letter of a name is, on the average of those fonts that are wide."""
_LABEL_GAP = 13
_SHAPES = (
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
    "m-3.2-3.2h6.4v6.4h-6.4z",
    "m0-4.2l4 7h-8z",
    "m0-4.4l4.2 4.4l-4.2 4.4l-4.2-4.4z",
    "m-3.4-3.4l6.8 6.8m0-6.8l-6.8 6.8",
)
"""Circle, square, triangle, diamond, cross: lines differ in more than colour."""
CROSS = len(_SHAPES) - 1


class Scale(Struct, frozen=True):
    """Values to positions, linear."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


class Tick(Struct, frozen=True):
    """A place on an axis, and what is written there."""

    at: float
    label: str


class Mark(Struct, frozen=True):
    """A point with the text that shows on hovering."""

    path: str
    text: str
    style: str


class Line(Struct, frozen=True):
    """A line through points of the drawing."""

    points: str
    style: str


class Label(Struct, frozen=True):
    """A text in the drawing."""

    x: float
    y: float
    text: str


class Chart(Struct, frozen=True):
    """A chart with its axes; ``summary`` says in words what it shows."""

    name: str
    x_title: str
    y_title: str
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    lines: Sequence[Line]
    marks: Sequence[Mark]
    labels: Sequence[Label]
    summary: Sequence[str]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    margin: int = RIGHT
    """Room on the right for the names of lines."""
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM

    @property
    def right(self) -> int:
        """The right end of the plot."""
        return self.width - self.margin


def margin_for(names: Sequence[str]) -> int:
    """The margin that leaves room for the names of lines."""
    longest = max(map(len, names), default=0)
    return max(RIGHT, NAME_GAP + math.ceil(_LETTER * longest))


def x_scale(low: float, high: float, margin: int) -> Scale:
    """The horizontal scale of a plot that leaves a margin on the right."""
    return Scale(low, high, LEFT, WIDTH - margin)


def y_scale(low: float, high: float) -> Scale:
    """The vertical scale of the plot: larger is higher."""
    return Scale(low, high, HEIGHT - BOTTOM, TOP)


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About so many round numbers from ``low`` to ``high``, steps of 1, 2 or 5 times 10ⁿ.

    Example:
        >>> nice_ticks(0, 1)
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def ticks(scale: Scale, values: Sequence[float]) -> list[Tick]:
    """Ticks labelled with their values."""
    return [Tick(scale(value), f"{value:g}") for value in values]


def mark(x: float, y: float, text: str, series: int, style: str = "") -> Mark:
    """A mark in the shape and style of its series."""
    shape = _SHAPES[min(series, CROSS)]
    return Mark(f"M{x:g} {y:g}{shape}", text, f"s{series} {style}".rstrip())


def line(points: Sequence[tuple[float, float]], style: str) -> Line:
    """A line through points."""
    return Line(" ".join(f"{x:g},{y:g}" for x, y in points), style)


def spread_labels(wanted: Iterable[tuple[float, str]], x: float) -> list[Label]:
    """Names at the ends of lines, moved apart where they would overlap."""
    placed: list[Label] = []
    for y, text in sorted(wanted):
        lowest = placed[-1].y + _LABEL_GAP if placed else TOP
        placed.append(Label(x, round(max(y, lowest), 1), text))
    over = placed[-1].y - (HEIGHT - BOTTOM + 4) if placed else 0.0
    return [Label(own.x, round(own.y - max(over, 0.0), 1), own.text) for own in placed]
