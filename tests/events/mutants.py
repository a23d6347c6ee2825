"""Reducers with one fault each, and the law that is named for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_soulmem.events import Outcome, reduce_events
from pytest_soulmem.events.reducer import Seen, gather, verdict
from pytest_soulmem.events.stream import Finish, Text, Unknown, read_stream
from pytest_soulmem.events.terms import Raw, Step


def _seen(events: Sequence[Raw], turn: int, step: int) -> Seen:
    return gather(read_stream(events), Step(turn, step))


def text_alone_completes(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    found = reduce_events(events, turn, step)
    unsure = found.terminal_state == "no_completion_basis"
    return replace(found, terminal_state="completed") if unsure and found.partial_text else found


def missing_usage_is_zero(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    found = reduce_events(events, turn, step)
    if found.usage is not None or not _seen(events, turn, step).receipts:
        return found
    return replace(found, usage_state="known", usage={"inputTokens": 0, "outputTokens": 0})


def length_with_receipt_completes(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    found = reduce_events(events, turn, step)
    cut = found.terminal_state == "truncated" and found.final_text is not None
    return replace(found, terminal_state="completed") if cut else found


def last_finish_wins(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    seen = _seen(events, turn, step)
    return verdict(replace(seen, finishes=seen.finishes[-1:]))


def last_message_wins(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    seen = _seen(events, turn, step)
    return verdict(replace(seen, receipts=seen.receipts[-1:]))


def errors_are_ignored(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    return verdict(replace(_seen(events, turn, step), errors=()))


def steps_are_mixed(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    """Keeps turns apart, but not the steps of one."""
    moved = [
        {**raw, "data": {**raw["data"], "step": step}}
        if raw.get("data", {}).get("turn") == turn
        else raw
        for raw in events
    ]
    return reduce_events(moved, turn, step)


def finish_must_come_first(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    found = reduce_events(events, turn, step)
    own = [event for event in read_stream(events) if getattr(event, "step", None) == (turn, step)]
    late = found.terminal_state == "completed" and isinstance(own[-1], Finish)
    return replace(found, terminal_state="no_completion_basis") if late else found


def repeated_finish_contradicts(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    found = reduce_events(events, turn, step)
    if len(_seen(events, turn, step).finishes) < 2:
        return found
    return replace(found, terminal_state="failed", error_code="contradictory_finish")


def last_chunk_is_the_text(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    seen = _seen(events, turn, step)
    return verdict(replace(seen, texts=seen.texts[-1:]))


def unknown_events_fail(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    found = reduce_events(events, turn, step)
    if not any(isinstance(event, Unknown) for event in read_stream(events)):
        return found
    return replace(found, terminal_state="failed", error_code="unknown_event")


def last_text_completes(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    """Takes a stream that ends in the middle of a sentence for a whole one."""
    found = reduce_events(events, turn, step)
    own = [event for event in read_stream(events) if getattr(event, "step", None) == (turn, step)]
    open_end = found.terminal_state == "no_completion_basis" and own and isinstance(own[-1], Text)
    return replace(found, terminal_state="completed") if open_end else found


CAUGHT_BY: dict[Any, str] = {
    text_alone_completes: "completion-basis",
    missing_usage_is_zero: "usage",
    length_with_receipt_completes: "length-truncates",
    last_finish_wins: "failing",
    last_message_wins: "failing",
    errors_are_ignored: "failing",
    steps_are_mixed: "independent-steps",
    finish_must_come_first: "commuting",
    repeated_finish_contradicts: "repetition",
    last_chunk_is_the_text: "chunking",
    unknown_events_fail: "unknown-events",
    last_text_completes: "cutting-short",
}
