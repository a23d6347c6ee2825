"""hypothesis strategies for model events, so that you can write properties of your own.

Every event is plain data that the reader accepts, as a file would hold it. Streams shrink to the
fewest and simplest events that still show a fault.

Example::

    from hypothesis import given
    from pytest_soulmem.events.strategies import event_streams

    @given(event_streams())
    def test_text_alone_is_never_completion(stream):
        texts = [event for event in stream if is_text(event)]
        assert my_reduce(texts, 1, 1).terminal_state == "no_completion_basis"
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pytest_soulmem.events.fixture import SCHEMA_VERSION, Scenario
from pytest_soulmem.events.reducer import reduce_events
from pytest_soulmem.events.stream import CHUNK, ERROR, MESSAGE, read_stream, steps_of
from pytest_soulmem.events.terms import FIELDS, Raw, Step

__all__ = [
    "errors",
    "event_files",
    "event_streams",
    "finishes",
    "messages",
    "text_chunks",
    "unknown_events",
]

HERE = Step(1, 1)

_LONGEST = 10
"""Events that a stream has at most."""

_TEXTS = st.sampled_from(("夜色", "渐深。", "a", "")) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=6
)
_FIGURES = st.sampled_from(("inputTokens", "outputTokens", "costUsd"))
_USAGES = st.none() | st.dictionaries(_FIGURES, st.integers(0, 3) | st.none(), max_size=2)


def text_chunks(step: Step = HERE) -> SearchStrategy[Raw]:
    """Chunks of text, in Chinese and any other script; sometimes empty."""
    return _TEXTS.map(lambda text: _event(CHUNK, step, chunk={"type": "text", "text": text}))


def finishes(
    step: Step = HERE, kinds: Sequence[str] = ("stop", "length", "tool_calls")
) -> SearchStrategy[Raw]:
    """Finishes of the given kinds."""
    return st.sampled_from(kinds).map(
        lambda kind: _event(CHUNK, step, chunk={"type": "finish", "reason": {"kind": kind}})
    )


def messages(step: Step = HERE) -> SearchStrategy[Raw]:
    """Receipts, with whole, partial, empty or no usage."""
    return st.builds(lambda text, usage: _message(step, text, usage), _TEXTS, _USAGES)


def errors(step: Step = HERE) -> SearchStrategy[Raw]:
    """Errors."""
    return st.sampled_from(("provider_unavailable", "timeout")).map(
        lambda code: _event(ERROR, step, error={"code": code, "message": "上游不可用"})
    )


def unknown_events(step: Step = HERE) -> SearchStrategy[Raw]:
    """Events and chunks of types that no reader knows, with and without a step."""
    here = {"turn": step.turn, "step": step.step}
    events: list[Raw] = [
        {"type": "provider/heartbeat"},
        {"type": "tool/result", "data": {**here, "text": "42", "usage": {"inputTokens": 1}}},
        {"type": CHUNK, "data": {**here, "chunk": {"type": "reasoning", "text": "嗯"}}},
    ]
    return st.sampled_from(events).map(deepcopy)


def event_streams(step: Step = HERE, max_size: int = _LONGEST) -> SearchStrategy[list[Raw]]:
    """Any events of one step, in any order; now and then none."""
    known = text_chunks(step) | finishes(step) | messages(step) | errors(step)
    return st.lists(known | unknown_events(step), max_size=max_size)


@st.composite
def event_files(draw: DrawFn) -> dict[str, Any]:
    """Whole event files, which expect what the reference reducer finds."""
    streams = draw(st.lists(_several_steps(), min_size=1, max_size=3))
    scenarios = [
        {"scenario_id": f"scenario-{number}", "events": stream, "expected": draw(_expected(stream))}
        for number, stream in enumerate(streams)
    ]
    return {"schema_version": SCHEMA_VERSION, "scenarios": scenarios}


def _several_steps() -> SearchStrategy[list[Raw]]:
    steps = st.builds(Step, st.integers(1, 2), st.integers(1, 2))
    return st.lists(steps.flatmap(lambda step: event_streams(step, 4)), max_size=3).map(
        lambda parts: [event for part in parts for event in part]
    )


@st.composite
def _expected(draw: DrawFn, stream: list[Raw]) -> dict[str, Any]:
    last = next(reversed(steps_of(read_stream(stream))), HERE)
    found = reduce_events(stream, *last)
    fields = draw(st.sets(st.sampled_from(FIELDS), min_size=1))
    return {field: getattr(found, field) for field in FIELDS if field in fields}


def streams_like(scenarios: Sequence[Scenario]) -> SearchStrategy[list[Raw]]:
    """Streams of one step, made from the events of some scenarios.

    Each is a part of what one scenario holds for a step, or all of it, with at most two events of
    others between.
    """
    steps = [
        [moved(raw, HERE) for raw in _of_step(scenario, step)]
        for scenario in scenarios
        for step in steps_of(scenario.events) or [HERE]
    ]
    strays = [event for events in steps for event in events]
    if not strays:
        return event_streams()
    # Long streams in pieces: what breaks a law does so in few events.
    pieces = [
        events[at : at + _LONGEST] for events in steps for at in range(0, len(events), _LONGEST)
    ]
    between = st.lists(st.tuples(st.integers(0, _LONGEST), st.sampled_from(strays)), max_size=2)
    return st.builds(_with_strays, st.one_of([_parts(piece) for piece in pieces]), between)


def _parts(events: Sequence[Raw]) -> SearchStrategy[list[Raw]]:
    """Any of the events, in their order; shrinks to none of them."""
    return st.tuples(*(st.booleans() for _ in events)).map(
        lambda kept: [event for event, keep in zip(events, kept, strict=True) if keep]
    )


def _with_strays(stream: list[Raw], strays: Sequence[tuple[int, Raw]]) -> list[Raw]:
    for at, stray in strays:
        stream = [*stream[:at], stray, *stream[at:]]
    return stream


def _of_step(scenario: Scenario, step: Step) -> list[Raw]:
    """The events of a step, and the unknown ones, which belong to none."""
    return [
        raw
        for raw, event in zip(scenario.raw_events, scenario.events, strict=True)
        if getattr(event, "step", step) == step
    ]


def moved(raw: Raw, step: Step) -> Raw:
    """The event as one of another step; one without a step as it is."""
    data = raw.get("data")
    if not isinstance(data, dict) or not {"turn", "step"} <= data.keys():
        return raw
    return {**raw, "data": {**data, "turn": step.turn, "step": step.step}}


def _message(step: Step, text: str, usage: dict[str, int | None] | None) -> Raw:
    event = _event(
        MESSAGE,
        step,
        message={
            "source": {"provider": "synthetic", "model": "fixture-model"},
            "content": [{"type": "text", "text": text}],
        },
    )
    if usage is not None:
        event["data"]["usage"] = usage
    return event


def _event(kind: str, step: Step, **fields: Any) -> Raw:
    return {"type": kind, "data": {"turn": step.turn, "step": step.step, **fields}}
