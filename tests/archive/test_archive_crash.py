"""A simulated death leaves exactly what the death of a process leaves."""

from __future__ import annotations

import os

import pytest
from archive_helpers import opener, subject

from pytest_soulmem.archive.clock import Clock
from pytest_soulmem.archive.crash import CRASH_POINTS
from pytest_soulmem.archive.digests import sha256
from pytest_soulmem.archive.host import Host
from pytest_soulmem.archive.markers import marker_text
from pytest_soulmem.archive.state import observe

FLAG, SONG, LATE = b"flag", b"song", b"late"
DIGESTS = [sha256(data) for data in (FLAG, SONG, LATE)]
NOTES = marker_text("image/png", DIGESTS[0], "三色旗")


def prepare(chain, clock, path):
    """A chain in which every kind of step has something to do."""
    chain.put(FLAG, "image/png", "", "chat")
    chain.transfer("chat", "notes", NOTES)
    chain.put(SONG, "audio/ogg", "", None)
    (path / "blobs" / "orphan").write_bytes(b"x")
    clock.advance(1)


ACTS = {
    "put": lambda chain: chain.put(LATE, "image/png", "", "chat"),
    "transfer": lambda chain: chain.transfer("chat", "more", NOTES),
    "archive": lambda chain: chain.archive("notes", lambda _: []),
    "gc": lambda chain: chain.gc(0, None),
    "recover": lambda chain: chain.recover(),
}


def left_by_a_process(path, point, act):
    """Do it in a process of its own that is gone, with everything it held, at the point."""
    clock = Clock()
    child = os.fork()
    if child == 0:
        chain = subject(path, clock)
        prepare(chain, clock, path)
        chain.watch(lambda name: os._exit(9) if name == point else None)
        act(chain)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    chain = subject(path, clock)
    state = observe(chain, DIGESTS)
    chain.close()
    return state


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("point", CRASH_POINTS)
def test_it_is_what_a_dead_process_leaves(tmp_path, point):
    act = ACTS[point.partition(".")[0]]
    with Host(opener(), tmp_path / "simulated") as host:
        prepare(host.chain, host.clock, tmp_path / "simulated")
        assert host.dies(point, lambda: act(host.chain))
        simulated = observe(host.chain, DIGESTS)
    assert simulated == left_by_a_process(tmp_path / "real", point, act)
