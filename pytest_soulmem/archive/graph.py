"""The graph: entities, relations between them, and the sentences that relations come from."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_soulmem.archive.terms import Triple


@dataclass(frozen=True)
class Commit:
    """What became of some triples."""

    written: int
    skipped: int
    sentences: dict[int, str]
    """The sentences of the written ones, by their id."""


class Graph:
    """Entities, relations and sentences. The caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, triples: Iterable[Triple]) -> Commit:
        """Write triples; one that is there already counts as written, an unusable one does not."""
        written = skipped = 0
        sentences: dict[int, str] = {}
        for triple in triples:
            if not triple.usable:
                skipped += 1
                continue
            sentence = self._row("sentence", "text", triple.sentence)
            sentences[sentence] = triple.sentence
            subject = self._row("entity", "name", triple.subject.strip())
            target = self._row("entity", "name", triple.object.strip())
            self._connection.execute(
                "INSERT OR IGNORE INTO relation VALUES (?, ?, ?, ?)",
                (subject, triple.relation, target, sentence),
            )
            written += 1
        return Commit(written, skipped, sentences)

    def _row(self, table: str, column: str, value: str) -> int:
        """The id of a row, made if it is not there. The names are this module's own."""
        insert = f"INSERT OR IGNORE INTO {table} ({column}) VALUES (?)"  # noqa: S608
        self._connection.execute(insert, (value,))
        query = f"SELECT id FROM {table} WHERE {column} = ?"  # noqa: S608
        return int(self._connection.execute(query, (value,)).fetchone()[0])

    def relations(self) -> list[Triple]:
        """All relations with their sentences, in the order in which they were written."""
        rows = self._connection.execute(
            "SELECT s.name, r.name, o.name, t.text FROM relation r"
            " JOIN entity s ON s.id = r.subject JOIN entity o ON o.id = r.object"
            " JOIN sentence t ON t.id = r.sentence ORDER BY r.rowid"
        )
        return [Triple(*row) for row in rows]

    def named_in(self, message: str) -> list[str]:
        """The entities whose name a message contains."""
        rows = self._connection.execute(
            "SELECT name FROM entity WHERE instr(?, name) ORDER BY id", (message,)
        )
        return [name for (name,) in rows]
