"""What a chain must offer to be judged, and what it may offer beyond that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol, runtime_checkable

from pytest_soulmem.archive.crash import Passed
from pytest_soulmem.archive.terms import Archived, Triple

Extractor = Callable[[str], Sequence[Triple]]
"""Finds triples in a document's text. Here its answer is given by the fixture."""


class Chain(Protocol):
    """The way of memories from contexts through documents into a graph, with their media.

    Return one from the hook ``pytest_soulmem_archive(config, path, clock)``. ``path`` is a folder
    that is empty at first; everything that must survive the process belongs there, and a chain
    that is opened on it again must find it. ``clock()`` gives seconds, as ``time.time()`` does:
    use it wherever you would ask for the time.

    Media are named by the SHA-256 of their content, 64 lower-case hexadecimal digits.
    """

    def put(self, data: bytes, mime: str, description: str, context: str | None) -> str:
        """Store a media and return its digest; a context, if given, refers to it."""
        ...

    def describe(self, digest: str, description: str) -> None:
        """Replace the description of a media."""
        ...

    def transfer(self, context: str, document: str, text: str) -> None:
        """Make a document; it refers to what the context referred to and to what it names."""
        ...

    def archive(self, document: str, extract: Extractor) -> Archived:
        """Move a document into the graph, or leave it where it is."""
        ...

    def gc(self, min_age_hours: float, capacity_bytes: int | None) -> Iterable[str]:
        """Collect media; the digests of those that are gone."""
        ...

    def recall(self, entity: str) -> Iterable[str]:
        """The explicit entry: the digests of the media that hang on an entity."""
        ...

    def context_for(self, message: str) -> Iterable[str]:
        """The automatic entry: the digests of the media to add to a message's context."""
        ...

    def recover(self) -> None:
        """Clean up after a crash. Called after a chain was opened on what a crash left."""
        ...

    def close(self) -> None:
        """Let go of all files."""
        ...

    def read(self, digest: str) -> bytes | None:
        """The content of a media; None for what is not stored."""
        ...

    def documents(self) -> Iterable[str]:
        """The names of the documents that are there."""
        ...

    def references(self) -> Iterable[tuple[str, str, str]]:
        """All references: owner kind (context, document, graph_sentence), owner, digest."""
        ...

    def reference_count(self, digest: str) -> int:
        """How many references a media has, by whatever means the chain knows."""
        ...

    def relations(self) -> Iterable[tuple[str, str, str, str]]:
        """The graph: subject, relation, object, sentence."""
        ...


REQUIRED = (
    "put",
    "describe",
    "transfer",
    "archive",
    "gc",
    "recall",
    "context_for",
    "recover",
    "close",
    "read",
    "documents",
    "references",
    "reference_count",
    "relations",
)
"""The methods of :class:`Chain`."""


@runtime_checkable
class HasFiles(Protocol):
    """A chain that tells what is on disk. Of one that does not, ``files`` is not judged."""

    def files(self) -> Iterable[str]:
        """The digests of all content files, also of those that nothing knows any more."""
        ...


@runtime_checkable
class HasCrashPoints(Protocol):
    """A chain that can be made to die. One that cannot is spared the steps that crash."""

    @property
    def crash_points(self) -> Collection[str]:
        """The points that it passes, of those in the table of crash points."""
        ...

    def watch(self, passed: Passed) -> None:
        """Call ``passed(point)`` whenever a point is passed, and let through what it raises."""
        ...
