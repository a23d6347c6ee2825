"""The laws: the reference obeys them on any stream, and each fault breaks the one named for it."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from events.mutants import CAUGHT_BY
from events.samples import DOCUMENT, read
from pytest_soulmem.events import reduce_events
from pytest_soulmem.events.fixture import LAW_NAMES, load_event_file
from pytest_soulmem.events.laws import LAWS, Domain, try_law
from pytest_soulmem.events.strategies import event_streams, streams_like
from pytest_soulmem.events.subject import Subject
from pytest_soulmem.users_code import Misbehaviour


def documents_streams():
    return streams_like(load_event_file(DOCUMENT, read(DOCUMENT)).usable)


def test_every_law_has_a_name_and_a_mutant():
    assert tuple(LAWS) == LAW_NAMES
    assert set(CAUGHT_BY.values()) == set(LAW_NAMES)


@pytest.mark.parametrize("law", LAW_NAMES)
def test_the_reference_obeys_on_any_stream(law):
    domain = Domain(Subject(reduce_events), event_streams())
    assert try_law(law, domain, law) is None


@pytest.mark.parametrize("mutant", CAUGHT_BY, ids=lambda mutant: mutant.__name__)
def test_a_fault_breaks_the_law_named_for_it(mutant):
    law = CAUGHT_BY[mutant]
    failure = try_law(law, Domain(Subject(mutant), documents_streams()), mutant.__name__)
    assert failure is not None
    assert failure.reason.startswith(f"law {law} is broken: ")
    assert LAWS[law].statement in failure.text


def test_a_counterexample_is_shown_in_the_files_terms():
    from events.mutants import text_alone_completes

    domain = Domain(Subject(text_alone_completes), documents_streams())
    failure = try_law("completion-basis", domain, "shown")
    assert failure is not None
    lines = failure.text.splitlines()
    start = lines.index("simplest counterexample found:")
    assert lines[start + 1].startswith("  completed, usage unknown, partial_text ")
    assert lines[start + 1].endswith("; after 1 event:")
    assert lines[start + 2].startswith(
        '    {"type": "assistant/chunk", "data": {"turn": 1, "step": 1, "chunk": {"type": "text"'
    )


def test_a_reducer_that_raises_is_told_as_the_users():
    def raising(events, turn, step):
        raise KeyError(turn)

    with pytest.raises(Misbehaviour, match="raising raised KeyError"):
        try_law("usage", Domain(Subject(raising), st.just([])), "raises")


def test_a_reducer_that_changes_its_mind_is_told():
    calls = []

    def fickle(events, turn, step):
        calls.append(1)
        return reduce_events([] if len(calls) % 3 else events, turn, step)

    failure = try_law("chunking", Domain(Subject(fickle), event_streams()), "fickle")
    assert failure is not None
