"""The built-in retriever: similarity, personalised PageRank and action inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_soulmem.retrieval import actions
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.pagerank import PageRank, link_weights
from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.ranking import best, rounded
from pytest_soulmem.retrieval.retriever import Query, Retrieval, Scored
from pytest_soulmem.retrieval.similarity import Array, Embed, Similarity, SubQueryScores

ASSOCIATION_TOP_K = 8
ASSOCIATION_WEIGHT = 0.5
PRIORITY_WEIGHT = 0.05

_SCORES_AT_ONCE = 4_000_000
"""Numbers per field that one block of sub-queries may hold."""


@dataclass(frozen=True)
class Ranked:
    """Nodes by position, best first, with their scores."""

    positions: NDArray[np.intp]
    scores: Array

    @classmethod
    def cut(cls, scores: Array, limit: int, eligible: NDArray[np.bool_]) -> Ranked:
        """The best eligible nodes."""
        positions = best(scores, limit, eligible)
        return cls(positions, scores[positions])

    def spread(self, size: int) -> Array:
        """The scores over all nodes, 0 for those that are not ranked."""
        scores = np.zeros(size)
        scores[self.positions] = self.scores
        return scores


@dataclass(frozen=True)
class Found:
    """What one sub-query found."""

    similar: Ranked
    merged: Ranked
    actions: Ranked
    pagerank: Array


class ReferenceRetriever:
    """Retrieves from one graph, as the reference semantics say.

    ``embed(side, texts)`` gives L2-normalised vectors.
    """

    def __init__(self, graph: Graph, embed: Embed) -> None:
        self._graph = graph
        self._similarity = Similarity(graph, embed)
        self._pagerank = PageRank(link_weights(graph))
        self._triggers = actions.trigger_probabilities(graph)
        self._factors = actions.situation_factors(graph)
        self._expected: list[SubQuery] = []
        self._scored: dict[SubQuery, SubQueryScores] = {}

    def expect(self, sub_queries: Iterable[SubQuery]) -> None:
        """Announce sub-queries, in the order in which they will be asked.

        They are then scored together, in blocks, rather than one by one.
        """
        self._expected = list(dict.fromkeys([*self._expected, *sub_queries]))

    def retrieve(self, query: Query) -> Retrieval:
        """Answer one query."""
        found = self._found(query)
        own = [item.merged if query.mode == "full" else item.similar for item in found]
        return Retrieval(
            combined=self._merge(query, [item.merged for item in found]),
            per_query=[self._scored_ids(ranked) for ranked in own],
            actions=self._merge(query, [item.actions for item in found])
            if query.mode == "full"
            else None,
            similarity=[self._scored_ids(item.similar) for item in found],
        )

    def explain(self, query: Query, ids: Sequence[str]) -> list[Mapping[str, Mapping[str, float]]]:
        """Per sub-query, the channels of each id and the similarity and PageRank they led to."""
        positions = {name: self._graph.index[name] for name in ids}
        explained: list[Mapping[str, Mapping[str, float]]] = []
        for scores, found in zip(self._scores(query.sub_queries), self._found(query), strict=True):
            channels = scores.channels(query.weights) | {"similarity": scores.fused(query.weights)}
            if query.mode != "embedding":
                channels["pagerank"] = found.pagerank
            explained.append(
                {
                    name: {channel: float(values[at]) for channel, values in channels.items()}
                    for name, at in positions.items()
                }
            )
        return explained

    def _found(self, query: Query) -> list[Found]:
        size = len(self._graph)
        similar = []
        for scores in self._scores(query.sub_queries):
            fused = scores.fused(query.weights)
            eligible = np.isfinite(fused) & (fused >= query.similarity_threshold)
            similar.append(Ranked.cut(fused, query.max_results, eligible))
        nothing = Ranked(np.zeros(0, np.intp), np.zeros(0))
        if query.mode == "embedding":
            return [Found(ranked, ranked, nothing, np.zeros(0)) for ranked in similar]
        sources = np.column_stack([ranked.spread(size) for ranked in similar])
        walked = rounded(self._pagerank.scores(np.maximum(sources, 0)))
        if query.mode == "association":
            return [
                Found(ranked, self._associate(ranked, x, query.max_results), nothing, x)
                for ranked, x in zip(similar, walked.T, strict=True)
            ]
        return [
            self._full(ranked, x, query.max_results)
            for ranked, x in zip(similar, walked.T, strict=True)
        ]

    def _associate(self, similar: Ranked, pagerank: Array, limit: int) -> Ranked:
        """Similarity and PageRank half and half, over the union of their best."""
        size = len(self._graph)
        walked = Ranked.cut(pagerank, limit, pagerank > 0)
        blend = rounded(
            (1 - ASSOCIATION_WEIGHT) * similar.spread(size)
            + ASSOCIATION_WEIGHT * walked.spread(size)
        )
        return Ranked.cut(blend, limit, _union(size, similar, walked))

    def _full(self, similar: Ranked, pagerank: Array, limit: int) -> Found:
        """The higher of similarity and PageRank, and the actions that the situations suggest."""
        size = len(self._graph)
        associated = Ranked.cut(pagerank, ASSOCIATION_TOP_K, pagerank > 0)
        union = _union(size, similar, associated)
        higher = np.full(size, -np.inf)
        higher[similar.positions] = similar.scores
        higher[associated.positions] = np.maximum(higher[associated.positions], associated.scores)
        sources = np.where(union, np.maximum(higher, 0), 0)
        inferred = rounded(actions.infer(sources, self._factors, self._triggers))
        return Found(
            similar,
            Ranked.cut(higher, limit, union),
            Ranked.cut(inferred, actions.ACTIONS_PER_SUB_QUERY, inferred > 0),
            pagerank,
        )

    def _merge(self, query: Query, rankings: Sequence[Ranked]) -> list[Scored]:
        """Merge the sub-queries' rankings: a higher priority lifts a ranking a little."""
        highest = max(sub.priority for sub in query.sub_queries)
        size = len(self._graph)
        keys, scores = np.full(size, -np.inf), np.zeros(size)
        for sub, ranked in zip(query.sub_queries, rankings, strict=True):
            lift = PRIORITY_WEIGHT * sub.priority / highest if highest else 0.0
            lifted = rounded(ranked.scores + lift)
            # Strictly: of equal keys the earlier sub-query's stays.
            better = lifted > keys[ranked.positions]
            positions = ranked.positions[better]
            keys[positions] = lifted[better]
            scores[positions] = ranked.scores[better]
        return [
            Scored(self._graph.nodes[at].id, float(scores[at]), float(keys[at]))
            for at in best(keys, query.max_results, keys > -np.inf)
        ]

    def _scored_ids(self, ranked: Ranked) -> list[Scored]:
        return [
            Scored(self._graph.nodes[at].id, float(score))
            for at, score in zip(ranked.positions, ranked.scores, strict=True)
        ]

    def _scores(self, sub_queries: Sequence[SubQuery]) -> list[SubQueryScores]:
        """The scores of sub-queries, from the block that is at hand if they are in it."""
        if any(sub not in self._scored for sub in sub_queries):
            block = list(dict.fromkeys([*sub_queries, *self._following(sub_queries[0])]))
            self._scored = dict(zip(block, self._similarity.scores(block), strict=True))
        return [self._scored[sub] for sub in sub_queries]

    def _following(self, sub_query: SubQuery) -> list[SubQuery]:
        """The expected sub-queries from this one on, as many as one block may hold."""
        if sub_query not in self._expected:
            return []
        start = self._expected.index(sub_query)
        return self._expected[start : start + max(1, _SCORES_AT_ONCE // len(self._graph))]


def _union(size: int, *rankings: Ranked) -> NDArray[np.bool_]:
    union = np.zeros(size, np.bool_)
    for ranked in rankings:
        union[ranked.positions] = True
    return union
