"""Retrieval as one would write it first: loops over nodes and links, nothing shared.

What the package is measured against. It is given every node's vectors, and scores every node for
every sub-query and weight set anew. It knows what :mod:`generate` makes and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from rapidfuzz.distance import JaroWinkler, Levenshtein

from pytest_soulmem.retrieval import fields
from pytest_soulmem.retrieval.fields import Fields
from pytest_soulmem.retrieval.graph import Graph, Node
from pytest_soulmem.retrieval.pagerank import DAMPING, link_weight
from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.weights import Weights

Vectors = Mapping[str, np.ndarray]
VectorOf = Callable[[str, str], np.ndarray]
"""The vector of a text, by side."""

ROUNDS = 40


def mean_vectors(given: Fields, side: str, vector: VectorOf) -> Vectors:
    """The mean vector of each field."""
    means = {}
    for name, texts in given.items():
        total = sum(weight * vector(side, text) for text, weight in texts)
        means[name] = total / np.linalg.norm(total)
    return means


class PlainRetriever:
    """Scores node by node."""

    def __init__(self, graph: Graph, vector: VectorOf) -> None:
        self.graph = graph
        self.vector = vector
        self.nodes = [
            mean_vectors(fields.node_fields(node), "passage", vector) for node in graph.nodes
        ]

    def similarity(self, sub: SubQuery, weights: Weights) -> list[float]:
        """The fused similarity of every node."""
        tags = mean_vectors(fields.tag_fields(sub.tag), "passage", self.vector)
        units = [fields.concept_fields(unit) for unit in sub.concepts]
        units += [fields.scene_fields(unit) for unit in sub.scenes]
        asked = [mean_vectors(unit, "query", self.vector) for unit in units]
        return [
            self._fused(node, own, units, asked, tags, weights)
            for node, own in zip(self.graph.nodes, self.nodes, strict=True)
        ]

    def _fused(
        self,
        node: Node,
        own: Vectors,
        units: Sequence[Fields],
        asked: Sequence[Vectors],
        tags: Vectors,
        weights: Weights,
    ) -> float:
        scores = [_unit_score(own, unit, weights) for unit in asked]
        score = sum(scores) / len(scores) if scores else 0.0
        if tags and fields.TAGS in own:
            score = weights.tag * float(tags[fields.TAGS] @ own[fields.TAGS]) + (
                weights.variant * score
            )
        string = max((_string_score(node, unit, weights) for unit in units), default=0.0)
        if string > 0:
            alpha = weights.string_blend_alpha
            score = max(score, alpha * score + (1 - alpha) * string)
        return round(score, 6)

    def associate(self, sources: Mapping[int, float]) -> list[float]:
        """PageRank by power iteration, link by link."""
        total = sum(sources.values())
        start = {node: score / total for node, score in sources.items()}
        scores = [start.get(node, 0.0) for node in range(len(self.graph))]
        for _ in range(ROUNDS):
            following = [(1 - DAMPING) * start.get(at, 0.0) for at in range(len(self.graph))]
            for at, node in enumerate(self.graph.nodes):
                links = [link for link in node.mem_links if not self.graph[link.target].procedure]
                shares = [link_weight(link) for link in links]
                if not links:
                    for source in start:
                        following[source] += DAMPING * scores[at] / len(start)
                for link, share in zip(links, shares, strict=True):
                    target = self.graph.index[link.target]
                    following[target] += DAMPING * scores[at] * share / sum(shares)
            scores = following
        return scores

    def retrieve(self, sub: SubQuery, weights: Weights, limit: int) -> list[int]:
        """The similarity result of one sub-query, after associating from it."""
        similarity = self.similarity(sub, weights)
        order = sorted(range(len(similarity)), key=lambda at: -similarity[at])
        similar = [at for at in order if similarity[at] >= 0][:limit]
        self.associate({at: similarity[at] for at in similar if similarity[at] > 0})
        return similar


def _unit_score(own: Vectors, unit: Vectors, weights: Weights) -> float:
    def cosine(name: str, mine: str = "") -> float:
        mine = mine or name
        return float(own[mine] @ unit[name]) if name in unit and mine in own else 0.0

    if fields.IDENTIFIER in unit:
        concept = cosine(fields.IDENTIFIER, fields.CONTENT)
        if fields.ALIASES in own:
            concept = max(concept, cosine(fields.IDENTIFIER, fields.ALIASES))
        description = cosine(fields.DESCRIPTION)
        return weights.sem_concept * concept + weights.sem_description * description
    share = weights.sit_event_initiator_only_action
    deed = share * cosine(fields.ACTION) + (1 - share) * cosine(fields.INITIATOR)
    names = (
        fields.NARRATIVE, fields.LOCATION_NAME, fields.PARTICIPANT_NAME, fields.ATMOSPHERE,
    )  # fmt: skip
    return max(0.0, deed, *(cosine(name) for name in names))


def _string_score(node: Node, unit: Fields, weights: Weights) -> float:
    if node.semantic and fields.IDENTIFIER in unit:
        names = [node.semantic.content, *node.semantic.aliases]
        return max(_alike(unit[fields.IDENTIFIER][0][0], name) for name in names)
    if not node.abstract:
        return 0.0
    own = fields.abstract_fields(node.abstract)

    def match(name: str) -> float:
        both = name in unit and own.get(name)
        return _alike(unit[name][0][0], own[name][0][0]) if both else 0.0

    if node.abstract.event:
        share = weights.sit_event_initiator_only_action
        return share * match(fields.ACTION) + (1 - share) * match(fields.INITIATOR)
    names = (fields.LOCATION_NAME, fields.PARTICIPANT_NAME, fields.ATMOSPHERE)
    return max(match(name) for name in names)


def _alike(first: str, second: str) -> float:
    return max(
        JaroWinkler.similarity(first, second), Levenshtein.normalized_similarity(first, second)
    )
