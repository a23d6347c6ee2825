from __future__ import annotations

import pytest

from events.samples import finish, text
from pytest_soulmem.events import Outcome, Step, reduce_events
from pytest_soulmem.events.subject import Subject, as_subject
from pytest_soulmem.users_code import Misbehaviour


def asked(reducer):
    return Subject(reducer).outcome([text("好"), finish("stop")], Step(1, 1))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "returned None; expected an Outcome"),
        ({"terminal_state": "completed"}, "expected an Outcome"),
        (Outcome("complete"), "terminal_state is 'complete'; .*did you mean \"completed\""),
        (Outcome("failed", "maybe"), "usage_state is 'maybe'; expected one of known, unknown"),
        (Outcome("failed", error_code=3), "error_code is 3; expected text or None"),
        (Outcome("failed", usage={"inputTokens": "1"}), "usage is .*; expected a mapping"),
        (Outcome("failed", usage=7), "usage is 7"),
    ],
)
def test_nonsense_is_told(answer, reason):
    with pytest.raises(Misbehaviour, match=reason) as caught:
        asked(lambda events, turn, step: answer)
    assert "turn 1, step 1 of\n" in caught.value.details
    assert '"text": "好"' in caught.value.details


def test_an_error_is_told_with_the_users_frames_only():
    def broken(events, turn, step):
        return events[9]

    with pytest.raises(Misbehaviour, match="broken raised IndexError") as caught:
        asked(broken)
    assert "return events[9]" in caught.value.details
    assert "users_code.py" not in caught.value.details


def test_a_reducer_may_consume_its_events():
    def greedy(events, turn, step):
        found = reduce_events(events, turn, step)
        events.clear()
        return found

    events = [text("好")]
    assert Subject(greedy).outcome(events, Step(1, 1)).partial_text == "好"
    assert events == [text("好")]


@pytest.mark.parametrize(("answer", "told"), [(7, "returned 7"), (dict, "returned the class dict")])
def test_what_the_hook_returns_must_be_a_function(answer, told):
    with pytest.raises(Misbehaviour, match=told):
        as_subject(answer)
