"""The documents, and how a context becomes one."""

from __future__ import annotations

import sqlite3

from pytest_soulmem.archive.markers import parse_markers
from pytest_soulmem.archive.media import MediaStore


class Documents:
    """Texts by name. The caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection, media: MediaStore) -> None:
        self._connection = connection
        self._media = media

    def take_over(self, context: str, name: str, text: str) -> None:
        """Make a document of a context: it refers to what the context did and what it names."""
        self._connection.execute("INSERT OR REPLACE INTO document VALUES (?, ?)", (name, text))
        for digest in self._media.referred("context", context):
            self._media.refer("document", name, digest)
            self._media.release("context", context, digest)
        for marker in parse_markers(text):
            for digest in self._media.find(marker.digest):
                self._media.refer("document", name, digest)

    def text(self, name: str) -> str:
        """A document's text.

        Raises:
            KeyError: there is no such document.
        """
        row = self._connection.execute(
            "SELECT text FROM document WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise KeyError(f"there is no document {name!r}")
        return str(row[0])

    def delete(self, name: str) -> None:
        """Delete a document; what it refers to is another matter."""
        self._connection.execute("DELETE FROM document WHERE name = ?", (name,))

    def names(self) -> list[str]:
        """The documents that are there."""
        return [row[0] for row in self._connection.execute("SELECT name FROM document ORDER BY 1")]
