"""The laws of reducing model events, tried by hypothesis on streams made from a file's.

A law is a statement about any reducer. Every stream is of turn 1, step 1, unless it is about
several steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pytest_soulmem.events.strategies import (
    HERE,
    errors,
    event_streams,
    finishes,
    messages,
    moved,
    text_chunks,
    unknown_events,
)
from pytest_soulmem.events.stream import Finish, Receipt, read_stream
from pytest_soulmem.events.subject import Subject
from pytest_soulmem.events.terms import FIELDS, Outcome, Raw, Step
from pytest_soulmem.events.wording import counted, json_lines, shown
from pytest_soulmem.kinds import Failure
from pytest_soulmem.laws import Broken, broken_law, find_counterexample

Stream: TypeAlias = list[Raw]

_PLACES = st.integers(0, 12)
"""Where an event is put: modulo the places that a stream has."""


@dataclass(frozen=True)
class Domain:
    """What a law is tried on: a reducer, and streams of turn 1, step 1."""

    subject: Subject
    streams: SearchStrategy[Stream]

    def outcome(self, stream: Sequence[Raw], step: Step = HERE) -> Outcome:
        """The reducer's verdict."""
        return self.subject.outcome(stream, step)

    def must_agree(self, change: str, first: Stream, second: Stream) -> None:
        """Demand the same verdict on two streams; ``change`` says how the second differs.

        Raises:
            Broken: the verdicts differ.
        """
        before, after = self.outcome(first), self.outcome(second)
        for field in FIELDS:
            one, other = getattr(before, field), getattr(after, field)
            if one != other:
                seen = f"{change} changes {field} from {shown(one)} to {shown(other)}"
                raise Broken(seen, [*_told(first, before), *_told(second, after)])


def _told(stream: Stream, outcome: Outcome) -> list[str]:
    """A verdict with its stream, in the file's own terms."""
    head = f"{_brief(outcome)}; after {counted(len(stream), 'event')}"
    return [f"{head}:" if stream else head, *(f"  {line}" for line in json_lines(stream))]


def _brief(outcome: Outcome) -> str:
    fields = ("finish_reason", "error_code", "final_text", "partial_text")
    told = {field: getattr(outcome, field) for field in fields}
    parts = [f"{field} {shown(value)}" for field, value in told.items() if value is not None]
    return ", ".join([outcome.terminal_state, f"usage {outcome.usage_state}", *parts])


@dataclass(frozen=True)
class Law:
    """A law: what it says, what it is tried with besides a stream, and how it is checked."""

    statement: str
    draws: Mapping[str, SearchStrategy[Any]]
    check: Callable[..., None]
    """Called with the domain, a stream and what was drawn; raises Broken."""


def try_law(law_name: str, domain: Domain, key: str) -> Failure | None:
    """Let hypothesis look for a counterexample; the failure that shows it, or None.

    ``key`` keeps this law's examples and seed apart from those of every other.

    Raises:
        Misbehaviour: the reducer raised or returned nonsense.
    """
    law = LAWS[law_name]
    draws = {"stream": domain.streams, **law.draws}
    found = find_counterexample(partial(law.check, domain), draws, key)
    if found is None:
        return None
    return broken_law(law_name, law.statement, f"reducer {domain.subject.name}", found)


def _with(stream: Stream, place: int, *events: Raw) -> Stream:
    at = place % (len(stream) + 1)
    return [*stream[:at], *events, *stream[at:]]


def _without(stream: Stream, unwanted: Callable[[Any], bool]) -> Stream:
    events = read_stream(stream)
    return [raw for raw, event in zip(stream, events, strict=True) if not unwanted(event)]


# What changes nothing


def _chunking(domain: Domain, stream: Stream, at: int, chunk: Raw, cut: int) -> None:
    text = chunk["data"]["chunk"]["text"]
    halves = [_with_text(chunk, text[:cut]), _with_text(chunk, text[cut:])]
    domain.must_agree(
        "cutting a chunk in two", _with(stream, at, chunk), _with(stream, at, *halves)
    )


def _with_text(chunk: Raw, text: str) -> Raw:
    data = chunk["data"]
    return {**chunk, "data": {**data, "chunk": {**data["chunk"], "text": text}}}


def _commuting(domain: Domain, stream: Stream, at: int, finish: Raw, message: Raw) -> None:
    domain.must_agree(
        "putting the message before the finish",
        _with(stream, at, finish, message),
        _with(stream, at, message, finish),
    )


def _repetition(domain: Domain, stream: Stream, at: int, event: Raw, again: int) -> None:
    once = _with(stream, at, event)
    domain.must_agree("repeating an event", once, _with(once, again, event))


def _unknown(domain: Domain, stream: Stream, at: int, event: Raw) -> None:
    domain.must_agree("an unknown event", stream, _with(stream, at, event))


def _independent(
    domain: Domain, stream: Stream, other: Stream, elsewhere: Step, order: list[bool]
) -> None:
    mixed = _interleaved(stream, [moved(raw, elsewhere) for raw in other], order)
    domain.must_agree(f"what happens in {elsewhere}", stream, mixed)


def _interleaved(first: Stream, second: Stream, order: Sequence[bool]) -> Stream:
    """Both streams in one, each in its order; ``order`` says when the second one's turn is."""
    first, second, mixed = list(first), list(second), []
    for from_second in order:
        source = second if from_second else first
        if source:
            mixed.append(source.pop(0))
    return mixed + first + second


# What must and what must not be concluded


