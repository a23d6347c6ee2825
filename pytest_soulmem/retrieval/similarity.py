"""Similarity of every memory to a sub-query, channel by channel.

The embedding products do not depend on weights: they are made once, for many sub-queries at a
time, and every weight set of a sweep blends the same ones. All arrays run over the nodes of the
graph, in its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_soulmem.embedders import Side
from pytest_soulmem.retrieval import fields
from pytest_soulmem.retrieval.columns import (
    Column,
    Embed,
    column_texts,
    columns,
    multiply,
    vectors,
)
from pytest_soulmem.retrieval.fields import Fields
from pytest_soulmem.retrieval.graph import Graph, Node
from pytest_soulmem.retrieval.query import Concept, Deed, Scene, SubQuery
from pytest_soulmem.retrieval.strings import similarities
from pytest_soulmem.retrieval.weights import Weights

Array: TypeAlias = NDArray[np.float64]


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
class Names:
    """Identifiers of one field: node ``owners[i]`` has those mentioned from ``starts[i]`` on."""

    choices: Sequence[str]
    """The distinct ones."""
    mentions: NDArray[np.intp]
    """Positions in ``choices``, node by node."""
    owners: NDArray[np.intp]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, column: Column) -> Names:
        """The texts of a column."""
        entries = list(column.entries)
        choices = {text: at for at, text in enumerate(column_texts([column]))}
        mentions = [choices[text] for row in column.rows for text, _ in entries[row]]
        counts = [len(entries[row]) for row in column.rows]
        starts = np.cumsum([0, *counts[:-1]])
        return cls(list(choices), np.array(mentions), np.array(column.owners), starts)

    def lift(self, scores: Array, matches: Array) -> None:
        """Raise each owner's score to the best match, by choice, of its identifiers."""
        found = np.maximum.reduceat(matches[self.mentions], self.starts)
        scores[self.owners] = np.maximum(scores[self.owners], found)


class UnitScores(NamedTuple):
    """What the units of a sub-query say of each node, by the weights within them."""

    variant: Array | float
    """How well they match by meaning: their mean, 0 without units."""
    string: Array
    """The best match of exact identifiers; 0 where there are none."""
    channels: Mapping[str, Sequence[Array]]
    """What the match by meaning is made of, by name: one for each unit that has the channel."""


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

    def unit_scores(self, weights: Weights) -> UnitScores:
        """What the units say."""
        concepts = [concept_channels(unit) for unit in self.concepts]
        scenes = [scene_channels(unit, weights) for unit in self.scenes]
        scores = [concept_score(unit, weights) for unit in self.concepts]
        scores += [scene_score(channels) for channels in scenes]
        variant = sum(scores) / len(scores) if scores else 0.0
        by_name: dict[str, list[Array]] = {}
        for name, channel in chain.from_iterable(unit.items() for unit in (*concepts, *scenes)):
            by_name.setdefault(name, []).append(channel)
        return UnitScores(variant, self._string_score(weights), by_name)

    def channels(self, units: UnitScores, positions: NDArray[np.intp]) -> dict[str, Array]:
        """The channels of some nodes, by name; the mean over units where there are several."""
        shown = {} if self.tag is None else {"tag": self.tag.take(positions)}
        for name, channel in units.channels.items():
            own = [scores.take(positions) for scores in channel]
            shown[name] = own[0] if len(own) == 1 else _total(own) / len(own)
        return shown | {"string": units.string.take(positions)}

    def _string_score(self, weights: Weights) -> Array:
        best = self.string
        for deed in self.string_deeds:
            blended = deed.blend(weights)
            if blended is not None:
                best = np.maximum(best, blended)
        return best

    def blended(self, units: UnitScores, weights: Weights) -> Array:
        """The similarity of every node, before it is rounded."""
        if self.tag is None:
            score = np.zeros(len(units.string)) + units.variant
        else:
            blend = weights.tag * self.tag + weights.variant * units.variant
            # A missing channel must not pull the score down.
            score = np.where(self.has_tags, blend, units.variant)
        # The string channel only ever lifts, and few nodes have any.
        named = np.flatnonzero(units.string)
        own, string, alpha = score[named], units.string[named], weights.string_blend_alpha
        score[named] = np.maximum(own, alpha * own + (1 - alpha) * string)
        return score


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


def scene_score(channels: Mapping[str, Array]) -> Array | float:
    """The best channel, at least 0. A channel that a node lacks is 0 there and decides nothing."""
    best: Array | float = 0.0
    for scores in channels.values():
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
    return reduce(np.add, parts)


@dataclass(frozen=True)
class Matrix:
    """The vectors of one field: node ``i`` has ``vectors[rows[i]]``, or none past their end."""

    vectors: NDArray[np.float32]
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, column: Column, size: int, embed: Embed) -> Matrix:
        """The column of a graph of ``size`` nodes."""
        rows = np.full(size, len(column.entries))
        rows[column.owners] = column.rows
        return cls(vectors(column, "passage", embed), rows)

    def cosines(self, queries: NDArray[np.float32], absent: float) -> Array:
        """With every node; ``absent`` for those without; shape ``(queries, nodes)``."""
        found = np.full((len(queries), len(self.vectors) + 1), absent)
        multiply(queries, self.vectors, out=found[:, :-1])
        scores: Array = found.take(self.rows, axis=1)
        return scores


