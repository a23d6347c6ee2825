"""Model events as a kind of fixture: from an event file to verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_soulmem.cases import BrokenCase, broken_verdict
from pytest_soulmem.events.fixture import EventFile, Scenario, load_event_file, recognises
from pytest_soulmem.events.judging import Judgement, explain
from pytest_soulmem.events.reducer import gather, reduce_events
from pytest_soulmem.events.stream import Unknown, steps_of
from pytest_soulmem.events.subject import Subject, as_subject
from pytest_soulmem.kinds import Progress, Verdict
from pytest_soulmem.naming import place_of
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.users_code import Misbehaviour, ask_hook

# hypothesis waits until a law is judged.
if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.reporting.table import Section
    from pytest_soulmem.settings import Settings

__all__ = ["open_run", "recognises", "section"]


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


@dataclass(frozen=True)
class LawItem:
    """A law that is tried on streams made from a file's."""

    file: EventFile
    name: str
    key: str
    """Tells this law of this file from all others, on every machine."""
    group: str = "laws"


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
        properties = {"kind": "law" if isinstance(case, LawItem) else "scenario"}
        record = {properties["kind"]: case.name}
        try:
            if isinstance(case, LawItem):
                return self._judge_law(case, properties, record)
            assert isinstance(case.scenario, Scenario)  # noqa: S101 - told apart above
            return self._judge_scenario(case.scenario, properties, record)
        except Misbehaviour as error:
            return Verdict(error.failure, properties, record)

    @cached_property
    def _subject(self) -> Subject:
        """The reducer under test, asked for once, when the first case needs it."""
        hook = self._config.hook.pytest_soulmem_event_reducer
        found = ask_hook("pytest_soulmem_event_reducer", lambda: hook(config=self._config))
        return Subject(reduce_events) if found is None else as_subject(found)

    def _judge_scenario(
        self, scenario: Scenario, properties: Mapping[str, Any], record: Mapping[str, Any]
    ) -> Verdict:
        subject = self._subject
        judgements = [
            Judgement(step, expected.given, subject.outcome(scenario.raw_events, step))
            for step, expected in scenario.judged
        ]
        facts = _facts(scenario)
        last = judgements[0].found
        told = {"finish_reason": last.finish_reason, "error_code": last.error_code}
        return Verdict(
            explain(scenario, judgements, subject.name),
            {
                **properties,
                "terminal_state": last.terminal_state,
                "usage_state": last.usage_state,
                **{name: visible(value) for name, value in told.items() if value is not None},
                "unknown_events": sum(facts["unknown"].values()),
                "disagreements": len(facts["disagreements"]),
            },
            {
                **record,
                "reducer": subject.name,
                "terminal_state": last.terminal_state,
                "steps": [_step_record(judgement) for judgement in judgements],
                **facts,
            },
        )

    def _judge_law(
        self, item: LawItem, properties: Mapping[str, Any], record: Mapping[str, Any]
    ) -> Verdict:
        from pytest_soulmem.events.laws import Domain, try_law
        from pytest_soulmem.events.strategies import streams_like

        domain = Domain(self._subject, streams_like(item.file.usable))
        failure = try_law(item.name, domain, item.key)
        return Verdict(failure, properties, {**record, "reducer": self._subject.name})


def _facts(scenario: Scenario) -> dict[str, Any]:
    """What is to be told of a stream, whatever a reducer makes of it."""
    unknown = Counter(event.type for event in scenario.events if isinstance(event, Unknown))
    steps = steps_of(scenario.events)
    return {
        "unknown": dict(unknown),
        "disagreements": [list(step) for step in steps if gather(scenario.events, step).disagrees],
    }


def _step_record(judgement: Judgement) -> dict[str, Any]:
    found = asdict(judgement.found)
    usage = judgement.value("usage")
    return {
        "turn": judgement.step.turn,
        "step": judgement.step.step,
        "expected": dict(judgement.expected),
        "found": {**found, "usage": usage},
    }
