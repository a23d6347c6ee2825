"""The media store: content by its SHA-256, what is known of it, and who refers to it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock

from pytest_soulmem.archive.crash import Passed
from pytest_soulmem.archive.database import transaction
from pytest_soulmem.archive.digests import sha256
from pytest_soulmem.archive.terms import OwnerKind, Reference

_SECONDS_PER_HOUR = 3600
_TEMPORARY = ".part"


class DamagedMedia(Exception):
    """The content of a media is not what its digest says."""


class MediaStore:
    """Files named by their digest, and their rows.

    Storing puts the file first and the row second; collecting deletes the row first and the file
    second. A crash between the two leaves a file without a row, which recovery removes, and never
    a row without its file. Both hold one lock, or a file could be unlinked that was just stored.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: Path,
        clock: Callable[[], float],
        passed: Passed,
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._clock = clock
        self._passed = passed
        self._lock = FileLock(folder.with_suffix(".lock"))
        folder.mkdir(exist_ok=True)

    def put(self, data: bytes, mime: str, description: str, context: str | None) -> str:
        """Store content and let a context refer to it; the digest.

        Content that is there already is kept, and its age begins anew: whoever stores it again
        is about to refer to it.
        """
        digest = sha256(data)
        with self._lock:
            if not self._intact(digest):
                self._write(digest, data)
            self._passed("put.renamed")
            with transaction(self._connection):
                self._connection.execute(
                    "INSERT INTO media VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT (digest) DO UPDATE SET stored_at = excluded.stored_at",
                    (digest, mime, description, len(data), self._clock()),
                )
                if context is not None:
                    self.refer("context", context, digest)
                self._passed("put.row")
        self._passed("put.committed")
        return digest

    def _write(self, digest: str, data: bytes) -> None:
        """Temporary file, fsync, rename: under its name there is never half a file."""
        temporary = self._folder / f"{digest}{_TEMPORARY}"
        with temporary.open("wb", buffering=0) as file:
            half = len(data) // 2
            file.write(data[:half])
            self._passed("put.temporary")
            file.write(data[half:])
            os.fsync(file.fileno())
        self._passed("put.synced")
        temporary.replace(self._folder / digest)

    def read(self, digest: str) -> bytes | None:
        """The content, verified; None for what is not stored.

        Raises:
            DamagedMedia: the file is missing or is not what its digest says.
        """
        known = self._connection.execute("SELECT 1 FROM media WHERE digest = ?", (digest,))
        if known.fetchone() is None:
            return None
        try:
            data = (self._folder / digest).read_bytes()
        except FileNotFoundError:
            raise DamagedMedia(f"the file of media {digest} is missing") from None
        if sha256(data) != digest:
            raise DamagedMedia(f"the file of media {digest} has other content")
        return data

    def _intact(self, digest: str) -> bool:
        path = self._folder / digest
        return path.exists() and sha256(path.read_bytes()) == digest

    def describe(self, digest: str, description: str) -> None:
        """Replace the description of a media."""
        with transaction(self._connection):
            self._connection.execute(
                "UPDATE media SET description = ? WHERE digest = ?", (description, digest)
            )

    def find(self, beginning: str) -> list[str]:
        """The digests of stored media that begin so."""
        rows = self._connection.execute(
            "SELECT digest FROM media WHERE substr(digest, 1, ?) = ? ORDER BY digest",
            (len(beginning), beginning),
        )
        return [digest for (digest,) in rows]

    # References. The callers hold a transaction where several changes belong together.

    def refer(self, kind: OwnerKind, owner: str, digest: str) -> None:
        """Let an owner refer to a media; twice is once."""
        self._connection.execute(
            "INSERT OR IGNORE INTO media_reference VALUES (?, ?, ?)", (kind, owner, digest)
        )

    def release(self, kind: OwnerKind, owner: str, digest: str) -> None:
        """Give a reference up."""
        self._connection.execute(
            "DELETE FROM media_reference WHERE kind = ? AND owner = ? AND digest = ?",
            (kind, owner, digest),
        )

    def referred(self, kind: OwnerKind, owner: str) -> list[str]:
        """The media that an owner refers to."""
        rows = self._connection.execute(
            "SELECT digest FROM media_reference WHERE kind = ? AND owner = ? ORDER BY digest",
            (kind, owner),
        )
        return [digest for (digest,) in rows]

    def references(self) -> list[Reference]:
        """All references."""
        rows = self._connection.execute(
            "SELECT kind, owner, digest FROM media_reference ORDER BY kind, owner, digest"
        )
        return [Reference(*row) for row in rows]

    def reference_count(self, digest: str) -> int:
        """How many references a media has; counted, not kept, so that it cannot be wrong."""
        row = self._connection.execute(
            "SELECT count(*) FROM media_reference WHERE digest = ?", (digest,)
        ).fetchone()
        return int(row[0])

    # Collecting and recovery.

    def collect(self, min_age_hours: float, capacity_bytes: int | None) -> list[str]:
        """Remove what nobody needs; the digests.

        First what nothing refers to and is older than the minimum age. Then, while the content
        exceeds the capacity, more of the same, oldest first. Nothing that is referred to and
        nothing younger is ever removed: the capacity may stay exceeded.
        """
        with self._lock:
            with transaction(self._connection):
                doomed = self._unreferenced(min_age_hours)
                for digest in doomed:
                    self._delete(digest)
                doomed += self._beyond_capacity(min_age_hours, capacity_bytes)
                self._passed("gc.deleted")
            self._passed("gc.committed")
            self._unlink([self._folder / digest for digest in doomed], "gc.unlinked")
        return doomed

    def _unreferenced(self, min_age_hours: float) -> list[str]:
        latest = self._clock() - min_age_hours * _SECONDS_PER_HOUR
        rows = self._connection.execute(
            "SELECT digest FROM media WHERE stored_at < ? AND digest NOT IN"
            " (SELECT digest FROM media_reference) ORDER BY stored_at, digest",
            (latest,),
        )
        return [digest for (digest,) in rows]

    def _beyond_capacity(self, min_age_hours: float, capacity_bytes: int | None) -> list[str]:
        removed: list[str] = []
        for digest in self._unreferenced(min_age_hours):
            if capacity_bytes is None or self._size() <= capacity_bytes:
                break
            self._delete(digest)
            removed.append(digest)
        return removed

    def _size(self) -> int:
        row = self._connection.execute("SELECT coalesce(sum(size), 0) FROM media").fetchone()
        return int(row[0])

    def _delete(self, digest: str) -> None:
        self._connection.execute("DELETE FROM media WHERE digest = ?", (digest,))

    def recover(self) -> None:
        """Remove files without a row: temporary ones, and those that a crash orphaned."""
        with self._lock:
            known = {row[0] for row in self._connection.execute("SELECT digest FROM media")}
            orphans = [path for path in sorted(self._folder.iterdir()) if path.name not in known]
            self._unlink(orphans, "recover.unlinked")

    def _unlink(self, paths: Sequence[Path], point: str) -> None:
        for path in paths:
            path.unlink(missing_ok=True)
            self._passed(point)

    def files(self) -> list[str]:
        """The digests of the files that are there, with a row or without."""
        names = (path.name.removesuffix(_TEMPORARY) for path in self._folder.iterdir())
        return sorted(set(names))
