"""Similarity of every memory to a sub-query, channel by channel.

The embedding products do not depend on weights: they are made once, for many sub-queries at a
time, and every weight set of a sweep blends the same ones. All arrays run over the nodes of the
graph, in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.embedders import Side
from pytest_soulmem.retrieval import fields
from pytest_soulmem.retrieval.fields import Fields, Texts
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.query import Concept, Deed, Scene, SubQuery
from pytest_soulmem.retrieval.ranking import rounded
from pytest_soulmem.retrieval.strings import similarities
from pytest_soulmem.retrieval.weights import Weights

Array: TypeAlias = NDArray[np.float64]
Embed: TypeAlias = Callable[[Side, Sequence[str]], NDArray[np.float32]]
"""Vectors of texts of one side, L2-normalised, shape ``(texts, dimension)``."""

_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class FieldMatrix:
    """The vectors of one field: ``vectors[i]``, of length 1 or 0, belongs to ``owners[i]``."""

    owners: NDArray[np.intp]
    vectors: NDArray[np.float32]


def field_matrix(owned: Sequence[tuple[int, Texts]], side: Side, embed: Embed) -> FieldMatrix:
    """The mean vector of each owner's texts."""
    blocks = [
        _mean_vectors([texts for _, texts in owned[start : start + _ROWS_AT_ONCE]], side, embed)
        for start in range(0, len(owned), _ROWS_AT_ONCE)
    ]
    vectors = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    return FieldMatrix(np.array([owner for owner, _ in owned], np.intp), vectors)


def _mean_vectors(rows: Sequence[Texts], side: Side, embed: Embed) -> NDArray[np.float32]:
    distinct = list(dict.fromkeys(text for texts in rows for text, _ in texts))
    column = {text: position for position, text in enumerate(distinct)}
    weights = csr_array(
        (
            np.array([weight for texts in rows for _, weight in texts], np.float32),
            (
                [row for row, texts in enumerate(rows) for _ in texts],
                [column[text] for texts in rows for text, _ in texts],
            ),
        ),
        shape=(len(rows), len(distinct)),
    )
    sums: NDArray[np.float32] = weights @ embed(side, distinct)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    sums /= np.where(lengths > 0, lengths, 1)
    return sums


@dataclass(frozen=True)
class Deeds:
    """Scores of the parts of an event that a unit gives; None for a part that it does not."""

    action: Array | None
    initiator: Array | None
    target: Array | None

    def blend(self, weights: Weights) -> Array | None:
        """One score per node, by the event weights."""
        if self.initiator is not None and self.target is not None:
            shares = (
                weights.sit_event_action,
                weights.sit_event_initiator,
                weights.sit_event_target,
            )
        elif self.initiator is not None:
            action = weights.sit_event_initiator_only_action
            shares = (action, 1 - action, 0.0)
        elif self.target is not None:
            action = weights.sit_event_target_only_action
            shares = (action, 0.0, 1 - action)
        else:
            return self.action
        parts = zip(shares, (self.action, self.initiator, self.target), strict=True)
        return _total([share * part for share, part in parts if part is not None])


@dataclass(frozen=True)
class Identifiers:
    """The exact names in a graph that the string channel compares with."""

    names: Mapping[str, tuple[Sequence[str], NDArray[np.intp]]]
    """Per field: texts and the nodes they belong to."""
    event_owners: NDArray[np.intp]
    event_parts: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, graph: Graph) -> Identifiers:
        """The identifiers of a graph: of concepts and of abstract situations."""
        names: dict[str, list[tuple[str, int]]] = {}
        events: list[tuple[int, Fields]] = []
        for position, node in enumerate(graph.nodes):
            given: Fields = {}
            if node.semantic:
                own = fields.node_fields(node)
                both = own.get(fields.CONTENT, []) + own.get(fields.ALIASES, [])
                given = {fields.IDENTIFIER: both}
            elif node.abstract and node.abstract.event:
                events.append((position, fields.abstract_fields(node.abstract)))
            elif node.abstract:
                given = fields.abstract_fields(node.abstract)
            for name, texts in given.items():
                names.setdefault(name, []).extend((text, position) for text, _ in texts)
        return cls(
            {
                name: ([text for text, _ in pairs], np.array([owner for _, owner in pairs], int))
                for name, pairs in names.items()
            },
            np.array([owner for owner, _ in events], int),
            {
                part: [own[part][0][0] if own.get(part) else "" for _, own in events]
                for part in (fields.ACTION, fields.INITIATOR, fields.TARGET)
            },
        )


