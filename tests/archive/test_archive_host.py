from __future__ import annotations

import pytest
from archive_helpers import opener, subject

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.crash import CRASH_POINTS, Crash
from pytest_soulmem.archive.host import Host
from pytest_soulmem.users_code import Misbehaviour


@pytest.fixture
def host(tmp_path):
    with Host(opener(), tmp_path / "chain") as host:
        yield host


def test_uncommitted_work_is_lost(host):
    assert host.dies("put.row", lambda: host.chain.put(b"x", "image/png", "", "chat"))
    assert host.chain.references() == []
    assert len(host.chain.files()) == 1


def test_committed_work_is_there(host):
    assert host.dies("put.committed", lambda: host.chain.put(b"x", "image/png", "", "chat"))
    assert len(host.chain.references()) == 1


def test_a_point_that_is_not_passed_kills_nothing(host):
    chain = host.chain
    assert not host.dies("gc.unlinked", lambda: host.chain.gc(0, None))
    assert host.chain is chain


def test_what_is_done_after_the_point_is_not_on_disk(tmp_path):
    class TidiesUp(SqliteChain):
        def put(self, *arguments):
            try:
                return super().put(*arguments)
            finally:
                self.recover()

    with Host(opener(TidiesUp), tmp_path / "chain") as host:
        assert host.dies("put.synced", lambda: host.chain.put(b"x", "image/png", "", None))
        assert len(host.chain.files()) == 1


@pytest.mark.parametrize("raised", [None, ValueError])
def test_catching_the_crash_does_not_save_a_chain(tmp_path, raised):
    class Survives(SqliteChain):
        def put(self, *arguments):
            try:
                return super().put(*arguments)
            except Crash:
                if raised:
                    raise raised from None
                return ""

    with Host(opener(Survives), tmp_path / "chain") as host:
        assert host.dies("put.row", lambda: host.chain.put(b"x", "image/png", "", "chat"))
        assert host.chain.references() == []


def test_errors_before_the_point_are_told(host):
    with pytest.raises(Misbehaviour, match="there is no document"):
        host.dies("archive.bound", lambda: host.chain.archive("nowhere", lambda _: []))


def test_a_twin_leaves_the_original_alone(host):
    with host.twin() as twin:
        twin.chain.put(b"x", "image/png", "", "chat")
        assert twin.chain.references()
    assert host.chain.references() == []


def test_the_reference_passes_every_point(tmp_path):
    """What the table of points lists is what happens, in the table's order."""
    seen = []
    chain = subject(tmp_path, lambda: 0.0)
    chain.watch(seen.append)
    digest = chain.put(b"x", "image/png", "", "chat")
    chain.put(b"y", "image/png", "", None)
    chain.transfer("chat", "notes", f"[image/png {digest[:12]}]")
    chain.archive("notes", lambda _: [])
    chain.gc(-1, None)
    (tmp_path / "blobs" / "orphan").touch()
    chain.recover()
    assert [point for point in dict.fromkeys(seen) if point in CRASH_POINTS] == [*CRASH_POINTS]
    chain.close()
