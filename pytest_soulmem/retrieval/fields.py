"""Which texts of a memory or a sub-query make which vector.

A field is a list of weighted texts; its vector is their weighted mean. Empty texts count as
absent and do not appear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pytest_soulmem.retrieval.graph import (
    AbstractSituation,
    Event,
    Location,
    Node,
    Participant,
    SemanticMemory,
    SpecificSituation,
)
from pytest_soulmem.retrieval.query import Concept, Deed, Person, Scene, SubQuery

Texts: TypeAlias = tuple[tuple[str, float], ...]
Fields: TypeAlias = dict[str, Texts]

TAGS = "tags"
CONTENT = "content"
ALIASES = "aliases"
DESCRIPTION = "description"
NARRATIVE = "narrative"
LOCATION_NAME = "location_name"
LOCATION_COORDINATES = "location_coordinates"
PARTICIPANT_NAME = "participant_name"
PARTICIPANT_ROLE = "participant_role"
ATMOSPHERE = "atmosphere"
TONE = "tone"
ACTION = "action"
INITIATOR = "initiator"
TARGET = "target"

IDENTIFIER = "concept_identifier"
"""A field of sub-queries only: compared with both ``content`` and ``aliases``."""


def node_fields(node: Node) -> Fields:
    """The fields of a memory."""
    fields = {TAGS: _texts(node.tags)}
    if node.semantic:
        fields |= _semantic_fields(node.semantic)
    elif node.specific:
        fields |= _specific_fields(node.specific)
    elif node.abstract:
        own = given(abstract_fields(node.abstract))
        # A narrative is compared with all that the pattern says of itself.
        fields |= own | {NARRATIVE: tuple(text for texts in own.values() for text in texts)}
    return given(fields)


def tag_fields(tags: Sequence[str]) -> Fields:
    """The tag field of a sub-query."""
    return given({TAGS: _texts(tags)})


def concept_fields(unit: Concept) -> Fields:
    """The fields of a unit of a Semantic sub-query."""
    return given({IDENTIFIER: _text(unit.concept_identifier), DESCRIPTION: _text(unit.description)})


def scene_fields(unit: Scene) -> Fields:
    """The fields of a unit of a Situation sub-query."""
    mood = unit.environment
    return given(
        {
            NARRATIVE: _text(unit.narrative),
            **_location_fields(unit.location or ()),
            **_participant_fields(unit.participants or ()),
            ATMOSPHERE: _text(mood.atmosphere if mood else None),
            TONE: _text(mood.tone if mood else None),
            **_event_fields(unit.event or ()),
        }
    )


def abstract_fields(memory: AbstractSituation) -> Fields:
    """The structured fields of an abstract situation."""
    if memory.location:
        return _location_fields([memory.location])
    if memory.participant:
        return _participant_fields([memory.participant])
    if memory.environment:
        mood = memory.environment
        return {ATMOSPHERE: _text(mood.atmosphere), TONE: _text(mood.tone)}
    return _event_fields([memory.event] if memory.event else [])


def concept_names(memory: SemanticMemory) -> Texts:
    """What a concept is called: its content and its aliases."""
    return _text(memory.content) + _texts(memory.aliases)


def node_texts(node: Node) -> list[str]:
    """Every text of a memory: tags, then its fields; for systems that work on plain text."""
    if node.procedure:
        return [*node.tags, node.procedure.action.content]
    return list(distinct_texts([node_fields(node)]))


def sub_query_texts(sub_query: SubQuery) -> list[str]:
    """Every text of a sub-query: tags, then the fields of its units."""
    units = [concept_fields(unit) for unit in sub_query.concepts]
    units += [scene_fields(unit) for unit in sub_query.scenes]
    return list(distinct_texts([tag_fields(sub_query.tag), *units]))


def distinct_texts(groups: Iterable[Fields]) -> dict[str, None]:
    """The texts of some fields, each once, in the order in which they first appear."""
    return dict.fromkeys(text for group in groups for texts in group.values() for text, _ in texts)


def _semantic_fields(memory: SemanticMemory) -> Fields:
    return {
        CONTENT: _text(memory.content),
        ALIASES: _texts(memory.aliases),
        DESCRIPTION: _text(memory.description),
    }


def _specific_fields(memory: SpecificSituation) -> Fields:
    fields = {NARRATIVE: _text(memory.narrative)}
    context = memory.context
    if context is None:
        return fields
    mood = context.environment
    return {
        **fields,
        **_location_fields([context.location] if context.location else []),
        **_participant_fields(context.participants or ()),
        ATMOSPHERE: _text(mood.atmosphere if mood else None),
        TONE: _text(mood.tone if mood else None),
        **_event_fields(context.event or ()),
    }


def _location_fields(places: Sequence[Location]) -> Fields:
    return {
        LOCATION_NAME: _texts(place.name for place in places),
        LOCATION_COORDINATES: _texts(place.coordinates for place in places),
    }


def _participant_fields(people: Sequence[Participant | Person]) -> Fields:
    return {
        PARTICIPANT_NAME: _texts(person.name for person in people),
        PARTICIPANT_ROLE: _texts(person.role for person in people),
    }


def _event_fields(events: Sequence[Event | Deed]) -> Fields:
    weights = [_intensity(event) for event in events]
    if not any(weights):
        weights = [1.0] * len(events)
    return {
        ACTION: _weighted((event.action for event in events), weights),
        INITIATOR: _weighted((event.initiator for event in events), weights),
        TARGET: _weighted((event.target for event in events), weights),
    }


def _intensity(event: Event | Deed) -> float:
    intensity = event.action_intensity if isinstance(event, Event) else None
    return 1.0 if intensity is None else intensity


def _text(text: str | None) -> Texts:
    return ((text, 1.0),) if text else ()


def _texts(texts: Iterable[str | None]) -> Texts:
    # A list first: a tuple from a generator takes half as long again, and graphs have millions.
    return tuple([(text, 1.0) for text in texts if text])


def _weighted(texts: Iterable[str | None], weights: Sequence[float]) -> Texts:
    given = [(text, weight) for text, weight in zip(texts, weights, strict=True) if text and weight]
    # Only their proportions matter, and as they stand they may not fit into a float32.
    heaviest = max((weight for _, weight in given), default=1.0)
    return tuple((text, weight / heaviest) for text, weight in given)


def given(fields: Fields) -> Fields:
    """The fields that have a text."""
    return {name: texts for name, texts in fields.items() if texts}
