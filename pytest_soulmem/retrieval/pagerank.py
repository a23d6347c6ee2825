"""Personalised PageRank over the links of a graph.

Solves ``x = d Pᵀ x + (1 - d) s``: ``s`` are the sources, normalised to sum 1, and ``P`` the
row-normalised link weights. A node without a positive link sends its mass back to the sources in
equal shares. Source: Page et al., The PageRank Citation Ranking (1999), with the treatment of
dangling nodes that igraph calls a reset to the sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.graph import Graph, Link
from pytest_soulmem.retrieval.ranking import LEAST, Rankings, best, joined
from pytest_soulmem.retrieval.walk import Array, Moves, Walk

DAMPING = 0.65
ERROR_BOUND = 1e-10
"""The L1 distance of :meth:`PageRank.scores` to the exact solution is at most this."""

TOLERANCE = 1e-6
"""How near a score of :meth:`PageRank.best` is to the exact one: one unit of its last decimal."""

_DENSE_NODES = 400
"""Up to here one dense inverse, made once, is cheaper than sweeps per query."""

_SWEPT_NODES = 20_000
"""Up to here a query reaches most of the graph, and sweeps for all queries at once are cheapest;
above, each query is pushed on its own."""

_INTENSITY_WEIGHT = 1.0
_CONFIDENCE_WEIGHT = 0.8


def link_weight(link: Link, semantic: float = 0.3, situation: float = 0.7) -> float:
    """The weight of a link whose target is no Procedure node, in [0, 1].

    ``semantic`` and ``situation`` are the preferences for the two types of link.
    """
    kind = link.link_type
    if kind.Sem:
        confidence, preference = kind.Sem.confidence, semantic
    elif kind.Situation:
        confidence, preference = 0.8, situation
    else:
        confidence, preference = 0.0, 0.0
    total = _INTENSITY_WEIGHT + _CONFIDENCE_WEIGHT + preference
    return (
        link.intensity * _INTENSITY_WEIGHT + confidence * _CONFIDENCE_WEIGHT + preference
    ) / total


def link_weights(graph: Graph) -> csr_array:
    """The weights of all links, shape ``(nodes, nodes)``; parallel links add up.

    A link to a Procedure node weighs 0: actions are inferred, not associated.
    """
    rows, columns, weights = [], [], []
    index = graph.index
    is_procedure = [node.procedure is not None for node in graph.nodes]
    for position, node in enumerate(graph.nodes):
        for link in node.mem_links:
            target = index[link.target]
            if not is_procedure[target]:
                rows.append(position)
                columns.append(target)
                weights.append(link_weight(link))
    size = len(graph)
    return csr_array((np.array(weights, float), (rows, columns)), shape=(size, size))


@dataclass(frozen=True, eq=False)
class PageRank:
    """The links of one graph, ready to be walked from any sources.

    ``weights`` are non-negative link weights, shape ``(nodes, nodes)``; 0 <= ``damping`` < 1.

    With ``M = I - d Pᵀ``, and P zero in the rows of dangling nodes, the equation is ``M x = t``:
    t is (1 - d) s and what dangling nodes send back, in equal shares. How much that is, is known
    beforehand: x sums to 1, and ``mass`` is what each unit of t adds to the sum of x. So t holds
    the whole dangling rule. What is left has three methods, by the size of the graph: a dense
    inverse, sweeps over all links for all queries at once, and a push per query, whose work does
    not grow with the graph but with what the query reaches.
    """

    weights: csr_array
    damping: float = DAMPING

    def scores(self, sources: Array) -> Array:
        """The PageRank of every node for each column of ``sources``.

        ``sources`` has shape ``(nodes, queries)`` and is not negative. Each column of the result
        sums to 1, or is 0 where its sources are. The L1 error is at most ``ERROR_BOUND``.
        """
        queries, positions = np.nonzero(sources.T > 0)
        start = self._start(
            Rankings(queries, positions, sources[positions, queries], sources.shape[1])
        )
        return self._solve(start) if self._dense else self._iterate(start)

    def walks(self, sources: Rankings) -> list[Walk]:
        """Begin a query from each ranking's nodes, those together that walk together.

        The walks are for ``best`` and ``at``, which take them as far as they need.
        """
        start = self._start(sources)
        if self._dense:
            # At its end already: nothing is left that could move, from anywhere.
            return [Walk(self._solve(start), np.zeros((1, 1)), np.zeros(0, np.intp))]
        if self._local:
            return [self._pushing(start.only(start.owners == own)) for own in range(start.count)]
        return [self._sweeping(start)]

    def best(self, walks: Sequence[Walk], limit: int) -> Rankings:
        """Per query, the ``limit`` best nodes with a rounded score above 0; scores are rounded.

        Each score is within ``TOLERANCE`` of the exact one before rounding. The order is that of
        the exact solution, but for nodes whose scores are closer to each other than the errors of
        both.
        """
        return joined([self._best(walk, limit) for walk in walks])

    def at(self, walks: Sequence[Walk], positions: NDArray[np.intp]) -> Array:
        """The scores of single nodes, shape ``(positions, queries)``.

        Each is within ``TOLERANCE`` of the exact one.
        """
        if not self._dense:
            limit = TOLERANCE / self._moves.spill[positions].max(initial=1)
            for walk in walks:
                self._refine(walk, limit)
        return np.concatenate([walk.reached[positions] for walk in walks], axis=1)

    @property
    def _size(self) -> int:
        return int(self.weights.shape[0])

    @property
    def _dense(self) -> bool:
        return self._size <= _DENSE_NODES

    @property
    def _local(self) -> bool:
        return self._size > _SWEPT_NODES

    @cached_property
    def _moves(self) -> Moves:
        return Moves(self.weights, self.damping)

    @cached_property
    def _inverse(self) -> Array:
        return np.linalg.inv(np.eye(self._size) - self._moves.inward.toarray()).astype(float)

    @cached_property
    def _mass(self) -> Array:
        mass: Array = self._inverse.sum(axis=0) if self._dense else self._moves.mass
        return mass

    def _start(self, sources: Rankings) -> Rankings:
        """The vector t of each query: sources that are not above 0 have none of it."""
        sources = sources.only(sources.scores > 0)
        owners, count = sources.owners, sources.count
        totals = np.bincount(owners, sources.scores, count)
        start = (1 - self.damping) * (sources.scores / totals[owners])
        mass = self._mass[sources.positions]
        lost = np.maximum(1 - np.bincount(owners, mass * start, count), 0)
        # A unit adds at least 1; the maximum is for queries without sources.
        shares = lost / np.maximum(np.bincount(owners, mass, count), 1)
        return replace(sources, scores=start + shares[owners])

    def _spread(self, start: Rankings) -> Array:
        """As columns over all nodes."""
        columns = np.zeros((self._size, start.count))
        columns[start.positions, start.owners] = start.scores
        return columns

    def _solve(self, start: Rankings) -> Array:
        # Queries as rows: those of ``best`` are laid out so.
        solution: Array = (self._spread(start).T @ self._inverse.T).T
        return solution

    def _iterate(self, start: Rankings) -> Array:
        """Sweeps until the residuals, of which each counts at most 1/(1-d), are small enough."""
        walk = self._sweeping(start)
        self._moves.sweep(walk, ERROR_BOUND * (1 - self.damping) / self._size)
        return np.maximum(walk.reached, 0)

    def _sweeping(self, start: Rankings) -> Walk:
        """A walk that begins with scores that sum to 1, as the solution does.

        Its error then sums to 0: it has no part along the stationary distribution, which dies out
        slowest.
        """
        totals = np.bincount(start.owners, start.scores, start.count)
        first = replace(start, scores=start.scores / totals[start.owners])
        scores = self._spread(first)
        residual = self._moves.inward @ scores
        residual[start.positions, start.owners] += start.scores - first.scores
        return Walk(scores, residual, start.positions)

    def _pushing(self, start: Rankings) -> Walk:
        """A walk of a single query, all of which is still to be moved."""
        residual = np.zeros((self._size, 1))
        residual[start.positions, 0] = start.scores
        return Walk(np.zeros_like(residual), residual, start.positions)

    def _refine(self, walk: Walk, limit: float) -> None:
        if self._local:
            self._moves.push(walk, limit)
        else:
            self._moves.sweep(walk, limit)

    def _best(self, walk: Walk, limit: int) -> Rankings:
        """Refine until the best nodes of every query are beyond doubt."""
        if self._dense:
            return best(walk.scores.T, limit, LEAST)
        # What stays unmoved must round to 0, hence the 2.
        residual = TOLERANCE / self._moves.spill[walk.sources].max(initial=2)
        while True:
            self._refine(walk, residual)
            found = (
                self._pushed(walk, residual, limit)
                if self._local
                else self._settled(walk.reached, self._moves.spill, residual, limit)
            )
            if found:
                return found
            residual /= 4

    def _pushed(self, walk: Walk, residual: float, limit: int) -> Rankings | None:
        """As ``_settled``, among the nodes that were moved: any other rounds to 0."""
        moved = np.flatnonzero(walk.scores)
        reached = walk.scores[moved] + walk.residual[moved]
        found = self._settled(reached, self._moves.spill[moved], residual, limit)
        return found and found.numbered(moved)

    def _settled(
        self, reached: Array, spill: Array, residual: float, limit: int
    ) -> Rankings | None:
        """The best nodes, or None if the residual may still change which they are."""
        # Queries as rows: each is gone through several times.
        values = reached.T.copy()
        doubt = residual * spill
        found = best(values, limit, LEAST)
        if doubt[found.positions].max(initial=0) > TOLERANCE:
            return None
        highest = values + doubt
        highest[found.owners, found.positions] = 0
        possible = highest.max(axis=1, initial=residual * self._moves.most_spill)
        settled = (possible <= self._weakest(found, limit) + TOLERANCE).all()
        return found if settled else None

    @staticmethod
    def _weakest(found: Rankings, limit: int) -> Array:
        """The last score of each ranking, 0 where another node would have a place."""
        counts = np.bincount(found.owners, minlength=found.count)
        weakest = np.zeros(found.count)
        full = counts == limit
        weakest[full] = found.scores[np.cumsum(counts)[full] - 1]
        return weakest
