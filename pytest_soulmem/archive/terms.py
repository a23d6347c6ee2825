"""The things that a chain is asked about and answers with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

OwnerKind: TypeAlias = Literal["context", "document", "graph_sentence"]
OWNER_KINDS: tuple[OwnerKind, ...] = ("context", "document", "graph_sentence")

Reason: TypeAlias = Literal["nothing_written", "not_bound"]
REASONS: tuple[Reason, ...] = ("nothing_written", "not_bound")
"""Why a document's reference stays: the document stays, or no sentence of it was bound."""

SHORTEST_NAME = 2
LONGEST_NAME = 50
"""Characters of an entity's name."""


class Triple(NamedTuple):
    """A statement about two entities, and the sentence that it was taken from."""

    subject: str
    relation: str
    object: str
    sentence: str

    @property
    def usable(self) -> bool:
        """Whether both names can be an entity's."""
        return valid_name(self.subject) and valid_name(self.object)


class Reference(NamedTuple):
    """What keeps a media: the kind of its owner, the owner, and the media's digest."""

    kind: str
    owner: str
    digest: str


@dataclass(frozen=True)
class Archived:
    """What archiving a document did. Media are named by their digests."""

    written: int
    """Triples that stand in the graph now, new or already there."""
    skipped: int
    """Triples with a name that no entity can have."""
    gone: bool
    """Whether the document was deleted."""
    bound: Sequence[str] = ()
    """Media that a sentence of the document refers to now."""
    released: Sequence[str] = ()
    """Media whose reference by the document was given up."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """Media whose reference by the document stays, each with its reason."""
    lookup_failed: bool = False
    """Whether the document's references could not be looked up; then none was released."""


def valid_name(name: str) -> bool:
    """Whether a text can name an entity: 2 to 50 characters, spaces around it not counted."""
    return SHORTEST_NAME <= len(name.strip()) <= LONGEST_NAME
