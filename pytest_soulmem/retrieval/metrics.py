"""Ranking metrics with binary relevance, as TREC defines them.

Every function takes the retrieved ids, best first, and the set of relevant ids, and returns a
number in [0, 1]. Nothing retrieved scores 0. Source of the definitions: trec_eval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def recall(retrieved: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant ids that are among the first k."""
    return _hits(retrieved, relevant, k) / len(relevant)


def precision(retrieved: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Hits among the first k over k, even where fewer than k came back."""
    return _hits(retrieved, relevant, k) / k


def ndcg(retrieved: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Discounted gain of the first k over that of the best possible ranking."""
    gain = sum(
        1 / math.log2(rank + 1)
        for rank, name in enumerate(retrieved[:k], start=1)
        if name in relevant
    )
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return gain / ideal


def reciprocal_rank(retrieved: Sequence[str], relevant: Collection[str]) -> float:
    """One over the rank of the first relevant id; 0 if none came back."""
    ranks = (rank for rank, name in enumerate(retrieved, start=1) if name in relevant)
    return 1 / next(ranks, math.inf)


def success(retrieved: Sequence[str], relevant: Collection[str], k: int) -> float:
    """1 if a relevant id is among the first k, else 0."""
    return float(_hits(retrieved, relevant, k) > 0)


def _hits(retrieved: Sequence[str], relevant: Collection[str], k: int) -> int:
    return sum(name in relevant for name in retrieved[:k])
