from __future__ import annotations

import json
from pathlib import Path

from hypothesis import find, given, settings

from events.samples import EDGES, read
from pytest_soulmem.decoding import parse_json
from pytest_soulmem.events import reduce_events
from pytest_soulmem.events.fixture import load_event_file
from pytest_soulmem.events.strategies import event_files, event_streams, streams_like
from pytest_soulmem.events.stream import read_stream, steps_of


@settings(deadline=None)
@given(event_streams())
def test_streams_can_be_read_and_hold_one_step(stream):
    assert len(steps_of(read_stream(stream))) <= 1


@settings(deadline=None, max_examples=50)
@given(event_files())
def test_files_can_be_written_and_read_and_the_reference_meets_them(document):
    document = parse_json(json.dumps(document).encode())
    loaded = load_event_file(Path("x.json"), document)
    assert len(loaded.usable) == len(document["scenarios"])
    for own in loaded.usable:
        for step, expected in own.judged:
            found = reduce_events(own.raw_events, *step)
            assert {name: getattr(found, name) for name in expected.given} == expected.given


def test_every_state_is_reached():
    for state in ("completed", "truncated", "failed", "no_completion_basis"):
        find(
            event_streams(), lambda stream, s=state: reduce_events(stream, 1, 1).terminal_state == s
        )


def test_streams_like_a_file_hold_its_events_in_one_step():
    scenarios = load_event_file(EDGES, read(EDGES)).usable
    stream = find(streams_like(scenarios), lambda stream: "迟到。" in str(stream))
    assert steps_of(read_stream(stream)) == [(1, 1)]
