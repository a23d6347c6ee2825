"""Model events as a kind of fixture: from an event file to verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pytest_soulmem.cases import BrokenCase, broken_verdict, digest
from pytest_soulmem.events.authoring import advice, example, faults, schema
from pytest_soulmem.events.fixture import EventFile, Scenario, load_event_file, recognises
from pytest_soulmem.events.judging import Judgement, explain
from pytest_soulmem.events.reducer import gather, reduce_events
from pytest_soulmem.events.result import EventsResult, StepSeen, System
from pytest_soulmem.events.stream import Unknown, steps_of
from pytest_soulmem.events.subject import Subject, as_subject
from pytest_soulmem.events.terms import FIELDS, Outcome
from pytest_soulmem.kinds import Failure, Progress, Verdict
from pytest_soulmem.naming import place_of
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.users_code import Misbehaviour, ask_hook

# hypothesis waits until a law is judged.
if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.reporting.table import Section
    from pytest_soulmem.settings import Settings

__all__ = [
    "Result",
    "advice",
    "example",
    "faults",
    "open_run",
    "recognises",
    "schema",
    "section",
]

Result = EventsResult


def section(records: Sequence[Mapping[str, Any]]) -> Section:
    """The part of the terminal report about model events."""
    from pytest_soulmem.events.report import events_section

    return events_section(records)


def open_run(config: pytest.Config, settings: Settings, progress: Progress) -> EventsRun:
    """Start a session's run."""
    return EventsRun(config, settings)


@dataclass(frozen=True)
class ScenarioItem:
    """A scenario of a file, usable or not."""

    file: EventFile
    scenario: Scenario | BrokenCase
    group: str = ""

    @property
    def name(self) -> str:
        """The item's name."""
        return visible(self.scenario.name)

    @property
    def fingerprint(self) -> str:
        """A digest of the stream and what is expected of it."""
        own = self.scenario
        if isinstance(own, BrokenCase):
            return ""
        return digest(own.raw_events, own.expected, own.expected_steps)


@dataclass(frozen=True)
class LawItem:
    """A law that is tried on streams made from a file's."""

    file: EventFile
    name: str
    key: str
    """Tells this law of this file from all others, on every machine."""
    group: str = "laws"

    @property
    def fingerprint(self) -> str:
        """A digest of the law and the streams."""
        return digest(self.name, [own.raw_events for own in self.file.usable])


AnyItem: TypeAlias = ScenarioItem | LawItem


class EventsRun:
    """A session's reducer."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings

    def cases(self, path: Path, document: object) -> Sequence[AnyItem]:
        """The scenarios of an event file, then its laws."""
        file = load_event_file(path, document)
        items: list[AnyItem] = [ScenarioItem(file, scenario) for scenario in file.scenarios]
        place = place_of(path, self._config.rootpath)
        if self._settings.laws and file.usable:
            items += [LawItem(file, law, f"{place}::{law}") for law in file.laws]
        return items

    def prepare(self, cases: Sequence[AnyItem]) -> None:
        """Nothing: a reducer needs no preparation."""

    def obstacle(self, case: AnyItem) -> str | None:
        """Nothing keeps a case from being judged."""
        return None

    def judge(self, case: AnyItem) -> Verdict:
        """Ask the reducer, and compare."""
        __tracebackhide__ = True
        if isinstance(case, ScenarioItem) and isinstance(case.scenario, BrokenCase):
            return broken_verdict(case.file.path, case.scenario)
        try:
            return self._judge_law(case) if isinstance(case, LawItem) else self._judge(case)
        except Misbehaviour as error:
            is_law = isinstance(case, LawItem)
            result = EventsResult(law=case.name) if is_law else EventsResult(scenario=case.name)
            return _verdict(case, result, error.failure)

    @cached_property
    def _subject(self) -> Subject:
        """The reducer under test, asked for once, when the first case needs it."""
        hook = self._config.hook.pytest_soulmem_event_reducer
        found = ask_hook("pytest_soulmem_event_reducer", lambda: hook(config=self._config))
        return Subject(reduce_events) if found is None else as_subject(found)

    def _judge(self, item: ScenarioItem) -> Verdict:
        scenario, subject = item.scenario, self._subject
        assert isinstance(scenario, Scenario)  # noqa: S101 - told apart by the caller
        judgements = [
            Judgement(step, expected.given, subject.outcome(scenario.raw_events, step))
            for step, expected in scenario.judged
        ]
        unknown = Counter(event.type for event in scenario.events if isinstance(event, Unknown))
        steps = steps_of(scenario.events)
        result = EventsResult(
            scenario=item.name,
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

    def _judge_law(self, item: LawItem) -> Verdict:
        from pytest_soulmem.events.laws import Domain, try_law
        from pytest_soulmem.events.strategies import streams_like

        domain = Domain(self._subject, streams_like(item.file.usable))
        result = EventsResult(law=item.name, system=System(self._subject.name))
        return _verdict(item, result, try_law(item.name, domain, item.key))


def _verdict(
    item: AnyItem,
    result: EventsResult,
    failure: Failure | None,
    properties: Mapping[str, str | int | float] | None = None,
) -> Verdict:
    return Verdict(
        failure,
        {"kind": "law" if isinstance(item, LawItem) else "scenario", **(properties or {})},
        msgspec.to_builtins(result),
        fingerprint=item.fingerprint,
    )


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
