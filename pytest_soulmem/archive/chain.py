"""The reference chain: conversation, documents, graph, and the media that travel with them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pytest_soulmem.archive import crash
from pytest_soulmem.archive.database import open_database, transaction
from pytest_soulmem.archive.documents import Documents
from pytest_soulmem.archive.graph import Commit, Graph
from pytest_soulmem.archive.markers import parse_markers
from pytest_soulmem.archive.media import MediaStore
from pytest_soulmem.archive.recall import media_of
from pytest_soulmem.archive.terms import Archived, Reason, Reference, Triple


class SqliteChain:
    r"""The chain on a SQLite file and a folder of blobs.

    ``path`` is a folder, ``clock`` gives seconds as :func:`time.time` does.

    Example::

        chain = SqliteChain(Path("memory"), time.time)
        digest = chain.put(image, "image/png", "", "chat-1")
        chain.transfer("chat-1", "notes-1", f"今天看的图\n[image/png {digest[:12]}] 三色旗")
        chain.archive("notes-1", extractor)
        chain.recall(f"图片 {digest[:12]}")  # [digest]
    """

    crash_points = frozenset({*crash.CRASH_POINTS, crash.LOOKUP})

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._watcher: crash.Passed = crash.nothing
        self._connection = open_database(path / "chain.sqlite3")
        self._media = MediaStore(self._connection, path / "blobs", clock, self._passed)
        self._documents = Documents(self._connection, self._media)
        self._graph = Graph(self._connection)

    def watch(self, passed: crash.Passed) -> None:
        """Call ``passed`` with the name of each point as it is passed."""
        self._watcher = passed

    def _passed(self, point: str) -> None:
        self._watcher(point)

    def put(self, data: bytes, mime: str, description: str, context: str | None) -> str:
        """Store a media, which a context refers to if one is given; the digest."""
        return self._media.put(data, mime, description, context)

    def describe(self, digest: str, description: str) -> None:
        """Replace the description of a media."""
        self._media.describe(digest, description)

    def transfer(self, context: str, document: str, text: str) -> None:
        """Make a document of a context, which gives its references to it."""
        with transaction(self._connection):
            self._documents.take_over(context, document, text)
            self._passed("transfer.written")
        self._passed("transfer.committed")

    def archive(self, document: str, extract: Callable[[str], Iterable[Triple]]) -> Archived:
        """Move a document into the graph, in one transaction.

        Raises:
            KeyError: there is no such document.
        """
        with transaction(self._connection):
            outcome = self._move(document, extract)
        self._passed("archive.committed")
        return outcome

    def _move(self, document: str, extract: Callable[[str], Iterable[Triple]]) -> Archived:
        text = self._documents.text(document)
        # The markers first: whether media enter the graph must not hang on an extractor.
        commit = self._graph.add([*self._certain(text), *extract(text)])
        self._passed("archive.triples")
        bound = self._bind(commit)
        self._passed("archive.bound")
        outcome = self._release(document, commit, bound)
        self._passed("archive.released")
        if outcome.gone:
            self._documents.delete(document)
        self._passed("archive.deleted")
        return outcome

    def _certain(self, text: str) -> list[Triple]:
        """What a text says whatever an extractor finds in it."""
        return [triple for marker in parse_markers(text) for triple in marker.triples()]

    def _bind(self, commit: Commit) -> list[str]:
        """Let the sentences refer to the media that their markers name."""
        bound: dict[str, None] = {}
        for sentence, text in commit.sentences.items():
            for marker in parse_markers(text):
                for digest in self._media.find(marker.digest):
                    self._media.refer("graph_sentence", str(sentence), digest)
                    bound[digest] = None
        return list(bound)

    def _release(self, document: str, commit: Commit, bound: Sequence[str]) -> Archived:
        """Give up the references of media that a sentence now refers to; say why others stay."""
        gone = commit.written > 0
        held = self._held(document)
        released: list[str] = []
        kept: dict[str, Reason] = {}
        for digest in held or ():
            if not gone:
                kept[digest] = "nothing_written"
            elif digest not in bound:
                kept[digest] = "not_bound"
            else:
                self._media.release("document", document, digest)
                released.append(digest)
        return Archived(
            commit.written, commit.skipped, gone, bound, released, kept, lookup_failed=held is None
        )

    def _held(self, document: str) -> list[str] | None:
        """The media that a document refers to; None where they cannot be looked up.

        Then nothing is released: a reference too many can be cleaned up, lost content cannot.
        """
        try:
            self._passed(crash.LOOKUP)
            return self._media.referred("document", document)
        except (sqlite3.Error, OSError):
            return None

    def recall(self, entity: str) -> list[str]:
        """What an explicit query for an entity brings: the digests of media."""
        return media_of(self._connection, [entity.strip()])

    def context_for(self, message: str) -> list[str]:
        """What is added to the context of a message: media of the entities that it names."""
        return media_of(self._connection, self._graph.named_in(message))

    def gc(self, min_age_hours: float, capacity_bytes: int | None) -> list[str]:
        """Collect media that nobody needs; the digests."""
        return self._media.collect(min_age_hours, capacity_bytes)

    def recover(self) -> None:
        """Clean up after a crash."""
        self._media.recover()

    def close(self) -> None:
        """Let go of the files."""
        self._connection.close()

    # What there is, for whoever judges.

    def read(self, digest: str) -> bytes | None:
        """The content of a media, verified; None for what is not stored."""
        return self._media.read(digest)

    def documents(self) -> list[str]:
        """The documents that are there."""
        return self._documents.names()

    def references(self) -> list[Reference]:
        """All references to media."""
        return self._media.references()

    def reference_count(self, digest: str) -> int:
        """How many references a media has."""
        return self._media.reference_count(digest)

    def relations(self) -> list[Triple]:
        """The graph: all relations with their sentences."""
        return self._graph.relations()

    def files(self) -> list[str]:
        """The digests of the files on disk, also of those that no row knows."""
        return self._media.files()
