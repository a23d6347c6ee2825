"""A chart as SVG: axes, ticks, lines, marks, names at the ends of lines.

Colours are the style sheet's. The words that say the same stand beside the drawing, for those who
do not see it.
"""

from __future__ import annotations

from pytest_soulmem.reporting.html.chart import Chart
from pytest_soulmem.reporting.html.markup import text


def drawing(own: Chart, place: str) -> str:
    """The figure; ``place`` is an id of ours, the only one of that name in the page."""
    return (
        f'<figure class="chart">\n<svg viewBox="0 0 {own.width} {own.height}" role="img"'
        f' aria-label="{text(own.name)}" aria-describedby="{place}">\n'
        f"{_axes(own)}{_content(own)}</svg>\n"
        f'<figcaption id="{place}"><strong>{text(own.y_title)}</strong>'
        f' <span class="words">{text("; ".join(own.summary))}.</span></figcaption>\n</figure>\n'
    )


def _axes(own: Chart) -> str:
    grid = [f'<path d="M{own.left} {tick.at}H{own.right}"/>' for tick in own.y_ticks]
    ticks = [
        f'<text class="y" x="{own.left - 8}" y="{tick.at + 4}">{text(tick.label)}</text>'
        for tick in own.y_ticks
    ]
    ticks += [
        f'<path d="M{tick.at} {own.bottom}v5"/>'
        f'<text class="x" x="{tick.at}" y="{own.bottom + 18}">{text(tick.label)}</text>'
        for tick in own.x_ticks
    ]
    return (
        f'<g class="grid">\n{"".join(grid)}</g>\n'
        f'<g class="ticks" aria-hidden="true">\n{"".join(ticks)}'
        f'<text class="x title" x="{(own.left + own.right) / 2}" y="{own.height - 4}">'
        f"{text(own.x_title)}</text>\n</g>\n"
    )


def _content(own: Chart) -> str:
    parts = [f'<polyline class="line {line.style}" points="{line.points}"/>' for line in own.lines]
    parts += [
        f'<path class="mark {mark.style}" d="{mark.path}"><title>{text(mark.text)}</title></path>'
        for mark in own.marks
    ]
    names = [f'<text x="{label.x}" y="{label.y}">{text(label.text)}</text>' for label in own.labels]
    return f'{"".join(parts)}<g class="names" aria-hidden="true">\n{"".join(names)}</g>\n'
