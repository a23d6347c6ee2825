"""What sub-queries ask and what memories say, in lines short enough for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_soulmem.reporting.table import clip
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.retrieval.fields import abstract_fields, scene_fields
from pytest_soulmem.retrieval.graph import Node
from pytest_soulmem.retrieval.query import Concept, Scene, SubQuery

MEMORY_COLUMNS = 40
"""The width of a memory in a table; a Chinese character takes two."""
LINE_COLUMNS = 100
"""The width of a line of its own."""


def memory_excerpt(node: Node) -> str:
    """The beginning of what a memory says."""
    return _short(_memory(node), MEMORY_COLUMNS)


def asked(sub_queries: Sequence[SubQuery]) -> list[str]:
    """What each sub-query asks: a line of its tags, then one for each of its units."""
    found = []
    for number, own in enumerate(sub_queries):
        tags = f"tags {', '.join(own.tag)}" if own.tag else "no tags"
        kind = "Situation" if own.variant.situation else "Semantic"
        units = [*map(_concept, own.concepts), *map(_scene, own.scenes)]
        found += [
            _short(f"sub-query {number} asks: priority {own.priority}, {tags}", LINE_COLUMNS),
            *(f"  {_short(f'{kind} {unit}', LINE_COLUMNS - 2)}" for unit in units),
        ]
    return found


def _memory(node: Node) -> str:
    if node.semantic:
        return _joined(": ", (node.semantic.content, node.semantic.description))
    if node.specific:
        return node.specific.narrative
    if node.abstract:
        fields = abstract_fields(node.abstract).values()
        return _joined(", ", (text for texts in fields for text, _ in texts))
    return node.procedure.action.content if node.procedure else ""


def _concept(unit: Concept) -> str:
    return _joined(": ", (unit.concept_identifier, unit.description)) or "nothing"


def _scene(unit: Scene) -> str:
    fields = scene_fields(unit).values()
    return _joined("; ", (", ".join(text for text, _ in texts) for texts in fields)) or "nothing"


def _joined(separator: str, texts: Iterable[str | None]) -> str:
    return separator.join(text for text in texts if text)


def _short(text: str, columns: int) -> str:
    """The text in one line of at most that many columns, safe to print."""
    return clip(visible(" ".join(text.split())), columns)
