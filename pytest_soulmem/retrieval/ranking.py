"""Cutting and ordering scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    return np.asarray(scores, np.float64).round(DECIMALS) + 0.0


class Ranked(NamedTuple):
    """Nodes by position, best first, with their rounded scores."""

    positions: NDArray[np.intp]
    scores: NDArray[np.float64]


@dataclass(frozen=True)
class Rankings:
    """The rankings of several queries, one after the other, each best first.

    Entry ``i`` is the node ``positions[i]`` with its rounded score in the ranking ``owners[i]`` of
    ``count``. All in one, because an array costs more to make than a ranking's few numbers.
    """

    owners: NDArray[np.intp]
    positions: NDArray[np.intp]
    scores: NDArray[np.float64]
    count: int

    def __iter__(self) -> Iterator[Ranked]:
        """Each ranking on its own."""
        bounds = np.searchsorted(self.owners, np.arange(self.count + 1)).tolist()
        for start, end in pairwise(bounds):
            yield Ranked(self.positions[start:end], self.scores[start:end])

    def cut(self, limit: int) -> Rankings:
        """The best of each ranking."""
        starts = np.searchsorted(self.owners, np.arange(self.count))
        return self.only(np.arange(len(self.owners)) - starts[self.owners] < limit)

    def only(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> Rankings:
        """Some of the entries."""
        return Rankings(self.owners[kept], self.positions[kept], self.scores[kept], self.count)

    def numbered(self, positions: NDArray[np.intp]) -> Rankings:
        """The same nodes by other numbers: those of a selection by their positions among all."""
        return Rankings(self.owners, positions[self.positions], self.scores, self.count)

    def or_higher(self, other: Rankings) -> Rankings:
        """The nodes of both, each with its higher score."""
        both = ordered(
            np.concatenate([self.owners, other.owners]),
            np.concatenate([self.positions, other.positions]),
            np.concatenate([self.scores, other.scores]),
            self.count,
        )
        return both.only(_first(both.owners, both.positions))


def nothing(count: int) -> Rankings:
    """As many empty rankings."""
    return Rankings(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0), count)


def joined(parts: Sequence[Rankings]) -> Rankings:
    """The rankings of all parts, in their order."""
    counts = [part.count for part in parts]
    before = np.cumsum([0, *counts])
    return Rankings(
        np.concatenate([part.owners + own for part, own in zip(parts, before, strict=False)]),
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.scores for part in parts]),
        sum(counts),
    )


def ordered(
    owners: NDArray[np.intp],
    positions: NDArray[np.intp],
    scores: NDArray[np.float64],
    count: int,
) -> Rankings:
    """Rankings from entries in any order; ties by position."""
    order = np.lexsort((positions, -scores, owners))
    return Rankings(owners[order], positions[order], scores[order], count)


def best(scores: NDArray[np.float64], limit: int, least: float = -np.inf) -> Rankings:
    """Per row the ``limit`` highest scores that, rounded, are at least ``least``; ties by position.

    ``scores`` has shape ``(queries, nodes)``. Those that are not finite, or would not be once they
    are rounded, are left out.
    """
    count, size = scores.shape
    usable = np.abs(scores) < _LARGEST
    if not usable.all():
        scores = np.where(usable, scores, -np.inf)
    if limit < size:
        last = np.partition(scores, size - limit, axis=1)[:, size - limit]
        # Only what rounding may lift to the last of the best is rounded and sorted.
        places = np.flatnonzero(scores >= (last - 2 * LEAST)[:, np.newaxis])
    else:
        places = np.arange(scores.size)
    values = rounded(scores.ravel()[places])
    eligible = (values >= least) & (values > -np.inf)
    places, values = places[eligible], values[eligible]
    return ordered(places // size, places % size, values, count).cut(limit)


def summed(
    owners: NDArray[np.intp],
    positions: NDArray[np.integer],
    amounts: NDArray[np.float64],
    count: int,
    least: float = -np.inf,
) -> Rankings:
    """Rankings by the sums of what each node was given, of those that, rounded, reach ``least``."""
    size = positions.max(initial=0) + 1
    nodes, given = np.unique(owners * size + positions, return_inverse=True)
    sums = rounded(np.bincount(given, amounts, len(nodes)).astype(float))
    kept = sums >= least
    return ordered(nodes[kept] // size, nodes[kept] % size, sums[kept], count)


def _first(owners: NDArray[np.intp], positions: NDArray[np.intp]) -> NDArray[np.intp]:
    """The entries of whose node there is none earlier in the same ranking."""
    keys = owners * (positions.max(initial=0) + 1) + positions
    return np.sort(np.unique(keys, return_index=True)[1])
