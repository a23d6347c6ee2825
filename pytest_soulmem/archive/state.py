"""What can be seen of a chain from outside."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_soulmem.archive.digests import sha256
from pytest_soulmem.archive.subject import Subject
from pytest_soulmem.archive.terms import Reference, Triple
from pytest_soulmem.users_code import Misbehaviour


@dataclass(frozen=True)
class State:
    """Everything that a chain holds at a moment."""

    stored: frozenset[str]
    """The digests of the media that it gives back."""
    references: frozenset[Reference]
    documents: frozenset[str]
    relations: frozenset[Triple]
    files: frozenset[str] | None
    """The digests of content files; None where the chain does not tell."""

    @property
    def entities(self) -> frozenset[str]:
        """The names in the graph."""
        return frozenset(name for row in self.relations for name in (row.subject, row.object))

    def referring(self, digest: str) -> list[Reference]:
        """The references to a media."""
        return [reference for reference in self.references if reference.digest == digest]


def observe(chain: Subject, digests: Iterable[str]) -> State:
    """Look at a chain; ``digests`` are those of all media that it may have.

    Raises:
        Misbehaviour: it raised, returned nonsense, or gave back other content than it was given.
    """
    files = chain.files()
    return State(
        frozenset(digest for digest in digests if _given_back(chain, digest)),
        frozenset(chain.references()),
        frozenset(chain.documents()),
        frozenset(chain.relations()),
        None if files is None else frozenset(files),
    )


def _given_back(chain: Subject, digest: str) -> bool:
    data = chain.read(digest)
    if data is not None and sha256(data) != digest:
        raise Misbehaviour(f"{chain.name}.read({digest[:12]}…) returned other content")
    return data is not None
