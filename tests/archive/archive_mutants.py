"""Chains with a fault. The first three are the old behaviours of the user's document."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.database import transaction
from pytest_soulmem.archive.markers import first_clause, parse_markers
from pytest_soulmem.archive.terms import Archived, Triple


class ReleasesThoughNothingWritten(SqliteChain):
    """Defect 1: only looks whether there are triples, not whether any was written."""

    def _move(self, document, extract):
        text = self._documents.text(document)
        triples = [*self._certain(text), *extract(text)]
        commit = self._graph.add(triples)
        bound = self._bind(commit)
        if not triples:
            return Archived(0, 0, gone=False)
        released = self._media.referred("document", document)
        for digest in released:
            self._media.release("document", document, digest)
        self._documents.delete(document)
        return Archived(commit.written, commit.skipped, True, bound, released)


class AsksOnlyTheExtractor(SqliteChain):
    """Defect 2: media enter the graph if the extractor happens to find something."""

    def _certain(self, text):
        return []


class RecallsNothing(SqliteChain):
    """Defect 3: media are bound to sentences, and nobody asks for them."""

    def recall(self, entity):
        return []

    def context_for(self, message):
        return []


class RecallsOnlyWhenAsked(SqliteChain):
    """Half of defect 3: the automatic entry is not wired."""

    def context_for(self, message):
        return []


class RecallsOnlyByItself(SqliteChain):
    """The other half: the explicit entry is not wired."""

    def recall(self, entity):
        return []


# Faults that the document does not tell of


class ReleasesEverything(SqliteChain):
    """Releases all references of a document once one of its media was bound."""

    def _release(self, document, commit, bound):
        held = self._held(document) or []
        if commit.written:
            for digest in held:
                self._media.release("document", document, digest)
            return Archived(commit.written, commit.skipped, True, bound, held)
        return super()._release(document, commit, bound)


class NamesByDescription(SqliteChain):
    """Names a media's entity after its description."""

    def _certain(self, text):
        return [
            Triple(first_clause(marker.description) or marker.entity, *triple[1:])
            for marker in parse_markers(text)
            for triple in marker.triples()
        ]


class CollectsReferenced(SqliteChain):
    """Beyond its capacity it collects whatever is old."""

    def gc(self, min_age_hours, capacity_bytes):
        if capacity_bytes is None:
            return super().gc(min_age_hours, capacity_bytes)
        with transaction(self._connection):
            rows = self._connection.execute("SELECT digest FROM media").fetchall()
            self._connection.execute("DELETE FROM media")
        return [digest for (digest,) in rows]


class CountsPuts(SqliteChain):
    """Counts how often references were added, though adding twice is adding once."""

    puts: dict[str, int]

    def put(self, data, mime, description, context):
        digest = super().put(data, mime, description, context)
        path = self._media._folder.parent / f"count-{digest}"
        if context is not None:
            path.write_text(str(self._count(path) + 1))
        return digest

    def reference_count(self, digest):
        path = self._media._folder.parent / f"count-{digest}"
        return max(self._count(path), super().reference_count(digest))

    @staticmethod
    def _count(path: Path) -> int:
        return int(path.read_text()) if path.exists() else 0


class RecoveryDropsReferences(SqliteChain):
    """Recovery also cleans up references whose document is gone."""

    def recover(self):
        super().recover()
        self._connection.execute(
            "DELETE FROM media_reference WHERE kind = 'document'"
            " AND owner NOT IN (SELECT name FROM document)"
        )


class RecoveryGrows(SqliteChain):
    """Recovery leaves something behind each time."""

    def recover(self):
        super().recover()
        (self._media._folder / os.urandom(32).hex()).touch()


class CommitsTwice(SqliteChain):
    """Archives in two transactions: a crash between them leaves half a move."""

    def archive(self, document, extract):
        with transaction(self._connection):
            text = self._documents.text(document)
            commit = self._graph.add([*self._certain(text), *extract(text)])
            bound = self._bind(commit)
        self._passed("archive.bound")
        with transaction(self._connection):
            outcome = self._release(document, commit, bound)
            if outcome.gone:
                self._documents.delete(document)
        self._passed("archive.committed")
        return outcome


class DeletesFirst(SqliteChain):
    """Deletes the document in a transaction of its own, before the graph has it."""

    def archive(self, document, extract):
        text = self._documents.text(document)
        triples = [*self._certain(text), *extract(text)]
        if not any(triple.usable for triple in triples):
            return super().archive(document, extract)
        with transaction(self._connection):
            self._documents.delete(document)
        self._passed("archive.triples")
        with transaction(self._connection):
            commit = self._graph.add(triples)
            outcome = self._release(document, commit, self._bind(commit))
        self._passed("archive.committed")
        return outcome


class CountsBytes(SqliteChain):
    """Takes the length of names in bytes."""

    def _move(self, document, extract):
        def short(text):
            return [
                triple
                for triple in extract(text)
                if all(2 <= len(name.encode()) <= 50 for name in (triple.subject, triple.object))
            ]

        return super()._move(document, short)


class RowBeforeFile(SqliteChain):
    """Writes the row before the file: a crash between them leaves a media without content."""

    def put(self, data, mime, description, context):
        from pytest_soulmem.archive.digests import sha256

        digest = sha256(data)
        with transaction(self._connection):
            self._connection.execute(
                "INSERT OR REPLACE INTO media VALUES (?, ?, ?, ?, ?)",
                (digest, mime, description, len(data), 0.0),
            )
            if context is not None:
                self._media.refer("context", context, digest)
        self._passed("put.renamed")
        (self._media._folder / digest).write_bytes(data)
        self._passed("put.committed")
        return digest


class SwallowsCrashes(SqliteChain):
    """Catches everything, tidies up, and goes on. A dead process would not."""

    def put(self, data, mime, description, context):
        try:
            return super().put(data, mime, description, context)
        except BaseException:
            for path in self._media._folder.iterdir():
                path.unlink()
            return ""


class RecallsEverything(SqliteChain):
    """Recalls every media, whatever was asked."""

    def recall(self, entity):
        return [digest for (digest,) in self._connection.execute("SELECT digest FROM media")]

    context_for = recall
