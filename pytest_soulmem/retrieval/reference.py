"""The built-in retriever: similarity, personalised PageRank and action inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_soulmem.retrieval import actions
from pytest_soulmem.retrieval.columns import Column, Embed
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.pagerank import PageRank, link_weights
from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.ranking import Rankings, best, nothing, rounded, summed
from pytest_soulmem.retrieval.retriever import Query, Retrieval, Scored
from pytest_soulmem.retrieval.similarity import Array, Similarity, SubQueryScores, UnitScores
from pytest_soulmem.retrieval.walk import Walk

ASSOCIATION_TOP_K = 8
PRIORITY_WEIGHT = 0.05

_SCORES_AT_ONCE = 500_000
_SUB_QUERIES_AT_ONCE = 20
"""One block of sub-queries holds so many numbers per field, or so many sub-queries if that is more:
enough for fast products, and not much in vain where another process judges the next cases."""


@dataclass(frozen=True)
class Found:
    """What the sub-queries of a query found, a ranking each."""

    similar: Rankings
    merged: Rankings
    actions: Rankings


@dataclass(frozen=True)
class Begun:
    """How a query begins: how similar all is to each sub-query, the best, and walks from there."""

    query: Query
    fused: Array
    similar: Rankings
    walks: Sequence[Walk]


class ReferenceRetriever:
    """Retrieves from one graph, as the reference semantics say.

    ``embed(side, texts)`` gives L2-normalised vectors; ``memories`` are the graph's columns, if
    they are at hand.
    """

    def __init__(
        self, graph: Graph, embed: Embed, memories: Mapping[str, Column] | None = None
    ) -> None:
        self._graph = graph
        self._ids = [node.id for node in graph.nodes]
        self._similarity = Similarity(graph, embed, memories)
        self._links = link_weights(graph)
        self._pageranks: dict[float, PageRank] = {}
        self._triggers = actions.trigger_probabilities(graph)
        self._factors = actions.situation_factors(graph)
        self._expected: list[SubQuery] = []
        self._scored: dict[SubQuery, SubQueryScores] = {}
        self._judged: tuple[object, list[UnitScores]] = (None, [])
        self._latest: Begun | None = None

    def expect(self, sub_queries: Iterable[SubQuery]) -> None:
        """Announce sub-queries, in the order in which they will be asked.

        They are then scored together, in blocks, rather than one by one.
        """
        self._expected = list(dict.fromkeys([*self._expected, *sub_queries]))

    def retrieve(self, query: Query) -> Retrieval:
        """Answer one query."""
        found = self._found(query)
        full = query.mode == "full"
        return Retrieval(
            combined=self._merge(query, found.merged),
            per_query=self._rankings(found.merged if full else found.similar),
            actions=self._merge(query, found.actions) if full else None,
            similarity=self._rankings(found.similar),
        )

    def explain(self, query: Query, ids: Sequence[str]) -> list[Mapping[str, Mapping[str, float]]]:
        """Per sub-query, the channels of each id and the similarity and PageRank they led to."""
        at = np.array([self._graph.index[name] for name in ids], np.intp)
        if self._latest is None or self._latest.query != query:
            self._latest = self._begin(query)
        begun = self._latest
        explained: list[dict[str, Array]] = [
            scores.at(at).channels(query.weights) | {"similarity": fused[at]}
            for scores, fused in zip(self._scores(query.sub_queries), begun.fused, strict=True)
        ]
        if query.mode != "embedding":
            walked = self._pagerank(query).at(begun.walks, at)
            for shown, column in zip(explained, walked.T, strict=True):
                shown["pagerank"] = column
        return [_by_id(ids, shown) for shown in explained]

    def _found(self, query: Query) -> Found:
        # Kept, because a case is explained next; begun anew, so that no answer depends on it.
        begun = self._latest = self._begin(query)
        similar = begun.similar
        if query.mode == "embedding":
            return Found(similar, similar, nothing(similar.count))
        if query.mode == "association":
            walked = self._pagerank(query).best(begun.walks, query.max_results)
            return Found(similar, self._associate(query, similar, walked), nothing(similar.count))
        walked = self._pagerank(query).best(begun.walks, ASSOCIATION_TOP_K)
        union = similar.or_higher(walked)
        inferred = actions.infer(
            union, self._factors, self._triggers, actions.ACTIONS_PER_SUB_QUERY
        )
        return Found(similar, union.cut(query.max_results), inferred)

    def _pagerank(self, query: Query) -> PageRank:
        """The walk with the query's damping; a sweep over dampings makes each once."""
        damping = query.weights.damping
        if damping not in self._pageranks:
            self._pageranks[damping] = PageRank(self._links, damping)
        return self._pageranks[damping]

    def _begin(self, query: Query) -> Begun:
        scores = zip(self._scores(query.sub_queries), self._unit_scores(query), strict=True)
        fused = np.stack([own.blended(units, query.weights) for own, units in scores])
        similar = best(fused, query.max_results, query.similarity_threshold)
        walks = [] if query.mode == "embedding" else self._pagerank(query).walks(similar)
        return Begun(query, fused, similar, walks)

    def _associate(self, query: Query, similar: Rankings, walked: Rankings) -> Rankings:
        """Similarity and PageRank blended, over the union of their best."""
        share = query.weights.association
        blend = summed(
            np.concatenate([similar.owners, walked.owners]),
            np.concatenate([similar.positions, walked.positions]),
            np.concatenate([(1 - share) * similar.scores, share * walked.scores]),
            similar.count,
        )
        return blend.cut(query.max_results)

    def _merge(self, query: Query, found: Rankings) -> list[Scored]:
        """Merge the sub-queries' rankings: a higher priority lifts a ranking a little."""
        # Divided as integers, of any size.
        highest = max(sub.priority for sub in query.sub_queries) or 1
        lifts = np.array([PRIORITY_WEIGHT * (sub.priority / highest) for sub in query.sub_queries])
        keys = rounded(found.scores + lifts[found.owners])
        # Of equal keys of a node the earlier sub-query's stays.
        order = np.lexsort((found.owners, found.positions, -keys))
        kept = order[np.sort(np.unique(found.positions[order], return_index=True)[1])]
        kept = kept[: query.max_results]
        rows = (found.positions[kept], found.scores[kept], keys[kept])
        return [
            Scored(self._ids[at], score, key)
            for at, score, key in zip(*(row.tolist() for row in rows), strict=True)
        ]

    def _rankings(self, rankings: Rankings) -> list[list[Scored]]:
        return [
            [
                Scored(self._ids[at], score)
                for at, score in zip(own.positions.tolist(), own.scores.tolist(), strict=True)
            ]
            for own in rankings
        ]

    def _scores(self, sub_queries: Sequence[SubQuery]) -> list[SubQueryScores]:
        """The scores of sub-queries, from the block that is at hand if they are in it."""
        if any(sub not in self._scored for sub in sub_queries):
            block = list(dict.fromkeys([*sub_queries, *self._following(sub_queries[0])]))
            self._scored = dict(zip(block, self._similarity.scores(block), strict=True))
        return [self._scored[sub] for sub in sub_queries]

    def _unit_scores(self, query: Query) -> list[UnitScores]:
        """Those of the latest sub-queries are kept: most weight sets of a sweep share them."""
        asked = (query.sub_queries, query.weights.within_units)
        if self._judged[0] != asked:
            scores = self._scores(query.sub_queries)
            self._judged = asked, [own.unit_scores(query.weights) for own in scores]
        return self._judged[1]

    def _following(self, sub_query: SubQuery) -> list[SubQuery]:
        """The expected sub-queries from this one on, as many as one block may hold."""
        if sub_query not in self._expected:
            return []
        start = self._expected.index(sub_query)
        block = max(_SUB_QUERIES_AT_ONCE, _SCORES_AT_ONCE // len(self._graph))
        return self._expected[start : start + block]


def _by_id(ids: Sequence[str], channels: Mapping[str, Array]) -> dict[str, dict[str, float]]:
    # Rounded like the scores they led to, so that they too are the same in every process.
    rows = rounded(np.array([*channels.values()]).T).tolist()
    return {
        name: dict(zip(channels, row, strict=True)) for name, row in zip(ids, rows, strict=True)
    }