class Similarity:
    """The vectors and identifiers of one graph, ready to be compared with sub-queries.

    ``memories`` are the graph's columns, if they are at hand.
    """

    def __init__(
        self, graph: Graph, embed: Embed, memories: Mapping[str, Column] | None = None
    ) -> None:
        own = graph_columns(graph) if memories is None else memories
        self.size = len(graph)
        self._embed = embed
        self._matrices = {name: Matrix.of(own[name], self.size, embed) for name in own}
        self._has_tags = np.zeros(self.size, np.bool_)
        if fields.TAGS in own:
            self._has_tags[own[fields.TAGS].owners] = True
        identifiers = columns(map(_identifiers, graph.nodes))
        deeds = columns(map(_deed_identifiers, graph.nodes))
        self._names = {name: Names.of(column) for name, column in identifiers.items()}
        self._deed_names = {name: Names.of(column) for name, column in deeds.items()}

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
        for name, column in columns(given for given, _ in asked).items():
            side = asked[column.owners[0]][1]
            scores = self._cosines(name, vectors(column, side, self._embed))
            for owner, row in zip(column.owners, column.rows, strict=True):
                found[owner][name] = scores[row]
        return found

    def _cosines(self, name: str, queries: NDArray[np.float32]) -> Array:
        """Cosines with every node, 0 for those without the field; shape ``(queries, nodes)``."""
        if name == fields.IDENTIFIER:
            scores = self._cosines(fields.CONTENT, queries)
            if fields.ALIASES in self._matrices:
                aliases = self._matrices[fields.ALIASES].cosines(queries, absent=-np.inf)
                np.maximum(scores, aliases, out=scores)
            return scores
        if name in self._matrices:
            return self._matrices[name].cosines(queries, absent=0.0)
        return np.zeros((len(queries), self.size))

    def _string_scores(self, sub_queries: Sequence[SubQuery]) -> list[Array]:
        """Per sub-query the best match over all its names but those of events."""
        asked = [list(_names(sub)) for sub in sub_queries]
        best = [np.zeros(self.size) for _ in asked]
        for name, names in self._names.items():
            wanted = [[text for kind, text in own if kind == name] for own in asked]
            texts = list(dict.fromkeys(text for own in wanted for text in own))
            matches = dict(zip(texts, similarities(texts, names.choices), strict=True))
            for scores, own in zip(best, wanted, strict=True):
                for text in own:
                    names.lift(scores, matches[text])
        return best

    def _deeds(self, scenes: Sequence[Scene]) -> list[Deeds]:
        """The string scores of each event that is asked for."""
        if not self._deed_names:
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
        scores = np.zeros(self.size)
        if part in self._deed_names:
            names = self._deed_names[part]
            names.lift(scores, similarities([text], names.choices)[0])
        return scores


def graph_columns(graph: Graph) -> dict[str, Column]:
    """The fields of a graph's memories."""
    return columns(map(fields.node_fields, graph.nodes))


def texts_of(
    memories: Mapping[str, Column], sub_queries: Iterable[SubQuery]
) -> dict[Side, list[str]]:
    """The distinct texts that similarity needs, by side, in the order in which they appear."""
    passages = column_texts(memories.values())
    queries: dict[str, None] = {}
    for sub in sub_queries:
        passages |= fields.distinct_texts([fields.tag_fields(sub.tag)])
        units: list[Concept | Scene] = [*sub.concepts, *sub.scenes]
        queries |= fields.distinct_texts(map(_unit_fields, units))
    return {"passage": list(passages), "query": list(queries)}


def _unit_fields(unit: Concept | Scene) -> Fields:
    if isinstance(unit, Concept):
        return fields.concept_fields(unit)
    return fields.scene_fields(unit)


def _identifiers(node: Node) -> Fields:
    """The exact names of a memory, but those of events: of concepts and abstract situations."""
    if node.semantic:
        return fields.given({fields.IDENTIFIER: fields.concept_names(node.semantic)})
    if node.abstract and not node.abstract.event:
        return fields.given(fields.abstract_fields(node.abstract))
    return {}


def _deed_identifiers(node: Node) -> Fields:
    """The exact names in the event of an abstract situation."""
    if node.abstract and node.abstract.event:
        return fields.given(fields.abstract_fields(node.abstract))
    return {}


def _names(sub: SubQuery) -> Iterable[tuple[str, str]]:
    """The exact identifiers that a sub-query gives, by field."""
    for unit in sub.concepts:
        for text, _ in fields.concept_fields(unit).get(fields.IDENTIFIER, ()):
            yield fields.IDENTIFIER, text
    for scene in sub.scenes:
        given = fields.scene_fields(scene)
        for name in (fields.LOCATION_NAME, fields.PARTICIPANT_NAME, fields.ATMOSPHERE):
            for text, _ in given.get(name, ()):
                yield name, text
