"""Personalised PageRank over the links of a graph.

Solves ``x = d Pᵀ x + (1 - d) s``: ``s`` are the sources, normalised to sum 1, and ``P`` the
row-normalised link weights. A node without a positive link sends its mass back to the sources in
equal shares. Source: Page et al., The PageRank Citation Ranking (1999), with the treatment of
dangling nodes that igraph calls a reset to the sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.graph import Graph, Link
from pytest_soulmem.retrieval.ranking import LEAST, Ranked, best, cut_columns, rounded
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
        if self._dense:
            return self._solve(self._start(sources, self._inverse.sum(axis=0)))
        return self._iterate(self._start(sources, self._moves.mass))

    def walks(self, sources: Sequence[Ranked]) -> list[Walk]:
        """Begin a query from each of some sources, those together that walk together.

        The walks are for ``best`` and ``at``, which take them as far as they need.
        """
        if self._dense:
            scores = self.scores(self._spread(sources))
            # At its end already: nothing is left that could move, from anywhere.
            return [Walk(scores, np.zeros((1, 1)), np.zeros(0, np.intp))]
        return [self._begin(block) for block in self._blocks(sources)]

    def best(self, walks: Sequence[Walk], limit: int) -> list[Ranked]:
        """Per query, the ``limit`` best nodes with a rounded score above 0; scores are rounded.

        Each score is within ``TOLERANCE`` of the exact one before rounding. The order is that of
        the exact solution, but for nodes whose scores are closer to each other than the errors of
        both.
        """
        if self._dense:
            return [one for walk in walks for one in cut_columns(rounded(walk.scores), limit)]
        return [ranked for walk in walks for ranked in self._best(walk, limit)]

    def at(self, walks: Sequence[Walk], positions: NDArray[np.intp]) -> Array:
        """The rounded scores of single nodes, shape ``(positions, queries)``.

        Each is within ``TOLERANCE`` of the exact one before rounding.
        """
        if not self._dense:
            limit = TOLERANCE / self._moves.spill[positions].max(initial=1)
            for walk in walks:
                self._refine(walk, limit)
        return rounded(np.concatenate([walk.reached[positions] for walk in walks], axis=1))

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

    def _start(self, sources: Array, mass: Array) -> Array:
        """The vector t of each column: ``sources`` are those of the nodes that have ``mass``."""
        totals = sources.sum(axis=0)
        start: Array = sources * ((1 - self.damping) / np.where(totals > 0, totals, 1))
        present = (sources > 0).astype(float)
        # A unit adds at least 1; the maximum is for columns without sources.
        share = np.maximum(1 - mass @ start, 0) / np.maximum(mass @ present, 1)
        start += share * present
        return start

    def _solve(self, start: Array) -> Array:
        # Queries as rows: those of ``best`` are laid out so.
        solution: Array = (start.T @ self._inverse.T).T
        return solution

    def _iterate(self, start: Array) -> Array:
        """Sweeps until the residuals, of which each counts at most 1/(1-d), are small enough."""
        walk = self._sweeping(start, np.flatnonzero(start.any(axis=1)))
        self._moves.sweep(walk, ERROR_BOUND * (1 - self.damping) / self._size)
        return np.maximum(walk.reached, 0)

    def _sweeping(self, start: Array, sources: NDArray[np.intp]) -> Walk:
        """A walk that begins with scores that sum to 1, as the solution does.

        Its error then sums to 0: it has no part along the stationary distribution, which dies out
        slowest.
        """
        totals = start.sum(axis=0)
        scores = start / np.where(totals > 0, totals, 1)
        return Walk(scores, start - scores + self._moves.inward @ scores, sources)

    def _blocks(self, sources: Sequence[Ranked]) -> list[Sequence[Ranked]]:
        """The queries that walk together."""
        return [[one] for one in sources] if self._local else [sources]

    def _spread(self, sources: Sequence[Ranked]) -> Array:
        spread = np.zeros((len(sources), self._size))
        rows = np.repeat(np.arange(len(sources)), [len(one.positions) for one in sources])
        spread[rows, _positions(sources)] = np.concatenate([one.scores for one in sources])
        return spread.T

    def _begin(self, block: Sequence[Ranked]) -> Walk:
        start = np.zeros((self._size, len(block)))
        for column, one in enumerate(block):
            mass = self._moves.mass[one.positions]
            start[one.positions, column] = self._start(one.scores[:, np.newaxis], mass)[:, 0]
        sources = _positions(block)
        if self._local:
            return Walk(np.zeros_like(start), start, sources)
        return self._sweeping(start, sources)

    def _refine(self, walk: Walk, limit: float) -> None:
        if self._local:
            self._moves.push(walk, limit)
        else:
            self._moves.sweep(walk, limit)

    def _best(self, walk: Walk, limit: int) -> list[Ranked]:
        """Refine until the best nodes of every query are beyond doubt."""
        # What stays unmoved must round to 0, hence the 2.
        residual = TOLERANCE / self._moves.spill[walk.sources].max(initial=2)
        while True:
            self._refine(walk, residual)
            # Queries as rows: each is gone through several times.
            columns = zip(walk.scores.T.copy(), walk.residual.T.copy(), strict=True)
            found = [self._settled(scores, rest, residual, limit) for scores, rest in columns]
            settled = [ranked for ranked in found if ranked]
            if len(settled) == len(found):
                return settled
            residual /= 4

    def _settled(self, scores: Array, rest: Array, residual: float, limit: int) -> Ranked | None:
        """The best nodes, or None if the residual may still change which they are."""
        # What was never moved rounds to 0.
        candidates = np.flatnonzero(scores)
        values = scores[candidates] + rest[candidates]
        doubt = residual * self._moves.spill[candidates]
        found = best(values, limit, LEAST)
        sure = doubt[found.positions].max(initial=0) <= TOLERANCE
        highest = values + doubt
        highest[found.positions] = 0
        possible = highest.max(initial=residual * self._moves.most_spill)
        weakest = found.scores[-1] if len(found.scores) == limit else 0.0
        if sure and possible <= weakest + TOLERANCE:
            return found.numbered(candidates)
        return None


def _positions(sources: Sequence[Ranked]) -> NDArray[np.intp]:
    return np.concatenate([one.positions for one in sources])
