"""What a file's weight sets give: a table of means, and a chart of every metric over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from pytest_soulmem.reporting.html import chart
from pytest_soulmem.reporting.html.chart import Chart
from pytest_soulmem.reporting.results import Mean

_PLAIN_PAIR = re.compile(r"tag:([\d.e+-]+?)-variant:([\d.e+-]+)")
_EPSILON = 1e-12
_LINES = 4
"""How many lines of a chart differ in style."""


class Family(Struct, frozen=True):
    """Figures of one name at several cut-offs, such as ``recall@1`` and ``recall@5``."""

    name: str
    figures: tuple[str, ...]
    columns: Sequence[str]
    """What tells the figures of the family apart."""

    @classmethod
    def of(cls, name: str, figures: Sequence[str]) -> Family:
        """The family of these figures."""
        columns = [figure.rpartition("@")[2] if "@" in figure else "" for figure in figures]
        return cls(name, tuple(figures), columns)


class Cell(Struct, frozen=True):
    """A mean; ``best`` where no other weight set has a higher one, and some have a lower."""

    value: float | None
    best: bool = False


class Row(Struct, frozen=True):
    """A weight set."""

    number: int
    label: str
    passed: int
    cases: int
    cells: Sequence[Cell]


class FileFigures(Struct, frozen=True):
    """The means of a file, and where it sweeps, their charts."""

    file: str
    families: Sequence[Family]
    rows: Sequence[Row]
    charts: Sequence[Chart]
    numbered: bool
    """The charts name weight sets by the numbers of the rows."""


@lru_cache(maxsize=256)
def families_of(figures: tuple[str, ...]) -> Sequence[Family]:
    """Figures grouped by what stands before ``@``, in their order; most cases have the same."""
    groups: dict[str, list[str]] = {}
    for figure in figures:
        groups.setdefault(figure.partition("@")[0], []).append(figure)
    return [Family.of(name, own) for name, own in groups.items()]


def file_figures(means: Sequence[Mean]) -> FileFigures:
    """What one file's means show."""
    names = dict.fromkeys(name for mean in means for name in mean.figures)
    families = families_of(tuple(names))
    ordered = [name for family in families for name in family.figures]
    best = {name: _best([mean.figures.get(name) for mean in means]) for name in ordered}
    rows = [
        Row(
            number,
            mean.variation,
            mean.passed,
            mean.cases,
            [_cell(mean.figures.get(name), best[name]) for name in ordered],
        )
        for number, mean in enumerate(means, start=1)
    ]
    axis = _axis(means)
    charts = [_chart(title, own, means, axis) for title, own in _panels(families)]
    return FileFigures(
        means[0].file, families, rows, charts if len(means) > 1 else (), axis.numbered
    )


def _cell(value: float | None, best: float | None) -> Cell:
    return Cell(value, value is not None and value == best)


def _best(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known and max(known) - min(known) > _EPSILON else None


class _Axis(Struct, frozen=True):
    """Where each weight set stands on the x axis."""

    title: str
    noun: str
    places: Sequence[float]
    shown: Sequence[float]
    names: Sequence[str]
    numbered: bool


def _axis(means: Sequence[Mean]) -> _Axis:
    """Tag weight where only it and the variant weight vary, else the weight sets in order."""
    pairs = [_PLAIN_PAIR.fullmatch(mean.variation) for mean in means]
    tags = [float(pair[1]) for pair in pairs if pair]
    if len(set(tags)) == len(means) and max(tags) > min(tags):
        shown = sorted(tags) if len(tags) <= 7 else chart.nice_ticks(min(tags), max(tags))
        return _Axis("tag weight", "tag", tags, shown, [f"{tag:g}" for tag in tags], False)
    numbers = [float(number) for number in range(1, len(means) + 1)]
    step = -(-len(means) // 8)
    names = [f"{number:g}" for number in numbers]
    return _Axis("weight set", "set", numbers, numbers[::step], names, True)


def _panels(families: Sequence[Family]) -> list[tuple[str, Family]]:
    """One panel per family of several, and as few for the other figures as can be read."""
    panels = [(family.name, family) for family in families if len(family.figures) > 1]
    single = [name for family in families if len(family.figures) == 1 for name in family.figures]
    count = -(-len(single) // _LINES)
    for number in range(count):
        start, end = (len(single) * at // count for at in (number, number + 1))
        own = tuple(single[start:end])
        panels.append((", ".join(own), Family.of("", own)))
    return panels


def _chart(title: str, family: Family, means: Sequence[Mean], axis: _Axis) -> Chart:
    margin = chart.margin_for(() if family.name else family.figures)
    x = chart.x_scale(min(axis.places), max(axis.places), margin)
    low, high = _extent([mean.figures for mean in means], family.figures)
    y = chart.y_scale(low, high)
    lines, marks, summary = [], [], []
    names_at = chart.WIDTH - margin + chart.NAME_GAP
    ends: dict[float, list[str]] = {}
    for series, figure in enumerate(family.figures):
        found = [
            (place, mean.figures[figure], name)
            for place, mean, name in zip(axis.places, means, axis.names, strict=True)
            if figure in mean.figures
        ]
        along = sorted(found)
        style = series % _LINES
        lines.append(chart.line([(x(at), y(value)) for at, value, _ in along], f"s{style}"))
        marks += [
            chart.mark(x(at), y(value), f"{figure} {value:.3f}, {axis.noun} {name}", style)
            for at, value, name in along
        ]
        ends.setdefault(y(along[-1][1]) + 4, []).append(figure)
        summary.append(_in_words(figure, found, axis.noun))
    return Chart(
        name=f"{title} by {axis.title}",
        x_title=axis.title,
        y_title=title,
        x_ticks=chart.ticks(x, axis.shown),
        y_ticks=chart.ticks(y, chart.nice_ticks(low, high)),
        lines=lines,
        marks=marks,
        labels=chart.spread_labels(_end_labels(family, ends), names_at),
        summary=summary,
        margin=margin,
    )


def _end_labels(family: Family, ends: Mapping[float, Sequence[str]]) -> Iterator[tuple[float, str]]:
    """Cut-offs at the ends of a family's lines, in one where lines end together; else names."""
    for y, figures in ends.items():
        if family.name:
            yield y, "@" + ",".join(figure.rpartition("@")[2] for figure in figures)
        else:
            yield from ((y, figure) for figure in figures)


def _extent(figures: Sequence[Mapping[str, float]], names: Sequence[str]) -> tuple[float, float]:
    """From 0 to 1, where the metrics live; wider where a figure lies outside."""
    values = [own[name] for own in figures for name in names if name in own]
    return min([0.0, *values]), max([1.0, *values])


def _in_words(figure: str, found: Sequence[tuple[float, float, str]], noun: str) -> str:
    values = [value for _, value, _ in found]
    low, high = min(values), max(values)
    if high - low <= _EPSILON:
        return f"{figure} {high:.3f} throughout"
    highest, lowest = (_named(found, value) for value in (high, low))
    return f"{figure} up to {high:.3f} ({noun} {highest}), down to {low:.3f} ({noun} {lowest})"


def _named(found: Sequence[tuple[float, float, str]], wanted: float) -> str:
    names = [name for _, value, name in found if abs(value - wanted) <= _EPSILON]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
