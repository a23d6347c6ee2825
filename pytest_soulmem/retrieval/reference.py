"""The built-in retriever: similarity, personalised PageRank and action inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pytest_soulmem.retrieval import actions
from pytest_soulmem.retrieval.columns import Column, Embed
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.pagerank import PageRank, link_weights
from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.ranking import Rankings, best, nothing, rounded, summed
from pytest_soulmem.retrieval.retriever import Explained, Query, Retrieval, Scored
from pytest_soulmem.retrieval.similarity import Array, Similarity, SubQueryScores, UnitScores
from pytest_soulmem.retrieval.walk import Walk

ASSOCIATION_TOP_K = 8
PRIORITY_WEIGHT = 0.05

_SCORES_AT_ONCE = 200_000
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
    """How a query begins: how similar all is to each sub-query, the best, and walks from there.

    ``scores`` are what ``fused`` was blended from.
    """

    query: Query
    scores: Sequence[tuple[SubQueryScores, UnitScores]]
    fused: Array
    similar: Rankings
    walks: Sequence[Walk]


@dataclass(frozen=True)
class LedTo:
    """What the channels of a query led to for some nodes.

    ``scores`` are rounded, of shape ``(names, sub-queries, nodes)``; the names are similarity and,
    where anything is associated, pagerank.
    """

    begun: Begun
    ids: Sequence[str]
    positions: NDArray[np.intp]
    names: Sequence[str]
    scores: Array

    def best(self) -> list[int]:
        """Per node, the sub-query that found it best: of equals the first."""
        best: list[int] = self.scores.max(axis=0).argmax(axis=0).tolist()
        return best


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

    def explain(self, query: Query, ids: Sequence[str]) -> Explained:
        """Per sub-query, the channels of each id and the similarity and PageRank they led to."""
        everything = [range(len(ids))] * len(query.sub_queries)
        return self._explained(self._led_to(query, ids), everything)

    def explain_shown(
        self, query: Query, combined: Sequence[str], own: Mapping[int, Sequence[str]]
    ) -> Explained:
        """What reports show of :meth:`explain`, at the cost of that.

        Each id of ``combined`` in the sub-query that found it best, those of ``own`` in theirs.
        """
        place = {
            name: at for at, name in enumerate(dict.fromkeys([*combined, *chain(*own.values())]))
        }
        led_to = self._led_to(query, list(place))
        best = led_to.best()
        shown = [
            dict.fromkeys(place[name] for name in own.get(q, ()))
            for q in range(len(query.sub_queries))
        ]
        for name in combined:
            shown[best[place[name]]][place[name]] = None
        return self._explained(led_to, [list(places) for places in shown])

    def _led_to(self, query: Query, ids: Sequence[str]) -> LedTo:
        if self._latest is None or self._latest.query != query:
            self._latest = self._begin(query)
        begun = self._latest
        at = np.array([self._graph.index[name] for name in ids], np.intp)
        scores = [begun.fused[:, at]]
        if query.mode != "embedding":
            scores.append(self._pagerank(query).at(begun.walks, at).T)
        names = ("similarity", "pagerank")[: len(scores)]
        return LedTo(begun, ids, at, names, rounded(np.array(scores)))

    def _explained(self, led_to: LedTo, shown: Sequence[Sequence[int]]) -> Explained:
        """Per sub-query, the channels of those nodes, by their places, that are shown of it."""
        channels = [
            scores.channels(units, led_to.positions[places]) if places else {}
            for (scores, units), places in zip(led_to.begun.scores, shown, strict=True)
        ]
        # Rounded like the scores they led to, so that they too are the same in every process: all
        # together, because rounding takes as long for one number as for a hundred.
        columns = [column for own in channels for column in own.values()]
        rest = rounded(np.concatenate([np.zeros(0), *columns])).tolist()
        scores = led_to.scores.tolist()
        explained = []
        for q, (own, places) in enumerate(zip(channels, shown, strict=True)):
            ids = [led_to.ids[place] for place in places]
            end = len(own) * len(places)
            numbers, rest = rest[:end], rest[end:]
            numbers += [rows[q][place] for rows in scores for place in places]
            explained.append(_by_id(ids, [*own, *led_to.names], numbers))
        return explained

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
        scores = list(zip(self._scores(query.sub_queries), self._unit_scores(query), strict=True))
        fused = np.stack([own.blended(units, query.weights) for own, units in scores])
        similar = best(fused, query.max_results, query.similarity_threshold)
        walks = [] if query.mode == "embedding" else self._pagerank(query).walks(similar)
        return Begun(query, scores, fused, similar, walks)

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


def _by_id(
    ids: Sequence[str], channels: Sequence[str], numbers: Sequence[float]
) -> dict[str, dict[str, float]]:
    """The channels of each id; the numbers come channel by channel."""
    return {
        name: dict(zip(channels, numbers[place :: len(ids)], strict=True))
        for place, name in enumerate(ids)
    }
