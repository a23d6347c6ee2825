"""Cutting and ordering scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

DECIMALS = 6
"""Scores are rounded before they are compared: without it, noise in the last bits of a matrix
product decides real ties, of which real data has many."""


def rounded(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores as they are compared, cut and ranked."""
    # As float64 first: six decimals of a float32 are no round numbers. Adding zero turns -0.0
    # into 0.0.
    return np.add(np.round(np.asarray(scores, np.float64), DECIMALS), 0.0)


def best(scores: NDArray[np.float64], limit: int, eligible: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The positions of the ``limit`` highest eligible scores, best first; ties by position."""
    positions = np.flatnonzero(eligible)
    values = scores[positions]
    if limit < len(values):
        last = np.partition(values, len(values) - limit)[len(values) - limit]
        keep = values >= last
        positions, values = positions[keep], values[keep]
    return positions[np.argsort(-values, kind="stable")][:limit]


class Ranked(NamedTuple):
    """Nodes by position, best first, with their scores."""

    positions: NDArray[np.intp]
    scores: NDArray[np.float64]

    @classmethod
    def cut(cls, scores: NDArray[np.float64], limit: int, eligible: NDArray[np.bool_]) -> Ranked:
        """The best eligible nodes."""
        positions = best(scores, limit, eligible)
        return cls(positions, scores[positions])

    def or_higher(self, other: Ranked) -> Ranked:
        """The nodes of both, each with its higher score; ties by position."""
        positions = np.union1d(self.positions, other.positions)
        scores = np.full(len(positions), -np.inf)
        for ranked in (self, other):
            at = np.searchsorted(positions, ranked.positions)
            scores[at] = np.maximum(scores[at], ranked.scores)
        order = np.argsort(-scores, kind="stable")
        return Ranked(positions[order], scores[order])

    def spread(self, size: int) -> NDArray[np.float64]:
        """The scores over all nodes, 0 for those that are not ranked."""
        scores = np.zeros(size)
        scores[self.positions] = self.scores
        return scores


def cut_columns(scores: NDArray[np.float64], limit: int) -> list[Ranked]:
    """Per column the best scores above 0: for many columns of few nodes, sorted all at once."""
    rows = scores.T
    order = np.argsort(-rows, axis=1, kind="stable")[:, :limit]
    values = np.take_along_axis(rows, order, axis=1)
    counts = (values > 0).sum(axis=1).tolist()
    width = order.shape[1]
    return [
        Ranked(positions, own) if count == width else Ranked(positions[:count], own[:count])
        for positions, own, count in zip(order, values, counts, strict=True)
    ]
