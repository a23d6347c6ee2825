"""The built-in retriever: similarity, personalised PageRank and action inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pytest_soulmem.retrieval import actions
from pytest_soulmem.retrieval.columns import Column, Embed
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.pagerank import PageRank, link_weights
from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.ranking import NOTHING, Ranked, best, rounded
from pytest_soulmem.retrieval.retriever import Explained, Query, Retrieval, Scored
from pytest_soulmem.retrieval.similarity import Array, Similarity, SubQueryScores
from pytest_soulmem.retrieval.walk import Walk

ASSOCIATION_TOP_K = 8
PRIORITY_WEIGHT = 0.05

_SCORES_AT_ONCE = 2_000_000
"""Numbers per field that one block of sub-queries may hold."""


@dataclass(frozen=True)
class Found:
    """What one sub-query found."""

    similar: Ranked
    merged: Ranked
    actions: Ranked


@dataclass(frozen=True)
class Begun:
    """How a query begins: how similar all is to each sub-query, the best, and walks from there."""

    query: Query
    fused: Sequence[Array]
    similar: Sequence[Ranked]
    walks: Sequence[Walk]


@dataclass(frozen=True)
class LedTo:
    """What the channels of a query led to for some nodes.

    ``scores`` are similarity and PageRank, rounded, of shape ``(sub-queries, nodes)``.
    """

    ids: Sequence[str]
    positions: NDArray[np.intp]
    scores: Mapping[str, Array]

    def best(self) -> list[int]:
        """Per node, the sub-query that found it best: of equals the first."""
        best: list[int] = reduce(np.maximum, self.scores.values()).argmax(axis=0).tolist()
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
        self._similarity = Similarity(graph, embed, memories)
        self._links = link_weights(graph)
        self._pageranks: dict[float, PageRank] = {}
        self._triggers = actions.trigger_probabilities(graph)
        self._factors = actions.situation_factors(graph)
        self._expected: list[SubQuery] = []
        self._scored: dict[SubQuery, SubQueryScores] = {}
        self._latest: Begun | None = None

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

    def explain(self, query: Query, ids: Sequence[str]) -> Explained:
        """Per sub-query, the channels of each id and the similarity and PageRank they led to."""
        return self._explained(
            query, self._led_to(query, ids), [range(len(ids))] * len(query.sub_queries)
        )

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
        return self._explained(query, led_to, [list(places) for places in shown])

    def _led_to(self, query: Query, ids: Sequence[str]) -> LedTo:
        if self._latest is None or self._latest.query != query:
            self._latest = self._begin(query)
        at = np.array([self._graph.index[name] for name in ids], np.intp)
        scores = {"similarity": rounded(np.array([fused[at] for fused in self._latest.fused]))}
        if query.mode != "embedding":
            scores["pagerank"] = self._pagerank(query).at(self._latest.walks, at).T
        return LedTo(ids, at, scores)

    def _explained(self, query: Query, led_to: LedTo, shown: Sequence[Sequence[int]]) -> Explained:
        """Per sub-query, the channels of those nodes, by their places, that are shown of it."""
        channels = [
            scores.at(led_to.positions[places]).channels(query.weights) if places else {}
            for scores, places in zip(self._scores(query.sub_queries), shown, strict=True)
        ]
        # Rounded like the scores they led to, so that they too are the same in every process: all
        # together, because rounding takes as long for one number as for a hundred.
        columns = [column for own in channels for column in own.values()]
        rest = rounded(np.concatenate([np.zeros(0), *columns])).tolist()
        scores = [rows.tolist() for rows in led_to.scores.values()]
        explained = []
        for q, (own, places) in enumerate(zip(channels, shown, strict=True)):
            ids = [led_to.ids[place] for place in places]
            end = len(own) * len(places)
            numbers, rest = rest[:end], rest[end:]
            numbers += [rows[q][place] for rows in scores for place in places]
            explained.append(_by_id(ids, [*own, *led_to.scores], numbers))
        return explained

    def _found(self, query: Query) -> list[Found]:
        # Kept, because a case is explained next; begun anew, so that no answer depends on it.
        begun = self._latest = self._begin(query)
        if query.mode == "embedding":
            return [Found(ranked, ranked, NOTHING) for ranked in begun.similar]
        full = query.mode == "full"
        limit = ASSOCIATION_TOP_K if full else query.max_results
        walked = self._pagerank(query).best(begun.walks, limit)
        combine = self._full if full else self._associate
        return [
            combine(ranked, associated, query)
            for ranked, associated in zip(begun.similar, walked, strict=True)
        ]

    def _pagerank(self, query: Query) -> PageRank:
        """The walk with the query's damping; a sweep over dampings makes each once."""
        damping = query.weights.damping
        if damping not in self._pageranks:
            self._pageranks[damping] = PageRank(self._links, damping)
        return self._pageranks[damping]

    def _begin(self, query: Query) -> Begun:
        fused = [scores.fused(query.weights) for scores in self._scores(query.sub_queries)]
        similar = [best(own, query.max_results, query.similarity_threshold) for own in fused]
        sources = [Ranked(one.positions, np.maximum(one.scores, 0)) for one in similar]
        walks = [] if query.mode == "embedding" else self._pagerank(query).walks(sources)
        return Begun(query, fused, similar, walks)

    def _associate(self, similar: Ranked, associated: Ranked, query: Query) -> Found:
        """Similarity and PageRank blended, over the union of their best."""
        share = query.weights.association
        positions = np.union1d(similar.positions, associated.positions)
        blend = np.zeros(len(positions))
        for weight, ranked in ((1 - share, similar), (share, associated)):
            blend[np.searchsorted(positions, ranked.positions)] += weight * ranked.scores
        return Found(similar, best(blend, query.max_results).numbered(positions), NOTHING)

    def _full(self, similar: Ranked, associated: Ranked, query: Query) -> Found:
        """The higher of similarity and PageRank, and the actions that the situations suggest."""
        union = similar.or_higher(associated)
        return Found(
            similar,
            Ranked(union.positions[: query.max_results], union.scores[: query.max_results]),
            actions.infer(union, self._factors, self._triggers, actions.ACTIONS_PER_SUB_QUERY),
        )

    def _merge(self, query: Query, rankings: Sequence[Ranked]) -> list[Scored]:
        """Merge the sub-queries' rankings: a higher priority lifts a ranking a little."""
        highest = max(sub.priority for sub in query.sub_queries)
        merged: dict[int, tuple[float, float]] = {}
        for sub, ranked in zip(query.sub_queries, rankings, strict=True):
            lift = PRIORITY_WEIGHT * sub.priority / highest if highest else 0.0
            keys = rounded(ranked.scores + lift).tolist()
            rows = zip(ranked.positions.tolist(), keys, ranked.scores.tolist(), strict=True)
            for at, key, score in rows:
                # Of equal keys the earlier sub-query's stays.
                if at not in merged or key > merged[at][0]:
                    merged[at] = (key, score)
        order = sorted(merged, key=lambda at: (-merged[at][0], at))[: query.max_results]
        return [Scored(self._graph.nodes[at].id, merged[at][1], merged[at][0]) for at in order]

    def _scored_ids(self, ranked: Ranked) -> list[Scored]:
        return [
            Scored(self._graph.nodes[at].id, score)
            for at, score in zip(ranked.positions.tolist(), ranked.scores.tolist(), strict=True)
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


def _by_id(
    ids: Sequence[str], channels: Sequence[str], numbers: Sequence[float]
) -> dict[str, dict[str, float]]:
    """The channels of each id; the numbers come channel by channel."""
    return {
        name: dict(zip(channels, numbers[place :: len(ids)], strict=True))
        for place, name in enumerate(ids)
    }
