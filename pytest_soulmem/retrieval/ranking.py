"""Cutting and ordering scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

DECIMALS = 6
"""Scores are rounded before they are compared: without it, noise in the last bits of a matrix
product decides real ties, of which real data has many."""

_LARGEST = float(np.finfo(np.float64).max) / 10**DECIMALS
"""Rounding multiplies by 10 to the power of the decimals: beyond, it would give infinity."""

LEAST = 10**-DECIMALS
"""The smallest rounded score above 0."""


def rounded(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores as they are compared, cut and ranked."""
    # As float64 first: six decimals of a float32 are no round numbers. Adding zero turns -0.0
    # into 0.0.
    return np.add(np.round(np.asarray(scores, np.float64), DECIMALS), 0.0)


class Ranked(NamedTuple):
    """Nodes by position, best first, with their rounded scores."""

    positions: NDArray[np.intp]
    scores: NDArray[np.float64]

    def or_higher(self, other: Ranked) -> Ranked:
        """The nodes of both, each with its higher score; ties by position."""
        positions = np.concatenate([self.positions, other.positions])
        scores = np.concatenate([self.scores, other.scores])
        order = np.lexsort((positions, -scores))
        # The first of a node is the higher of its two.
        first = np.sort(np.unique(positions[order], return_index=True)[1])
        return Ranked(positions[order][first], scores[order][first])

    def numbered(self, positions: NDArray[np.intp]) -> Ranked:
        """The same nodes by other numbers: those of a selection by their positions among all."""
        return Ranked(positions[self.positions], self.scores)


NOTHING = Ranked(np.zeros(0, np.intp), np.zeros(0))


def best(scores: NDArray[np.float64], limit: int, least: float = -np.inf) -> Ranked:
    """The ``limit`` highest scores that, rounded, are at least ``least``; ties by position.

    Scores that are not finite, or would not be once they are rounded, are left out.
    """
    usable = np.abs(scores) < _LARGEST
    if not usable.all():
        scores = np.where(usable, scores, -np.inf)
    positions = np.arange(len(scores))
    if limit < len(scores):
        last = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        # Only what rounding may lift to the last of the best is rounded and sorted.
        positions = np.flatnonzero(scores >= last - 2 * LEAST)
    values = rounded(scores[positions])
    eligible = (values >= least) & (values > -np.inf)
    positions, values = positions[eligible], values[eligible]
    order = np.argsort(-values, kind="stable")[:limit]
    return Ranked(positions[order], values[order])


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