@dataclass(frozen=True)
class SubQueryScores:
    """All that similarity needs of one sub-query, before any weight."""

    tag: Array | None
    """None where the sub-query has no tags."""
    concepts: Sequence[Mapping[str, Array]]
    scenes: Sequence[Mapping[str, Array]]
    """Per unit, the cosines of each field that it gives."""
    string: Array
    string_deeds: Sequence[Deeds]
    has_tags: NDArray[np.bool_]
    """Which nodes have tags."""

    def channels(self, weights: Weights) -> dict[str, Array]:
        """The blended channels by name; the mean over units where there are several."""
        shown: dict[str, Array] = {} if self.tag is None else {"tag": self.tag}
        units = [concept_channels(unit) for unit in self.concepts]
        units += [scene_channels(unit, weights) for unit in self.scenes]
        for name in dict.fromkeys(name for unit in units for name in unit):
            present = [unit[name] for unit in units if name in unit]
            shown[name] = np.mean(present, axis=0)
        return shown | {"string": self.string_score(weights)}

    def variant_score(self, weights: Weights) -> Array | float:
        """The score by the units alone: their mean, 0 without units."""
        scores = [concept_score(unit, weights) for unit in self.concepts]
        scores += [scene_score(unit, weights) for unit in self.scenes]
        return sum(scores) / len(scores) if scores else 0.0

    def string_score(self, weights: Weights) -> Array:
        """The best match of exact identifiers; 0 where there are none."""
        best = self.string
        for deed in self.string_deeds:
            blended = deed.blend(weights)
            if blended is not None:
                best = np.maximum(best, blended)
        return best

    def fused(self, weights: Weights) -> Array:
        """The similarity of every node, rounded."""
        variant = self.variant_score(weights)
        score: Array | float = variant
        if self.tag is not None:
            blended = weights.tag * self.tag + weights.variant * variant
            # A missing channel must not pull the score down.
            score = np.where(self.has_tags, blended, variant)
        string = self.string_score(weights)
        alpha = weights.string_blend_alpha
        # The string channel only ever lifts.
        lifted = np.maximum(score, alpha * score + (1 - alpha) * string)
        return rounded(np.where(string > 0, lifted, score))


def concept_channels(unit: Mapping[str, Array]) -> dict[str, Array]:
    """The channels of a Semantic unit."""
    names = {"concept": fields.IDENTIFIER, "description": fields.DESCRIPTION}
    return {shown: unit[name] for shown, name in names.items() if name in unit}


def concept_score(unit: Mapping[str, Array], weights: Weights) -> Array | float:
    """Concept against description; one alone where the unit gives one."""
    blended = _pair(
        unit,
        (fields.IDENTIFIER, weights.sem_concept),
        (fields.DESCRIPTION, weights.sem_description),
    )
    return 0.0 if blended is None else blended


def scene_channels(unit: Mapping[str, Array], weights: Weights) -> dict[str, Array]:
    """The blended channels of a Situation unit that it gives."""
    channels = {
        "narrative": unit.get(fields.NARRATIVE),
        "location": _pair(
            unit,
            (fields.LOCATION_NAME, weights.sit_location_name),
            (fields.LOCATION_COORDINATES, weights.sit_location_coord),
        ),
        "participants": _pair(
            unit,
            (fields.PARTICIPANT_NAME, weights.sit_participant_name),
            (fields.PARTICIPANT_ROLE, weights.sit_participant_role),
        ),
        "environment": _pair(
            unit,
            (fields.ATMOSPHERE, weights.sit_env_atmosphere),
            (fields.TONE, weights.sit_env_tone),
        ),
        "event": Deeds(
            unit.get(fields.ACTION), unit.get(fields.INITIATOR), unit.get(fields.TARGET)
        ).blend(weights),
    }
    return {name: scores for name, scores in channels.items() if scores is not None}


def scene_score(unit: Mapping[str, Array], weights: Weights) -> Array | float:
    """The best channel, at least 0. A channel that a node lacks is 0 there and decides nothing."""
    best: Array | float = 0.0
    for scores in scene_channels(unit, weights).values():
        best = np.maximum(best, scores)
    return best


def _pair(
    unit: Mapping[str, Array], first: tuple[str, float], second: tuple[str, float]
) -> Array | None:
    """Two parts by their weights, or the one that is given, alone."""
    given = [(unit[name], weight) for name, weight in (first, second) if name in unit]
    if len(given) == 1:
        return given[0][0]
    return _total([weight * scores for scores, weight in given]) if given else None


def _total(parts: Sequence[Array]) -> Array:
    total: Array = np.sum(parts, axis=0)
    return total


