"""Solving ``x = d Pᵀ x + start`` by moving mass along links.

A walk keeps ``scores + M⁻¹ residual = x`` with ``M = I - d Pᵀ``: what a node's residual holds has
still to be counted there and passed on. Moving the residual of a node into its score and d of it
on to its neighbours keeps the equation. A *push* moves the nodes of a frontier and costs as much
as their links; a *sweep* moves every node at once.

Source of the push: Andersen, Chung & Lang, Local Graph Partitioning using PageRank Vectors (2006).
Here a node is pushed for the size of its residual, not for residual per link: the latter is a
bound for undirected graphs, and would lose what a hub's many leaves receive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.rows import row_entries

Array = NDArray[np.float64]

_SHRINKAGE = 4
"""A sweep hardly ever divides the largest residual by more, so as many can do without a look."""

_SWEEP_SHARE = 0.04
"""A frontier with more of all links than this is not pushed: a sweep costs less."""


@dataclass(eq=False)
class Walk:
    """Queries on their way, one per column of arrays of shape ``(nodes, queries)``."""

    scores: Array
    residual: Array
    sources: NDArray[np.intp]
    """The nodes at which any of them began."""

    @property
    def reached(self) -> Array:
        """The best estimate of the solution."""
        return self.scores + self.residual


class Moves:
    """Where mass goes from each node: d P, without the rows of dangling nodes."""

    def __init__(self, weights: csr_array, damping: float) -> None:
        out = np.asarray(weights.sum(axis=1), dtype=float)
        links = weights.tocoo()
        sources, targets = links.coords
        # Divided one by one: the reciprocal of a very faint total is infinite.
        shares: Array = damping * (links.data / np.where(out > 0, out, 1)[sources])
        self._damping = damping
        self._onward = csr_array((shares, (sources, targets)), shape=links.shape)
        self._closed = bool((out > 0).all())

    @cached_property
    def inward(self) -> csr_array:
        """Where mass comes from: d times P transposed."""
        return csr_array(self._onward.T)

    @cached_property
    def mass(self) -> Array:
        """By node, the sum of M⁻¹ applied to one unit there; 1/(1-d) if no walk can end."""
        everywhere = np.full(self._onward.shape[0], 1 / (1 - self._damping))
        if self._closed:
            return everywhere
        change = np.inf
        while change > 1e-12:
            following = 1 + self._onward @ everywhere
            change = np.abs(following - everywhere).max()
            everywhere = following
        return everywhere

    @cached_property
    def spill(self) -> Array:
        """By node, how far ``reached`` can be from the solution when no residual is above 1.

        The error there is ``M⁻¹ residual - residual``, at most ``M⁻¹ 1 - 1`` (M⁻¹ has no negative
        entry). Any g with ``M g >= c`` everywhere gives the bound ``M⁻¹ 1 <= g / c``; one that
        is a tenth too wide costs less than the iterations it would take to narrow it.
        """
        bound = np.full(self._onward.shape[0], 1 / (1 - self._damping))
        excess = np.inf
        while excess > 0.1:
            following = 1 + self.inward @ bound
            excess = (following - bound).max()
            last, bound = bound, following
        return last / (1 - max(excess, 0.0)) - 1

    @cached_property
    def most_spill(self) -> float:
        """The largest ``spill``."""
        return float(self.spill.max())

    def sweep(self, walk: Walk, limit: float) -> None:
        """Move everything, until no residual is above ``limit``."""
        while (largest := float(np.abs(walk.residual).max(initial=0))) > limit:
            for _ in range(max(1, int(math.log(largest / limit, _SHRINKAGE)))):
                walk.scores += walk.residual
                walk.residual = self.inward @ walk.residual

    def push(self, walk: Walk, limit: float) -> None:
        """Move what is above ``limit``, until nothing is; for walks of one query."""
        scores, residual = walk.scores[:, 0], walk.residual[:, 0]
        targets, shares = self._onward.indices, self._onward.data
        marks = np.empty(len(residual), np.intp)
        frontier: NDArray[np.integer] = np.flatnonzero(residual > limit)
        while len(frontier):
            links, counts = row_entries(self._onward, frontier)
            if len(links) > _SWEEP_SHARE * len(targets):
                return self.sweep(walk, limit)
            moved = residual[frontier]
            scores[frontier] += moved
            residual[frontier] = 0
            reached = targets[links]
            np.add.at(residual, reached, shares[links] * np.repeat(moved, counts))
            frontier = _once(reached[residual[reached] > limit], marks)
        return None


def _once(nodes: NDArray[np.integer], marks: NDArray[np.intp]) -> NDArray[np.integer]:
    """The nodes, each once; faster than sorting. ``marks`` has room for a number per node."""
    places = np.arange(len(nodes))
    marks[nodes] = places
    kept: NDArray[np.integer] = nodes[marks[nodes] == places]
    return kept
