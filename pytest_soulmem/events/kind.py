"""Model events as a kind of fixture: from an event file to verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from pytest_soulmem.cases import digest
from pytest_soulmem.events.authoring import advice, example, faults, schema
from pytest_soulmem.events.fixture import EventFile, Scenario, load_event_file, recognises
from pytest_soulmem.events.judging import Judgement, explain
from pytest_soulmem.events.reducer import gather, reduce_events
from pytest_soulmem.events.result import EventsResult, StepSeen, System
from pytest_soulmem.events.stream import Unknown, steps_of
from pytest_soulmem.events.subject import Subject, as_subject
from pytest_soulmem.events.terms import FIELDS, Outcome
from pytest_soulmem.kinds import Failure, Progress, Verdict
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.running import AnyItem, CaseItem, Judged, LawfulRun, LawItem
from pytest_soulmem.users_code import ask_hook

# hypothesis waits until a law is judged.
if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.settings import Settings

__all__ = [
    "Result",
    "advice",
    "example",
    "faults",
    "open_run",
    "recognises",
    "schema",
]

Result = EventsResult


def open_run(config: pytest.Config, settings: Settings, progress: Progress) -> EventsRun:
    """Start a session's run."""
    return EventsRun(config, settings)


_Item: TypeAlias = Judged[EventFile, Scenario]


class EventsRun(LawfulRun[EventFile, Scenario]):
    """A session's reducer."""

    def cases(self, path: Path, document: object) -> Sequence[AnyItem[EventFile, Scenario]]:
        """The scenarios of an event file, then its laws."""
        file = load_event_file(path, document)
        return self._items(path, file, file.scenarios, file.laws if file.usable else ())

    @cached_property
    def _subject(self) -> Subject:
        """The reducer under test, asked for once, when the first case needs it."""
        hook = self._config.hook.pytest_soulmem_event_reducer
        found = ask_hook("pytest_soulmem_event_reducer", lambda: hook(config=self._config))
        return Subject(reduce_events) if found is None else as_subject(found)

    def _judge_case(self, item: CaseItem[EventFile, Scenario]) -> Verdict:
        scenario, subject = item.case, self._subject
        judgements = [
            Judgement(step, expected.given, subject.outcome(scenario.raw_events, step))
            for step, expected in scenario.judged
        ]
        unknown = Counter(event.type for event in scenario.events if isinstance(event, Unknown))
        steps = steps_of(scenario.events)
        result = EventsResult(
            system=System(subject.name),
            terminal_state=judgements[0].found.terminal_state,
            steps=tuple(map(_seen, judgements)),
            unknown=dict(unknown),
            disagreements=tuple(
                (step.turn, step.step) for step in steps if gather(scenario.events, step).disagrees
            ),
        )
        failure = explain(scenario, judgements, subject.name)
        return _verdict(item, result, failure, _properties(judgements[0].found, result))

    def _judge_law(self, item: LawItem[EventFile]) -> Verdict:
        from pytest_soulmem.events.laws import Domain, try_law
        from pytest_soulmem.events.strategies import streams_like

        domain = Domain(self._subject, streams_like(item.file.usable))
        result = EventsResult(system=System(self._subject.name))
        return _verdict(item, result, try_law(item.name, domain, item.key))

    def _misbehaved(self, item: _Item, failure: Failure) -> Verdict:
        return _verdict(item, EventsResult(), failure)


def _verdict(
    item: _Item,
    result: EventsResult,
    failure: Failure | None,
    properties: Mapping[str, str | int | float] | None = None,
) -> Verdict:
    kind = "law" if isinstance(item, LawItem) else "scenario"
    return Verdict(
        failure,
        {"kind": kind, **(properties or {})},
        msgspec.to_builtins(msgspec.structs.replace(result, **{kind: item.name})),
        fingerprint=_fingerprint(item),
    )


def _fingerprint(item: _Item) -> str:
    """A digest of a stream and what is expected of it, or of a law and the streams."""
    if isinstance(item, LawItem):
        return digest(item.name, [own.raw_events for own in item.file.usable])
    return digest(item.case.raw_events, item.case.expected, item.case.expected_steps)


def _seen(judgement: Judgement) -> StepSeen:
    found = {field: judgement.value(field) for field in FIELDS}
    return StepSeen(*judgement.step, dict(judgement.expected), found)


def _properties(found: Outcome, result: EventsResult) -> dict[str, str | int | float]:
    """The figures for JUnit."""
    told = {"finish_reason": found.finish_reason, "error_code": found.error_code}
    return {
        "terminal_state": found.terminal_state,
        "usage_state": found.usage_state,
        **{name: visible(value) for name, value in told.items() if value is not None},
        "unknown_events": sum(result.unknown.values()),
        "disagreements": len(result.disagreements),
    }
