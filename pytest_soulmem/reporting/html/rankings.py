"""A case's rankings: what was expected beside what came back, and what association moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

Hit = Mapping[str, Any]


class RankingView(Struct, frozen=True):
    """One ranking."""

    title: str
    channels: Sequence[str]
    hits: Sequence[Hit]
    """What came back, best first, then what should have."""
    places: Mapping[str, str]
    """Of the expected ids their place among those, or ``bonus``."""
    moves: Mapping[str, int]
    """Places that each memory stands higher than by similarity alone; empty if none moved."""
    keyed: bool
    found: str
    """How many of the expected came back, in words."""

    @property
    def summary(self) -> str:
        """What moved up, in words."""
        return "; ".join(
            f"{hit['id']} up {self.moves[hit['id']]}"
            + (" (PageRank above similarity)" if lifted(hit) else "")
            for hit in self.hits
            if self.moves.get(hit["id"], 0) > 0
        )


def ranking_views(comparisons: Sequence[Mapping[str, Any]]) -> list[RankingView]:
    """The rankings of a case, as its record has them."""
    return [_view(comparison) for comparison in comparisons]


def similarity(hit: Hit) -> float:
    """The similarity of a memory."""
    return float(hit["channels"].get("similarity", 0.0))


def lifted(hit: Hit) -> bool:
    """Whether the PageRank of a memory is above its similarity."""
    return bool(hit["channels"].get("pagerank", 0.0) > similarity(hit))


def strongest(hit: Hit) -> float:
    """The higher of similarity and PageRank."""
    get: Callable[[str, float], float] = hit["channels"].get
    return max(get("similarity", 0.0), get("pagerank", 0.0))


def _view(comparison: Mapping[str, Any]) -> RankingView:
    expected: Sequence[Hit] = comparison["expected"]
    retrieved: Sequence[Hit] = comparison["retrieved"]
    hits = [*retrieved, *(hit for hit in expected if hit["rank"] is None)]
    channels: dict[str, float] = {}
    for hit in hits:
        channels.update(hit["channels"])
    moves = _moves(retrieved) if "pagerank" in channels else {}
    return RankingView(
        comparison["title"],
        list(channels),
        hits,
        _expected_places(expected),
        moves if any(moves.values()) else {},
        any(hit["key"] is not None for hit in hits),
        _found(expected),
    )


def _expected_places(expected: Sequence[Hit]) -> dict[str, str]:
    must = [hit["id"] for hit in expected if hit["role"] == "must"]
    places = {name: str(place) for place, name in enumerate(must, start=1)}
    return {hit["id"]: "bonus" for hit in expected} | places


def _moves(retrieved: Sequence[Hit]) -> dict[str, int]:
    by_similarity = sorted(retrieved, key=lambda hit: (-similarity(hit), hit["rank"]))
    return {hit["id"]: place - hit["rank"] for place, hit in enumerate(by_similarity, start=1)}


def _found(expected: Sequence[Hit]) -> str:
    must = [hit for hit in expected if hit["role"] == "must"]
    bonus = [hit for hit in expected if hit["role"] == "bonus"]
    parts = [
        f"{sum(hit['rank'] is not None for hit in own)} of {len(own)} {name}"
        for own, name in ((must, "expected"), (bonus, "bonus"))
        if own
    ]
    return " and ".join(parts) + " came back" if parts else "nothing was expected"