def _cutting(domain: Domain, stream: Stream, rest: Stream) -> None:
    complete = [*stream, *rest]
    whole = domain.outcome(complete)
    if whole.terminal_state not in ("no_completion_basis", "truncated"):
        return
    for end in range(len(complete)):
        cut = domain.outcome(complete[:end])
        if cut.terminal_state == "completed":
            seen = f"cutting the stream short turns {whole.terminal_state} into completed"
            raise Broken(seen, [*_told(complete, whole), *_told(complete[:end], cut)])


def _basis(domain: Domain, stream: Stream, lacking: str) -> None:
    without = _without(stream, _is_message if lacking == "message" else _is_stop)
    found = domain.outcome(without)
    if found.terminal_state == "completed":
        raise Broken(f"completed without a {lacking}", _told(without, found))


def _is_message(event: object) -> bool:
    return isinstance(event, Receipt)


def _is_stop(event: object) -> bool:
    return isinstance(event, Finish) and event.kind == "stop"


def _length(domain: Domain, stream: Stream, at: int, finish: Raw) -> None:
    others = _without(stream, lambda event: isinstance(event, Finish))
    long = _with(others, at, finish)
    found = domain.outcome(long)
    if found.terminal_state not in ("truncated", "failed"):
        seen = f"a finish with length is {found.terminal_state}"
        raise Broken(seen, _told(long, found))


def _usage(domain: Domain, stream: Stream, at: int, message: Raw, *, bare: bool) -> None:
    stream = _with(stream, at, message)
    if bare:
        stream = [_without_usage(raw) for raw in stream]
    receipts = [event for event in read_stream(stream) if isinstance(event, Receipt)]
    figures = [item for receipt in receipts for item in receipt.usage.items()]
    found = domain.outcome(stream)
    due = "known" if figures else "unknown"
    if found.usage_state != due:
        seen = f"usage is {found.usage_state} where messages make it {due}"
        raise Broken(seen, _told(stream, found))
    for item in (found.usage or {}).items():
        if item not in figures:
            raise Broken(f"no message says {item[0]} {item[1]}", _told(stream, found))


def _without_usage(raw: Raw) -> Raw:
    data = raw.get("data")
    if not isinstance(data, dict):
        return raw
    return {**raw, "data": {name: value for name, value in data.items() if name != "usage"}}


def _failing(domain: Domain, stream: Stream, fatal: Sequence[Raw], places: Sequence[int]) -> None:
    for at, event in zip(places, fatal, strict=False):
        stream = _with(stream, at, event)
    found = domain.outcome(stream)
    if found.terminal_state != "failed":
        what = "an error" if len(fatal) == 1 else "a contradiction"
        raise Broken(f"{what} is {found.terminal_state}", _told(stream, found))


def _fatal() -> SearchStrategy[Sequence[Raw]]:
    """An error, two finishes of different kinds, or two receipts of different texts."""
    kinds = ("stop", "length", "tool_calls")
    return (
        errors().map(lambda error: (error,))
        | st.permutations(kinds).flatmap(lambda own: st.tuples(*_each_finish(own[:2])))
        | st.tuples(messages(), messages()).filter(lambda pair: _text(pair[0]) != _text(pair[1]))
    )


def _each_finish(kinds: Sequence[str]) -> list[SearchStrategy[Raw]]:
    return [finishes(kinds=[kind]) for kind in kinds]


def _text(message: Raw) -> str:
    return str(message["data"]["message"]["content"][0]["text"])


_ELSEWHERE = st.sampled_from((Step(1, 2), Step(2, 1), Step(0, 1), Step(1, 0)))


LAWS = {
    "chunking": Law(
        "how the text is cut into chunks does not matter",
        {"at": _PLACES, "chunk": text_chunks(), "cut": st.integers(0, 3)},
        _chunking,
    ),
    "commuting": Law(
        "a finish and a message may come in either order",
        {"at": _PLACES, "finish": finishes(), "message": messages()},
        _commuting,
    ),
    "repetition": Law(
        "a finish or a message that comes again, unchanged, changes nothing",
        {"at": _PLACES, "event": finishes() | messages(), "again": _PLACES},
        _repetition,
    ),
    "cutting-short": Law(
        "a stream cut short is never completed where the whole one is truncated "
        "or has no basis for completion",
        {"rest": st.lists(finishes() | finishes(kinds=["length"]) | messages(), max_size=3)},
        _cutting,
    ),
    "independent-steps": Law(
        "the events of one step never change the verdict on another",
        {
            "other": event_streams(max_size=4),
            "elsewhere": _ELSEWHERE,
            "order": st.lists(st.booleans(), max_size=8),
        },
        _independent,
    ),
    "unknown-events": Law(
        "an event of an unknown type changes nothing",
        {"at": _PLACES, "event": unknown_events()},
        _unknown,
    ),
    "completion-basis": Law(
        "nothing is completed without both a finish with stop and a message; never by text alone",
        {"lacking": st.sampled_from(("message", "finish with stop"))},
        _basis,
    ),
    "length-truncates": Law(
        "a finish with length never completes, with a message or without",
        {"at": _PLACES, "finish": finishes(kinds=["length"])},
        _length,
    ),
    "usage": Law(
        "usage is known exactly if a message carries some, and no figure is made up",
        {"at": _PLACES, "message": messages(), "bare": st.booleans()},
        _usage,
    ),
    "failing": Law(
        "an error, two kinds of finish, or two different messages always fail",
        {"fatal": _fatal(), "places": st.tuples(_PLACES, _PLACES)},
        _failing,
    ),
}
