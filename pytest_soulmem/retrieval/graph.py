"""The graph file: memories and the links between them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_soulmem.collector import collector_paused
from pytest_soulmem.decoding import NonNegative, OneOf, UnitInterval, decode, read_json
from pytest_soulmem.faults import Fault, FixtureError, owned_by, suggestion

_HINTS = 20
"""How many unknown ids get a suggestion."""
NonEmpty = Annotated[str, Meta(min_length=1)]


class Record(Struct, frozen=True, gc=False):
    """A part of a graph.

    A large graph has millions; what is read from JSON has no cycles, so the garbage collector
    need not visit them.
    """


class SemanticMemory(Record, frozen=True):
    """A concept and what is known of it."""

    content: str
    aliases: tuple[str, ...]
    concept_type: Literal["Entity", "Abstract"]
    description: str


class Location(Record, frozen=True):
    """A place."""

    name: str
    coordinates: str | None = None


class Participant(Record, frozen=True):
    """Somebody and the part they play."""

    name: str
    role: str


class Sensation(Record, frozen=True):
    """An emotion or a sense impression; read, not scored."""

    name: str
    intensity: NonNegative


class Environment(Record, frozen=True):
    """The mood of a situation."""

    atmosphere: str
    tone: str


class Event(Record, frozen=True):
    """Something done, by somebody, to something."""

    action: str
    action_intensity: NonNegative | None = None
    initiator: str | None = None
    target: str | None = None


class Context(Record, frozen=True):
    """The circumstances of a specific situation."""

    location: Location | None = None
    participants: tuple[Participant, ...] | None = None
    emotions: tuple[Sensation, ...] | None = None
    sensory_data: tuple[Sensation, ...] | None = None
    environment: Environment | None = None
    event: tuple[Event, ...] | None = None


class SpecificSituation(Record, frozen=True):
    """Something that happened once."""

    narrative: str
    time_span: str | None = None
    context: Context | None = None


class AbstractSituation(OneOf, frozen=True, rename="pascal"):
    """A pattern that many situations share."""

    location: Location | UnsetType = UNSET
    participant: Participant | UnsetType = UNSET
    environment: Environment | UnsetType = UNSET
    event: Event | UnsetType = UNSET


class Situation(OneOf, frozen=True, rename="pascal"):
    """A situation, specific or abstract."""

    specific_situation: SpecificSituation | UnsetType = UNSET
    abstract_situation: AbstractSituation | UnsetType = UNSET


class Nothing(Record, frozen=True):
    """An object that says nothing more."""


class ActionVariant(OneOf, frozen=True, rename="pascal"):
    """An action type written as an object."""

    speak: Nothing | UnsetType = UNSET
    think: Nothing | UnsetType = UNSET
    skill: Nothing | UnsetType = UNSET


class Action(Record, frozen=True):
    """Something the agent can do."""

    content: str
    action_type: Literal["Speak", "Think", "Skill"] | ActionVariant


class Procedure(Record, frozen=True):
    """A memory of how to act."""

    action: Action


class MemoryType(OneOf, frozen=True, rename="pascal"):
    """What a node remembers."""

    semantic: SemanticMemory | UnsetType = UNSET
    situation: Situation | UnsetType = UNSET
    procedure: Procedure | UnsetType = UNSET


class SemanticLink(Record, frozen=True):
    """A relation between concepts."""

    verb: str
    confidence: UnitInterval


class Trigger(Record, frozen=True):
    """How likely a situation triggers an action."""

    prob: UnitInterval


class ProcedureLink(Record, frozen=True):
    """A link to an action; ``{"prob": p}`` is read as ``{"TrigToAction": {"prob": p}}``."""

    TrigToAction: Trigger | UnsetType = UNSET
    prob: UnitInterval | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.TrigToAction is UNSET) == (self.prob is UNSET):
            raise ValueError("expected exactly one of TrigToAction, prob")

    @property
    def probability(self) -> float:
        """The probability, however it was written."""
        if isinstance(self.TrigToAction, Trigger):
            return self.TrigToAction.prob
        return 0.0 if isinstance(self.prob, UnsetType) else self.prob


class SituationLink(Record, frozen=True, rename="pascal"):
    """A link between a pattern and an instance; ``{}`` is read as ``AbstractToSpecific``."""

    abstract_to_specific: Nothing | UnsetType = UNSET
    specific_to_abstract: Nothing | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.abstract_to_specific is not UNSET and self.specific_to_abstract is not UNSET:
            raise ValueError("expected AbstractToSpecific or SpecificToAbstract; found both")


class LinkType(OneOf, frozen=True):
    """What a link means."""

    Sem: SemanticLink | UnsetType = UNSET
    Proc: ProcedureLink | UnsetType = UNSET
    Situation: SituationLink | UnsetType = UNSET


class Link(Record, frozen=True, rename={"source": "from", "target": "to"}):
    """A directed link, owned by its source."""

    source: str
    target: str
    intensity: UnitInterval
    link_type: LinkType


class Node(Record, frozen=True):
    """One memory."""

    id: NonEmpty
    tags: tuple[str, ...]
    mem_type: MemoryType
    mem_links: tuple[Link, ...] = ()

    @property
    def semantic(self) -> SemanticMemory | None:
        """The concept, if this node is one."""
        return self.mem_type.semantic or None

    @property
    def specific(self) -> SpecificSituation | None:
        """The specific situation, if this node is one."""
        situation = self.mem_type.situation
        return (situation.specific_situation or None) if situation else None

    @property
    def abstract(self) -> AbstractSituation | None:
        """The abstract situation, if this node is one."""
        situation = self.mem_type.situation
        return (situation.abstract_situation or None) if situation else None

    @property
    def procedure(self) -> Procedure | None:
        """The procedure, if this node is one."""
        return self.mem_type.procedure or None


@dataclass(frozen=True, eq=False)
class Graph:
    """The memories of one file, in its order. ``path`` says where they came from."""

    nodes: tuple[Node, ...]
    path: Path | None = None
    digest: str = ""
    """Changes when any memory or link does, and not with the layout of the file."""

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each node by its id."""
        return {node.id: position for position, node in enumerate(self.nodes)}

    def __getitem__(self, node_id: str) -> Node:
        return self.nodes[self.index[node_id]]

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.index

    def __len__(self) -> int:
        return len(self.nodes)