class Similarity:
    """The vectors and identifiers of one graph, ready to be compared with sub-queries."""

    def __init__(self, graph: Graph, embed: Embed) -> None:
        self.size = len(graph)
        self._embed = embed
        self._identifiers = Identifiers.of(graph)
        owned: dict[str, list[tuple[int, Texts]]] = {}
        for position, node in enumerate(graph.nodes):
            for name, texts in fields.node_fields(node).items():
                owned.setdefault(name, []).append((position, texts))
        self._matrices = {
            name: field_matrix(rows, "passage", embed) for name, rows in owned.items()
        }
        self._has_tags = np.zeros(self.size, np.bool_)
        if fields.TAGS in self._matrices:
            self._has_tags[self._matrices[fields.TAGS].owners] = True

    def scores(self, sub_queries: Sequence[SubQuery]) -> list[SubQueryScores]:
        """The scores of several sub-queries: one matrix product per field for all of them."""
        tags = self._products([(fields.tag_fields(sub.tag), "passage") for sub in sub_queries])
        concepts = self._unit_scores([sub.concepts for sub in sub_queries])
        scenes = self._unit_scores([sub.scenes for sub in sub_queries])
        strings = self._string_scores(sub_queries)
        return [
            SubQueryScores(
                tag=tags[position].get(fields.TAGS),
                concepts=concepts[position],
                scenes=scenes[position],
                string=strings[position],
                string_deeds=self._deeds(sub.scenes),
                has_tags=self._has_tags,
            )
            for position, sub in enumerate(sub_queries)
        ]

    def _unit_scores(
        self, groups: Sequence[Sequence[Concept | Scene]]
    ) -> list[list[dict[str, Array]]]:
        units: list[Concept | Scene] = [unit for group in groups for unit in group]
        scored = iter(self._products([(_unit_fields(unit), "query") for unit in units]))
        return [[next(scored) for _ in group] for group in groups]

    def _products(self, asked: Sequence[tuple[Fields, Side]]) -> list[dict[str, Array]]:
        """Cosines of each asked set of fields with every node, by field."""
        found: list[dict[str, Array]] = [{} for _ in asked]
        for name in dict.fromkeys(name for given, _ in asked for name in given):
            rows = [(row, given[name]) for row, (given, _) in enumerate(asked) if name in given]
            queries = field_matrix(rows, asked[rows[0][0]][1], self._embed)
            scores = self._cosines(name, queries.vectors)
            for row, values in zip(queries.owners, scores, strict=True):
                found[row][name] = values
        return found

    def _cosines(self, name: str, queries: NDArray[np.float32]) -> Array:
        """Cosines with every node, 0 for those without the field; shape ``(queries, nodes)``."""
        scores = np.zeros((len(queries), self.size))
        if name != fields.IDENTIFIER:
            if name in self._matrices:
                matrix = self._matrices[name]
                scores[:, matrix.owners] = queries @ matrix.vectors.T
            return scores
        scores = self._cosines(fields.CONTENT, queries)
        if fields.ALIASES in self._matrices:
            matrix = self._matrices[fields.ALIASES]
            aliases = queries @ matrix.vectors.T
            scores[:, matrix.owners] = np.maximum(scores[:, matrix.owners], aliases)
        return scores

    def _string_scores(self, sub_queries: Sequence[SubQuery]) -> list[Array]:
        """Per sub-query the best match over all its names but those of events."""
        asked = [list(_names(sub)) for sub in sub_queries]
        best = [np.zeros(self.size) for _ in asked]
        for name, (choices, owners) in self._identifiers.names.items():
            wanted = [[text for kind, text in names if kind == name] for names in asked]
            texts = list(dict.fromkeys(text for own in wanted for text in own))
            matches = dict(zip(texts, similarities(texts, choices), strict=True))
            for scores, own in zip(best, wanted, strict=True):
                for text in own:
                    np.maximum.at(scores, owners, matches[text])
        return best

    def _deeds(self, scenes: Sequence[Scene]) -> list[Deeds]:
        """The string scores of each event that is asked for."""
        if not len(self._identifiers.event_owners):
            return []
        return [self._deed(deed) for scene in scenes for deed in scene.event or ()]

    def _deed(self, deed: Deed) -> Deeds:
        return Deeds(
            self._part(fields.ACTION, deed.action),
            self._part(fields.INITIATOR, deed.initiator),
            self._part(fields.TARGET, deed.target),
        )

    def _part(self, part: str, text: str | None) -> Array | None:
        if not text:
            return None
        choices = self._identifiers.event_parts[part]
        scores = np.zeros(self.size)
        matches = similarities([text], choices)[0]
        scores[self._identifiers.event_owners] = np.where([bool(c) for c in choices], matches, 0)
        return scores


def texts_of(graph: Graph, sub_queries: Iterable[SubQuery]) -> dict[Side, list[str]]:
    """The distinct texts that similarity needs, by side, in the order in which they appear."""
    passages = [fields.node_fields(node) for node in graph.nodes]
    queries: list[Fields] = []
    for sub in sub_queries:
        passages.append(fields.tag_fields(sub.tag))
        queries += [fields.concept_fields(unit) for unit in sub.concepts]
        queries += [fields.scene_fields(unit) for unit in sub.scenes]
    return {"passage": _distinct(passages), "query": _distinct(queries)}


def _unit_fields(unit: Concept | Scene) -> Fields:
    if isinstance(unit, Concept):
        return fields.concept_fields(unit)
    return fields.scene_fields(unit)


def _distinct(groups: Iterable[Fields]) -> list[str]:
    return list(
        dict.fromkeys(text for group in groups for texts in group.values() for text, _ in texts)
    )


def _names(sub: SubQuery) -> Iterable[tuple[str, str]]:
    """The exact identifiers that a sub-query gives, by field."""
    for unit in sub.concepts:
        for text, _ in fields.concept_fields(unit).get(fields.IDENTIFIER, []):
            yield fields.IDENTIFIER, text
    for scene in sub.scenes:
        given = fields.scene_fields(scene)
        for name in (fields.LOCATION_NAME, fields.PARTICIPANT_NAME, fields.ATMOSPHERE):
            for text, _ in given.get(name, []):
                yield name, text
