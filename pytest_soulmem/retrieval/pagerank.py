"""Personalised PageRank over the links of a graph.

Solves ``x = d Pᵀ x + (1 - d) s``: ``s`` are the sources, normalised to sum 1, and ``P`` the
row-normalised link weights. A node without a positive link sends its mass back to the sources in
equal shares. Source: Page et al., The PageRank Citation Ranking (1999), with the treatment of
dangling nodes that igraph calls a reset to the sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.graph import Graph, Link

DAMPING = 0.65
ERROR_BOUND = 1e-10
"""The iteration stops when the L1 distance to the exact solution is at most this."""

_DENSE_NODES = 400
"""Up to here one dense inverse, made once, is cheaper than iterating per query."""

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
    for position, node in enumerate(graph.nodes):
        for link in node.mem_links:
            if graph[link.target].procedure is None:
                rows.append(position)
                columns.append(graph.index[link.target])
                weights.append(link_weight(link))
    size = len(graph)
    return csr_array((np.array(weights, float), (rows, columns)), shape=(size, size))


@dataclass(frozen=True, eq=False)
class PageRank:
    """The links of one graph, ready to be walked from any sources.

    ``weights`` are non-negative link weights, shape ``(nodes, nodes)``; 0 <= ``damping`` < 1.
    """

    weights: csr_array
    damping: float = DAMPING

    def scores(self, sources: NDArray[np.float64]) -> NDArray[np.float64]:
        """The PageRank of every node for each column of ``sources``.

        ``sources`` has shape ``(nodes, queries)`` and is not negative. Each column of the result
        sums to 1, or is 0 where its sources are. The L1 error is at most ``ERROR_BOUND``.
        """
        totals = sources.sum(axis=0)
        start = sources / np.where(totals > 0, totals, 1)
        if self.weights.shape[0] <= _DENSE_NODES:
            return self._solve(start)
        return self._iterate(start)

    @cached_property
    def _out_weight(self) -> NDArray[np.float64]:
        return np.asarray(self.weights.sum(axis=1), dtype=float)

    @cached_property
    def _dangling(self) -> NDArray[np.bool_]:
        return self._out_weight <= 0

    @cached_property
    def _transposed(self) -> csr_array:
        """Pᵀ, with empty columns for dangling nodes."""
        links = self.weights.tocoo()
        sources, targets = links.coords
        totals = np.where(self._dangling, 1, self._out_weight)
        # Divided one by one: the reciprocal of a very faint total is infinite.
        shares = links.data / totals[sources]
        return csr_array((shares, (targets, sources)), shape=links.shape)

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        size = self.weights.shape[0]
        return np.linalg.inv(np.eye(size) - self.damping * self._transposed.toarray()).astype(float)

    def _solve(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """The exact solution: with y = M⁻¹ s and u = M⁻¹ (equal shares), x = (1-d) y + d c u.

        c is the mass on dangling nodes; summing x over them gives c itself.
        """
        walked = (1 - self.damping) * (self._inverse @ start)
        returned = self._inverse @ _equal_shares(start)
        lost = walked[self._dangling].sum(axis=0)
        mass = lost / (1 - self.damping * returned[self._dangling].sum(axis=0))
        solution: NDArray[np.float64] = walked + self.damping * mass * returned
        return solution

    def _iterate(self, start: NDArray[np.float64]) -> NDArray[np.float64]:
        """Power iteration, whose L1 error is at most d / (1 - d) times the last change."""
        shares = _equal_shares(start)
        bound = ERROR_BOUND * (1 - self.damping) / self.damping if self.damping else np.inf
        scores, change = start, np.inf
        while change > bound:
            lost = scores[self._dangling].sum(axis=0)
            moved = self.damping * (self._transposed @ scores + lost * shares)
            following = moved + (1 - self.damping) * start
            change = float(np.abs(following - scores).sum(axis=0).max(initial=0))
            scores = following
        return scores


def _equal_shares(start: NDArray[np.float64]) -> NDArray[np.float64]:
    present = (start > 0).astype(float)
    shares: NDArray[np.float64] = present / np.maximum(present.sum(axis=0), 1)
    return shares