def read_graph(path: Path) -> Graph:
    """Read and check a graph file.

    Raises:
        FixtureError: the file cannot be used; lists every fault.
    """
    with collector_paused():
        raw = read_json(path)
        if not isinstance(raw, list):
            raise FixtureError(path, [Fault("$", "not a memory graph: expected an array of nodes")])
        if not raw:
            raise FixtureError(path, [Fault("$", "the graph has no nodes")])
        nodes = _sound_nodes(raw)
        if nodes is None:
            raise FixtureError(path, list(_graph_faults(raw)))
        return Graph(nodes, path, hashlib.sha256(msgspec.json.encode(nodes)).hexdigest())


def _sound_nodes(raw: list[object]) -> tuple[Node, ...] | None:
    """All nodes at once; None if anything is wrong with any of them or their links."""
    nodes, faults = decode(raw, tuple[Node, ...], "$")
    if nodes is None or faults:
        return None
    known = {node.id for node in nodes}
    targets = {link.target for node in nodes for link in node.mem_links}
    owned = all(link.source == node.id for node in nodes for link in node.mem_links)
    return nodes if owned and targets <= known and len(known) == len(nodes) else None


def _graph_faults(raw: list[object]) -> Iterable[Fault]:
    """Everything that is wrong with a graph, node by node, then between nodes."""
    for position, item in enumerate(raw):
        _, faults = decode(item, Node, f"$[{position}]")
        yield from owned_by(_owner(item), faults)
    yield from _duplicates(raw)
    known = [item.get("id") for item in raw if isinstance(item, dict)]
    yield from _link_faults(raw, [name for name in known if isinstance(name, str)])


def _owner(raw: object) -> str:
    name = raw.get("id") if isinstance(raw, dict) else None
    return f'node "{name}"' if isinstance(name, str) and name else ""


def _duplicates(raw: list[object]) -> Iterable[Fault]:
    first: dict[str, int] = {}
    for position, item in enumerate(raw):
        name = item.get("id") if isinstance(item, dict) else None
        if not isinstance(name, str):
            continue
        if name in first:
            message = f'the id "{name}" is taken by $[{first[name]}]'
            yield Fault(f"$[{position}].id", message)
        first.setdefault(name, position)


def _link_faults(raw: list[object], known: Sequence[str]) -> Iterable[Fault]:
    """Links that lead nowhere or belong to another node; read from raw nodes, faulty ones too."""
    ids = frozenset(known)
    hints: dict[str, str] = {}
    for position, item in enumerate(raw):
        links = item.get("mem_links") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(links, list):
            continue
        for number, link in enumerate(links):
            if not isinstance(link, dict):
                continue
            place = f"$[{position}].mem_links[{number}]"
            source, target = link.get("from"), link.get("to")
            # Of an id that is no text, its own fault tells.
            owner = item.get("id")
            if isinstance(source, str) and isinstance(owner, str) and source != owner:
                message = f'"{source}" is not the id of the node that owns the link'
                yield Fault(f"{place}.from", message, _owner(item))
            if isinstance(target, str) and target not in ids:
                # Each takes as long as there are nodes; thousands of them would help nobody.
                if target not in hints and len(hints) < _HINTS:
                    hints[target] = suggestion(target, known)
                message = f'no node has the id "{target}"{hints.get(target, "")}'
                yield Fault(f"{place}.to", message, _owner(item))
