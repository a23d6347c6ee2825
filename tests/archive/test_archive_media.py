from __future__ import annotations

import hashlib
import os
import sqlite3
import threading

import pytest

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.clock import Clock
from pytest_soulmem.archive.media import DamagedMedia


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def chain(tmp_path, clock):
    chain = SqliteChain(tmp_path, clock)
    yield chain
    chain.close()


def put(chain, data=b"flag", context=None):
    return chain.put(data, "image/png", "", context)


def test_content_is_known_by_its_sha256(chain, tmp_path):
    digest = put(chain)
    assert digest == hashlib.sha256(b"flag").hexdigest()
    assert (tmp_path / "blobs" / digest).read_bytes() == b"flag"
    assert chain.read(digest) == b"flag"


def test_the_file_is_a_database_in_wal_mode(chain, tmp_path):
    with sqlite3.connect(tmp_path / "chain.sqlite3") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_storing_goes_temporary_file_fsync_rename_row(chain, tmp_path, monkeypatch):
    seen = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (seen.append("fsync"), fsync(file)))

    def passed(point):
        files = [path.suffix or "whole" for path in (tmp_path / "blobs").iterdir()]
        with sqlite3.connect(tmp_path / "chain.sqlite3") as connection:
            rows = connection.execute("SELECT count(*) FROM media").fetchone()[0]
        seen.append((point, *files, rows))

    chain.watch(passed)
    put(chain)
    assert seen == [
        ("put.temporary", ".part", 0),
        "fsync",
        ("put.synced", ".part", 0),
        ("put.renamed", "whole", 0),
        ("put.row", "whole", 0),
        ("put.committed", "whole", 1),
    ]


@pytest.mark.parametrize("data", [b"other", b""])
def test_reading_verifies_the_digest(chain, tmp_path, data):
    digest = put(chain)
    (tmp_path / "blobs" / digest).write_bytes(data)
    with pytest.raises(DamagedMedia, match="other content"):
        chain.read(digest)
    assert put(chain) == digest  # storing again heals it
    assert chain.read(digest) == b"flag"


def test_a_missing_file_is_told(chain, tmp_path):
    digest = put(chain)
    (tmp_path / "blobs" / digest).unlink()
    with pytest.raises(DamagedMedia, match="missing"):
        chain.read(digest)


def test_what_was_never_stored_is_none(chain):
    assert chain.read("0" * 64) is None


def test_references_are_idempotent_and_counted(chain):
    digest = put(chain, context="chat")
    put(chain, context="chat")
    put(chain, context="other")
    assert chain.references() == [("context", "chat", digest), ("context", "other", digest)]
    assert chain.reference_count(digest) == 2


def test_older_than_the_minimum_age_is_meant(chain, clock):
    digest = put(chain)
    clock.advance(24)
    assert chain.gc(24, None) == []
    clock.advance(0.1)
    assert chain.gc(24, None) == [digest]


def test_collecting_goes_oldest_first(chain, clock):
    digests = []
    for data in (b"c", b"a", b"b"):
        digests.append(put(chain, data))
        clock.advance(1)
    assert chain.gc(0, None) == digests


def test_collecting_deletes_rows_commits_then_unlinks(chain, clock, tmp_path):
    put(chain)
    clock.advance(1)
    seen = []

    def passed(point):
        with sqlite3.connect(tmp_path / "chain.sqlite3") as connection:
            rows = connection.execute("SELECT count(*) FROM media").fetchone()[0]
        seen.append((point, rows, len(list((tmp_path / "blobs").iterdir()))))

    chain.watch(passed)
    chain.gc(0, None)
    assert seen == [("gc.deleted", 1, 1), ("gc.committed", 0, 1), ("gc.unlinked", 0, 0)]


def test_nothing_is_stored_while_files_are_unlinked(chain, clock, tmp_path):
    """Else the file of a media that is just stored again would be unlinked under its row."""
    digest = put(chain)
    clock.advance(1)
    stored = threading.Event()

    def store_again():
        other = SqliteChain(tmp_path, clock)
        put(other)
        stored.set()
        other.close()

    thread = threading.Thread(target=store_again)

    def passed(point):
        if point == "gc.committed":
            thread.start()
            assert not stored.wait(0.2)

    chain.watch(passed)
    assert chain.gc(0, None) == [digest]
    thread.join(10)
    assert chain.read(digest) == b"flag"


def test_recovery_removes_orphaned_files_only(chain, tmp_path):
    digest = put(chain, context="chat")
    before = chain.references()
    for name in (f"{digest}.part", "0" * 64):
        (tmp_path / "blobs" / name).write_bytes(b"x")
    chain.recover()
    assert chain.files() == [digest]
    chain.recover()
    assert (chain.files(), chain.references()) == ([digest], before)


def test_a_chain_finds_everything_again(tmp_path, clock):
    first = SqliteChain(tmp_path, clock)
    digest = put(first, context="chat")
    first.close()
    second = SqliteChain(tmp_path, clock)
    assert second.read(digest) == b"flag"
    assert second.references() == [("context", "chat", digest)]
    second.close()
