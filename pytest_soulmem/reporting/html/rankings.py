"""A case's rankings: what was expected beside what came back, and what association moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pytest_soulmem.reporting.table import clip

Hit = Mapping[str, Any]
_ROW, _PAD = 19, 22
_ID_COLUMNS = 20


class Row(NamedTuple):
    """A memory that came back or should have."""

    id: str
    rank: str
    expected: str
    """Its place among the expected, ``bonus``, or nothing."""
    moved: str
    """Places up or down against the order by similarity alone."""
    scores: Sequence[float | None]
    """The score, and where the ranking has keys, the key."""
    channels: Sequence[float | None]
    strongest: float
    """The higher of similarity and PageRank."""


class Slope(NamedTuple):
    """One memory in the drawing of what moved: its height on the left and on the right."""

    id: str
    short: str
    left: int
    right: int
    before: str
    style: str

    @property
    def path(self) -> str:
        """From the left to the right."""
        return f"M154 {self.left}L226 {self.right}"


@dataclass(frozen=True)
class Slopes:
    """Order by similarity alone against the final order."""

    rows: Sequence[Slope]
    height: int
    summary: str


@dataclass(frozen=True)
class RankingView:
    """One ranking."""

    title: str
    channels: Sequence[str]
    rows: Sequence[Row]
    keyed: bool
    slopes: Slopes | None
    found: str
    """How many of the expected came back, in words."""


def ranking_views(comparisons: Sequence[Mapping[str, Any]]) -> list[RankingView]:
    """The rankings of a case, as its record has them."""
    return [_view(comparison) for comparison in comparisons]


def _view(comparison: Mapping[str, Any]) -> RankingView:
    retrieved: Sequence[Hit] = comparison["retrieved"]
    missing = [hit for hit in comparison["expected"] if hit["rank"] is None]
    hits = [*retrieved, *missing]
    channels = list(dict.fromkeys(name for hit in hits for name in hit["channels"]))
    places = _expected_places(comparison["expected"])
    moves = _moves(retrieved) if "pagerank" in channels else {}
    keyed = any(hit["key"] is not None for hit in hits)
    return RankingView(
        comparison["title"],
        channels,
        [_row(hit, keyed, channels, places, moves) for hit in hits],
        keyed,
        _slopes(retrieved, moves) if any(moves.values()) else None,
        _found(comparison["expected"]),
    )


def _expected_places(expected: Sequence[Hit]) -> dict[str, str]:
    must = [hit["id"] for hit in expected if hit["role"] == "must"]
    places = {name: str(place) for place, name in enumerate(must, start=1)}
    return {hit["id"]: "bonus" for hit in expected} | places


def _moves(retrieved: Sequence[Hit]) -> dict[str, int]:
    """Places that each memory stands higher than by similarity alone."""
    by_similarity = sorted(retrieved, key=lambda hit: (-_similarity(hit), hit["rank"]))
    return {hit["id"]: place - hit["rank"] for place, hit in enumerate(by_similarity, start=1)}


def _similarity(hit: Hit) -> float:
    return float(hit["channels"].get("similarity", 0.0))


def _row(
    hit: Hit,
    keyed: bool,
    channels: Sequence[str],
    places: Mapping[str, str],
    moves: Mapping[str, int],
) -> Row:
    own = hit["channels"]
    return Row(
        hit["id"],
        "missing" if hit["rank"] is None else str(hit["rank"]),
        places.get(hit["id"], ""),
        _arrow(moves.get(hit["id"], 0)),
        (hit["score"], hit["key"]) if keyed else (hit["score"],),
        [own.get(name) for name in channels],
        max(own.get("similarity", 0.0), own.get("pagerank", 0.0)),
    )


def _arrow(places: int) -> str:
    if not places:
        return ""
    return f"▲ {places}" if places > 0 else f"▼ {-places}"


def _found(expected: Sequence[Hit]) -> str:
    must = [hit for hit in expected if hit["role"] == "must"]
    bonus = [hit for hit in expected if hit["role"] == "bonus"]
    parts = [
        f"{sum(hit['rank'] is not None for hit in own)} of {len(own)} {name}"
        for own, name in ((must, "expected"), (bonus, "bonus"))
        if own
    ]
    return " and ".join(parts) + " came back" if parts else "nothing was expected"


def _slopes(retrieved: Sequence[Hit], moves: Mapping[str, int]) -> Slopes:
    rows = [_slope(hit, moves[hit["id"]]) for hit in retrieved]
    up = [
        f"{row.id} up {moves[row.id]}"
        + (" (PageRank above similarity)" if "lifted" in row.style else "")
        for row in rows
        if moves[row.id] > 0
    ]
    return Slopes(rows, 2 * _PAD + _ROW * len(rows), "; ".join(up))


def _slope(hit: Hit, moved: int) -> Slope:
    own = hit["channels"]
    lifted = own.get("pagerank", 0.0) > own.get("similarity", 0.0)
    style = " ".join(
        word
        for word, holds in (("lifted", lifted), ("up", moved > 0), ("down", moved < 0))
        if holds
    )
    return Slope(
        hit["id"],
        clip(hit["id"], _ID_COLUMNS),
        _PAD + _ROW * (hit["rank"] + moved),
        _PAD + _ROW * hit["rank"],
        f"{own.get('similarity', 0.0):.3f}",
        style,
    )
