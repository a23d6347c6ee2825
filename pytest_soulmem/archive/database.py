"""The chain's SQLite file: opening, the tables, transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TIMEOUT = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS media (
    digest TEXT PRIMARY KEY, mime TEXT NOT NULL, description TEXT NOT NULL,
    size INTEGER NOT NULL, stored_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS media_reference (
    kind TEXT NOT NULL, owner TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (kind, owner, digest));
CREATE INDEX IF NOT EXISTS reference_by_digest ON media_reference (digest);
CREATE TABLE IF NOT EXISTS document (name TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entity (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sentence (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS relation (
    subject INTEGER NOT NULL REFERENCES entity, name TEXT NOT NULL,
    object INTEGER NOT NULL REFERENCES entity, sentence INTEGER NOT NULL REFERENCES sentence,
    UNIQUE (subject, name, object, sentence));
CREATE INDEX IF NOT EXISTS relation_by_object ON relation (object);
"""
# media_reference names media and owners without a foreign key: a reference that dangles can be
# cleaned up later, content that was lost cannot.


def open_database(path: Path) -> sqlite3.Connection:
    """Open the file, or make it, in WAL mode."""
    connection = sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None)
    _use_wal(connection)
    # A collected file is unlinked after its row's deletion: that order must survive power loss.
    connection.execute("PRAGMA synchronous=FULL")
    with transaction(connection):
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Change to WAL. Two processes that do so at once get "busy", whatever the timeout."""
    deadline = time.monotonic() + _TIMEOUT
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Everything or nothing.

    An error rolls back. A crash does not: a dead process does nothing at all, and SQLite drops
    what it left uncommitted.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except Exception:
        connection.rollback()
        raise
    connection.execute("COMMIT")
