"""Vectors in one SQLite file, shared by processes and fit to be committed beside fixtures.

Page size, journal mode and the ways of locking below were measured: 16 KiB pages halve both the
file and the time to fill it, because a vector of 512 floats does not fit a 4 KiB page twice.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import numpy as np

from pytest_soulmem.embedders import Identity, Side
from pytest_soulmem.embedders.errors import EmbedderError, MissingVector, StoreError, visible

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SCHEMA_VERSION = 1
BATCH = 500  # Below the 999 parameters that old SQLite versions allow.
_APPLICATION_ID = 0x536F756C  # "Soul", in the file's header: a store of ours and of nobody else.
_MAGIC = b"SQLite format 3\0"
_TIMEOUT = 30.0
_MOST_DIMENSIONS = 2**20  # Far more than any model's: another number is no dimension.
PATIENCE = 5.0
"""Seconds to wait for another process before saying so."""
_SCHEMA = (
    "CREATE TABLE identity (number INTEGER PRIMARY KEY, embedder TEXT NOT NULL,"
    " model TEXT NOT NULL, fingerprint TEXT NOT NULL, dimension INTEGER NOT NULL,"
    " UNIQUE (embedder, model, fingerprint))",
    "CREATE TABLE vector (identity INTEGER NOT NULL REFERENCES identity, side TEXT NOT NULL,"
    " digest BLOB NOT NULL, vector BLOB NOT NULL, UNIQUE (identity, side, digest))",
)


class VectorStore:
    """L2-normalised vectors by identity, side and text.

    A vector is float32, little-endian; a text is known by the SHA-256 of its UTF-8. ``path`` None
    keeps everything in memory. The file is opened when first needed and made by the first
    :meth:`add`. Every method raises :class:`StoreError` for a file that cannot be used: damaged,
    not a store, or of another version. Such a file is never changed.

    >>> with VectorStore(None) as store:
    ...     store.add(identity, "passage", ["雨"], [[3.0, 4.0]])
    ...     store.vectors(identity, "passage", ["雨"])
    array([[0.6, 0.8]], dtype=float32)
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._writable = True
        self._known: dict[Identity, tuple[int, int]] = {}

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __str__(self) -> str:
        return visible(self.path) if self.path else "in memory"

    def identities(self, embedder: str | None = None, model: str | None = None) -> list[Identity]:
        """What the store holds vectors of, in the order of arrival; None stands for any."""
        if not self._open_to_read():
            return []
        found = self._rows(
            "SELECT embedder, model, fingerprint FROM identity"
            " WHERE embedder = coalesce(?, embedder) AND model = coalesce(?, model)"
            " ORDER BY number",
            [embedder, model],
        )
        if not all(isinstance(part, str) for row in found for part in row):
            raise self._damaged("an identity is not text")
        return [Identity(*row) for row in found]

    def dimension(self, identity: Identity) -> int | None:
        """The length of each vector of an identity; None if there is no vector of it."""
        entry = self._entry(identity)
        return entry[1] if entry else None

    def missing(self, identity: Identity, side: Side, texts: Sequence[str]) -> list[str]:
        """The distinct texts without a vector, in the order in which they first appear."""
        distinct = dict.fromkeys(texts)
        if not self._entry(identity):
            return list(distinct)
        absent = []
        for batch in _batches(distinct):
            digests = [_digest(text) for text in batch]
            stored = {row[0] for row in self._select("digest", identity, side, digests)}
            absent += [
                text for text, digest in zip(batch, digests, strict=True) if digest not in stored
            ]
        return absent

    def add(self, identity: Identity, side: Side, texts: Sequence[str], vectors: ArrayLike) -> None:
        """Keep one vector per text; a text that has one already keeps it.

        Args:
            identity: what made the vectors.
            side: the side they were made for.
            texts: ``n`` texts.
            vectors: shape ``(n, dimension)``, any length above none; stored normalised. A zero
                vector stays zero.

        Raises:
            EmbedderError: not finite, not of that shape, or of another dimension than the vectors
                of this identity that are there.
            StoreError: the file cannot be written.
        """
        rows = _normalised(vectors, len(texts))
        if not len(rows):
            return
        self._open_to_write()
        with self._guard(), self._transaction() as connection:
            number = self._enrol(connection, identity, rows.shape[1])
            connection.executemany(
                "INSERT OR IGNORE INTO vector (identity, side, digest, vector) VALUES (?, ?, ?, ?)",
                (
                    (number, side, _digest(text), row.tobytes())
                    for text, row in zip(texts, rows, strict=True)
                ),
            )
        self._known[identity] = (number, rows.shape[1])

    def vectors(self, identity: Identity, side: Side, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts: shape ``(len(texts), dimension)``, rows of length one or zero.

        Needs little more memory than the result.

        Raises:
            MissingVector: a text has none.
        """
        entry = self._entry(identity)
        if entry is None:
            if texts:
                raise MissingVector(texts[0], side, identity)
            return np.empty((0, 0), np.float32)
        dimension = entry[1]
        result = np.empty((len(texts), dimension), np.float32)
        start = 0
        for batch in _batches(texts):
            digests = [_digest(text) for text in batch]
            stored = dict(self._select("digest, vector", identity, side, list(set(digests))))
            for offset, digest in enumerate(digests):
                if digest not in stored:
                    raise MissingVector(batch[offset], side, identity)
                blob = stored[digest]
                if not isinstance(blob, bytes) or len(blob) != 4 * dimension:
                    raise self._damaged(f"the vector of a text is not {dimension} numbers long")
                result[start + offset] = np.frombuffer(blob, "<f4")
            start += len(batch)
        if not _are_unit(result):
            raise self._damaged("not every vector has the length 1 with which it was stored")
        return result

    @contextmanager
    def embedding_lock(self, tell: Callable[[str], None] | None = None) -> Iterator[None]:
        """Let one process at a time embed for this file; the others wait here.

        What they waited for is in the store then, so they ask again what is missing. ``tell`` is
        called with a line about a wait that takes long.

        Raises:
            StoreError: the store is read-only, so that nothing could be kept.
        """
        if self.path is None:
            yield
            return
        self._refuse_read_only()
        # Imported here: a run that finds every vector needs no lock.
        from filelock import FileLock, Timeout

        lock = FileLock(f"{self.path}.lock")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire(timeout=PATIENCE)
            except Timeout:
                if tell:
                    tell(f"waiting for another process, which holds {self}.lock")
                lock.acquire()
        except (OSError, NotImplementedError) as error:
            raise StoreError(
                f"{self}: cannot lock the vector store ({visible(error)}). Name a file in a "
                "folder of yours with --soulmem-vectors."
            ) from None
        try:
            yield
        finally:
            lock.release()

    def close(self) -> None:
        """Gather everything in the one file, as far as other processes allow, and close it."""
        connection, self._connection = self._connection, None
        self._known.clear()
        if connection is None:
            return
        # Passive: never waits. Whoever closes last leaves a single file.
        with suppress(sqlite3.Error):
            if self.path and self._writable:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        with suppress(sqlite3.Error):
            connection.close()

    def _open_to_read(self) -> bool:
        """Open the file if it is there; false if there is none, which is an empty store."""
        if self._connection is None:
            if self.path is None:
                self._connection = self._connect(":memory:")
                self._lay_out(self._connection)
            elif self._is_there(self.path):
                self._open_existing(self.path)
        return self._connection is not None

    def _open_to_write(self) -> None:
        is_open = self._open_to_read()
        self._refuse_read_only()
        if is_open or self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{self}: cannot make the folder of the vector store ({visible(error)})"
            ) from None
        self._keep(self._connect(_uri(self.path, "mode=rwc")))

    def _is_there(self, path: Path) -> bool:
        try:
            return path.stat().st_size > 0
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"{self}: cannot read the vector store ({visible(error)})") from None

    def _open_existing(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                magic = file.read(len(_MAGIC))
        except OSError as error:
            raise StoreError(f"{self}: cannot read the vector store ({visible(error)})") from None
        if magic != _MAGIC:
            raise StoreError(
                f"{self}: this is not a vector store: not an SQLite file. {_OTHER_FILE}"
            )
        self._writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        if self._writable:
            self._keep(self._connect(_uri(path, "mode=rw")))
            return
        # In a folder that may not be written SQLite cannot make the files of its log. Without
        # a log beside it, the file is whole and nobody can be writing it.
        log = path.with_name(f"{path.name}-wal")
        whole = not log.exists() or log.stat().st_size == 0
        self._keep(self._connect(_uri(path, "mode=ro" + ("&immutable=1" if whole else ""))))

    def _keep(self, connection: sqlite3.Connection) -> None:
        """Take an opened file into use, or close it again."""
        try:
            with self._guard():
                self._verify(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _connect(self, uri: str) -> sqlite3.Connection:
        with self._guard():
            # isolation_level None: transactions begin where this module says so.
            connection = sqlite3.connect(uri, timeout=_TIMEOUT, isolation_level=None, uri=True)
            connection.execute("PRAGMA synchronous=NORMAL")
            return connection

    def _verify(self, connection: sqlite3.Connection) -> None:
        """Tell our store from other files; lay out an empty one."""
        if self._writable and _is_blank(connection):
            self._lay_out(connection)
        application = _pragma(connection, "application_id")
        if application != _APPLICATION_ID:
            raise StoreError(
                f"{self}: this is not a vector store but the SQLite file of something else. "
                f"{_OTHER_FILE}"
            )
        version = _pragma(connection, "user_version")
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self}: a vector store of version {version}; this version of pytest-soulmem "
                f"reads version {SCHEMA_VERSION}. Delete the file to have it made again, or name "
                "another with --soulmem-vectors."
            )

    def _lay_out(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA page_size=16384")  # Only before the first table and WAL.
        if self.path:
            _use_wal(connection)
        with _immediate(connection):
            # Another process may have been faster.
            if _is_blank(connection):
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def _entry(self, identity: Identity) -> tuple[int, int] | None:
        """Number and dimension of an identity."""
        if identity not in self._known:
            if not self._open_to_read():
                return None
            found = self._rows(
                "SELECT number, dimension FROM identity"
                " WHERE embedder = ? AND model = ? AND fingerprint = ?",
                [identity.embedder, identity.model, identity.fingerprint],
            )
            if not found:
                return None
            number, dimension = found[0]
            if not isinstance(dimension, int) or not 1 <= dimension <= _MOST_DIMENSIONS:
                raise self._damaged(f"vectors cannot be {visible(dimension)} numbers long")
            self._known[identity] = (number, dimension)
        return self._known[identity]

    def _enrol(self, connection: sqlite3.Connection, identity: Identity, dimension: int) -> int:
        """The number of an identity, new or old; within a transaction."""
        key = (identity.embedder, identity.model, identity.fingerprint)
        connection.execute(
            "INSERT OR IGNORE INTO identity (embedder, model, fingerprint, dimension)"
            " VALUES (?, ?, ?, ?)",
            (*key, dimension),
        )
        number, stored = connection.execute(
            "SELECT number, dimension FROM identity"
            " WHERE embedder = ? AND model = ? AND fingerprint = ?",
            key,
        ).fetchone()
        if stored != dimension:
            raise EmbedderError(
                f"{self}: the vectors of {visible(' '.join(key))} have {stored} dimensions in "
                f"the store and {dimension} now. An embedder whose vectors change needs another "
                "fingerprint."
            )
        return int(number)

    def _select(
        self, columns: str, identity: Identity, side: Side, digests: Sequence[bytes]
    ) -> list[tuple[Any, ...]]:
        entry = self._entry(identity)
        assert entry is not None  # noqa: S101  (callers have looked)
        marks = ",".join("?" * len(digests))
        return self._rows(
            f"SELECT {columns} FROM vector"  # noqa: S608  (no text of a user's)
            f" WHERE identity = ? AND side = ? AND digest IN ({marks})",
            [entry[0], side, *digests],
        )

    def _rows(self, query: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        assert self._connection is not None  # noqa: S101  (opened by the caller)
        with self._guard():
            return self._connection.execute(query, parameters).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        assert self._connection is not None  # noqa: S101  (opened by the caller)
        with _immediate(self._connection):
            yield self._connection

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Tell SQLite's errors in words that name the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            said = visible(error)
            if "no such" in said or "decode" in said:
                raise self._damaged(said) from None
            raise StoreError(
                f"{self}: the vector store cannot be used now ({said}). Is another process "
                "holding it, the disk full or the folder read-only?"
            ) from None
        except sqlite3.DatabaseError as error:
            raise self._damaged(visible(error)) from None

    def _damaged(self, how: str) -> StoreError:
        return StoreError(
            f"{self}: the vector store is damaged ({how}). Restore the file from version control, "
            "or delete it to have it made again."
        )

    def _refuse_read_only(self) -> None:
        if self.path is None:
            return
        place = self.path if self.path.exists() else _first_existing(self.path.parent)
        folder = _first_existing(self.path.parent)
        if not (os.access(place, os.W_OK) and os.access(folder, os.W_OK)):
            raise StoreError(
                f"{self}: the vector store is read-only, so no vector can be added. Make the "
                "file and its folder writable, or name another with --soulmem-vectors."
            )


_OTHER_FILE = "Name another file with --soulmem-vectors, or move this one away."


def _digest(text: str) -> bytes:
    # A lone surrogate is no UTF-8, but a text that has one must not stop a run.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _batches(texts: Sequence[str] | dict[str, None]) -> Iterator[list[str]]:
    rest = iter(texts)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _normalised(vectors: ArrayLike, count: int) -> NDArray[np.float32]:
    try:
        # Double precision: the square of a large float32 is infinite.
        rows = np.asarray(vectors, np.float64)
    except (TypeError, ValueError) as error:
        raise EmbedderError(f"vectors must be numbers: {visible(error)}") from None
    if count == 0 and rows.size == 0:
        return np.empty((0, 0), np.float32)
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] == 0:
        raise EmbedderError(f"{count} texts need vectors of shape ({count}, d), not {rows.shape}")
    if not np.isfinite(rows).all():
        raise EmbedderError("a vector holds NaN or infinity")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return cast("NDArray[np.float32]", unit.astype("<f4"))


def _are_unit(vectors: NDArray[np.float32]) -> bool:
    """Whether every row has length 1 or 0, as it was stored; false also for NaN and infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors)
    return bool(((np.abs(squares - 1) < 1e-3) | (squares == 0)).all())


def _uri(path: Path, query: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{query}"


def _first_existing(folder: Path) -> Path:
    return next((place for place in (folder, *folder.parents) if place.exists()), folder)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _is_blank(connection: sqlite3.Connection) -> bool:
    """Whether a file holds nothing at all, as one does that was made this moment."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and _pragma(connection, "application_id") == 0


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, which lets many read while one writes."""
    give_up = time.monotonic() + _TIMEOUT
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError:
            # Two processes that switch at once are refused whatever their timeout.
            if time.monotonic() > give_up:
                raise
            time.sleep(0.005)


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that takes the write lock at once; one that asks for it later is refused."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
