"""A ranking as HTML: its table, and the drawing of what association moved."""

from __future__ import annotations

from functools import lru_cache

from pytest_soulmem.reporting.html.markup import name, scrolling, text
from pytest_soulmem.reporting.html.rankings import (
    Hit,
    RankingView,
    lifted,
    similarity,
    strongest,
)
from pytest_soulmem.reporting.table import clip

_ROW, _PAD = 19, 22
_ID_COLUMNS = 20


def rank_table(view: RankingView, number: int) -> str:
    """The ranking of the case of that number."""
    title = text(view.title)
    head = f"<h4>{title} <small>{view.found}</small></h4>\n"
    if not view.hits:
        return f'{head}<p class="quiet">Nothing came back.</p>\n'
    moved = '<th scope="col">moved' if view.moves else ""
    key = '<th scope="col" class="n">key' if view.keyed else ""
    channels = [f'<th scope="col" class="n">{name(channel)}' for channel in view.channels]
    rows = [_row(hit, view) for hit in view.hits]
    table = (
        '<table class="ranking">\n<thead><tr><th scope="col" class="n">rank'
        '<th scope="col" class="n">expected<th scope="col">memory'
        f'{moved}<th scope="col" class="n">score{key}{"".join(channels)}\n'
        f"<tbody>\n{''.join(rows)}</table>\n"
    )
    drawn = _slopes(view, title) if view.moves else ""
    return f"{head}{scrolling(f'{title}, case {number}', table)}{drawn}"


def _row(hit: Hit, view: RankingView) -> str:
    place = view.places.get(hit["id"], "")
    if hit["rank"] is None:
        start = '<tr class="missing"><td>missing'
    else:
        start = f'<tr class="wanted"><td>{hit["rank"]:d}' if place else f"<tr><td>{hit['rank']:d}"
    cells = [f'{start}<td>{place}<th scope="row">{name(hit["id"])}']
    if view.moves:
        cells.append(f"<td>{_arrow(view.moves.get(hit['id'], 0))}")
    cells.append(_score(hit["score"]))
    if view.keyed:
        cells.append(_score(hit["key"]))
    highest = strongest(hit)
    cells += [
        "<td>·" if value is None else _bar(f"{value:.3f}", value == highest)
        for value in map(hit["channels"].get, view.channels)
    ]
    cells.append("\n\n")
    return "".join(cells)


def _score(score: float | None) -> str:
    return "<td>" if score is None else f"<td>{score:.4f}"


def _arrow(places: int) -> str:
    if not places:
        return ""
    return f"▲ {places}" if places > 0 else f"▼ {-places}"


@lru_cache(maxsize=4096)
def _bar(rounded: str, strong: bool) -> str:
    """The cell of a channel; cached by what is written in it."""
    # Adding zero turns -0.0 into 0.0.
    value = float(rounded) + 0.0
    # In this order, so that the bar of what is no number has no length.
    share = round(1000 * min(max(0.0, value), 1.0)) // 10
    emphasis = " strong" if strong and value > 0 else ""
    return f'<td class="b{share}{emphasis}">{value:.3f}'


def _slopes(view: RankingView, title: str) -> str:
    """Order by similarity alone against the final order."""
    retrieved = [hit for hit in view.hits if hit["rank"] is not None]
    rows = [_slope(hit, view.moves[hit["id"]]) for hit in retrieved]
    summary = text(view.summary)
    return (
        f'<figure class="slopes">\n<svg viewBox="0 0 380 {2 * _PAD + _ROW * len(rows)}" role="img"'
        f' aria-label="{title}: order by similarity alone against the final order.'
        f' Moved up: {summary}">\n'
        '<g aria-hidden="true"><text class="end title" x="146" y="14">by similarity</text>'
        '<text class="title" x="234" y="14">final order</text>\n'
        f"{''.join(rows)}</g>\n</svg>\n"
        f'<figcaption class="words">Moved up: {summary}.</figcaption>\n</figure>\n'
    )


def _slope(hit: Hit, moved: int) -> str:
    """One memory: its height by similarity on the left, by rank on the right."""
    right = _PAD + _ROW * hit["rank"]
    left = right + _ROW * moved
    direction = "up" if moved > 0 else "down" if moved < 0 else ""
    style = f"lifted {direction}".rstrip() if lifted(hit) else direction
    return (
        f'<path class="slope {style}" d="M154 {left:d}L226 {right:d}"/>'
        f'<text class="end {style}" x="146" y="{left + 4}">{similarity(hit):.3f}</text>'
        f'<text class="{style}" x="234" y="{right + 4}">{_clipped(hit["id"])}</text>\n'
    )


@lru_cache(maxsize=4096)
def _clipped(memory: str) -> str:
    return text(clip(memory, _ID_COLUMNS))
