"""The event file: streams of model events and what they should amount to, checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_soulmem.cases import BrokenCase, faults_of, law_faults, read_cases
from pytest_soulmem.decoding import decode
from pytest_soulmem.events.stream import Count, Event, Figure, read_event, steps_of
from pytest_soulmem.events.terms import FIELDS, Raw, Step, TerminalState, UsageState
from pytest_soulmem.faults import Fault, FixtureError

FAMILY = "muse-fixture-model-events"
SCHEMA_VERSION = f"{FAMILY}-v1"

LAW_NAMES = (
    "chunking",
    "commuting",
    "repetition",
    "cutting-short",
    "independent-steps",
    "unknown-events",
    "completion-basis",
    "length-truncates",
    "usage",
    "failing",
)


class Expected(Struct, frozen=True, kw_only=True):
    """What is expected of a step. What is absent is not judged; null means: there is none."""

    terminal_state: TerminalState | UnsetType = UNSET
    finish_reason: str | UnsetType | None = UNSET
    usage_state: UsageState | UnsetType = UNSET
    usage: dict[str, Figure] | UnsetType | None = UNSET
    final_text: str | UnsetType | None = UNSET
    partial_text: str | UnsetType | None = UNSET
    error_code: str | UnsetType | None = UNSET

    @property
    def given(self) -> dict[str, Any]:
        """The fields that are judged."""
        values = {name: getattr(self, name) for name in FIELDS}
        return {name: value for name, value in values.items() if value is not UNSET}


class ExpectedStep(Expected, frozen=True, kw_only=True):
    """What is expected of the step that it names."""

    turn: Count
    step: Count

    @property
    def at(self) -> Step:
        """The step."""
        return Step(self.turn, self.step)


class Scenario(Struct, frozen=True):
    """A stream, and what is expected of its last step and perhaps of others."""

    name: str
    raw_events: tuple[Raw, ...]
    events: tuple[Event, ...]
    expected: Expected
    expected_steps: tuple[ExpectedStep, ...]

    @property
    def last(self) -> Step:
        """The step that ``expected`` is about; 1, 1 where the stream has no step."""
        return next(reversed(steps_of(self.events)), Step(1, 1))

    @property
    def judged(self) -> list[tuple[Step, Expected]]:
        """What is expected, by step; the last step first."""
        own = [(self.last, self.expected)] if self.expected.given else []
        return own + [(expected.at, expected) for expected in self.expected_steps]


class ScenarioDocument(Struct, frozen=True):
    """A scenario as its file holds it, its events still unread."""

    scenario_id: str
    events: tuple[object, ...]
    expected: Expected
    expected_steps: tuple[ExpectedStep, ...] = ()


class EventDocument(Struct, frozen=True):
    """An event file, its scenarios still unread."""

    schema_version: str
    scenarios: Annotated[tuple[object, ...], Meta(min_length=1)]
    laws: dict[str, object] = {}


@dataclass(frozen=True)
class EventFile:
    """An event file that was checked."""

    path: Path
    scenarios: tuple[Scenario | BrokenCase, ...]
    laws: tuple[str, ...] = LAW_NAMES

    @property
    def usable(self) -> list[Scenario]:
        """The scenarios that can be judged."""
        return [own for own in self.scenarios if not isinstance(own, BrokenCase)]


def recognises(document: object) -> bool:
    """Whether a document is an event file, whole or faulty, of this or another version.

    The version tells; where it is missing or strange, scenarios with an id and events do.
    """
    if not isinstance(document, dict):
        return False
    if str(document.get("schema_version", "")).startswith(FAMILY):
        return True
    scenarios = document.get("scenarios")
    return isinstance(scenarios, list) and any(
        isinstance(own, dict) and {"scenario_id", "events"} <= own.keys() for own in scenarios
    )


def load_event_file(path: Path, document: object) -> EventFile:
    """Check a decoded event file and every scenario.

    Raises:
        FixtureError: the file cannot be used; lists every fault of it, those of its scenarios
            too. Faults of single scenarios alone raise nothing: they come back as broken cases.
    """
    fields = document if isinstance(document, dict) else {}
    version = fields.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        # Nothing else is told: another version may well mean other things by its fields.
        message = f'"{version}" cannot be read here; the version known is "{SCHEMA_VERSION}"'
        raise FixtureError(path, [Fault("$.schema_version", message)])
    file, faults = decode(document, EventDocument, "$")
    faults += law_faults(fields.get("laws"), LAW_NAMES)
    raw = fields.get("scenarios")
    raw_scenarios = raw if isinstance(raw, list) else []
    scenarios = tuple(read_cases(raw_scenarios, _read_scenario, "scenarios", "scenario_id"))
    if faults or file is None:
        raise FixtureError(path, [*faults, *faults_of(scenarios)])
    return EventFile(path, scenarios, tuple(law for law in LAW_NAMES if law not in file.laws))


def _read_scenario(raw: object, place: str) -> tuple[Scenario | None, list[Fault]]:
    found, faults = decode(raw, ScenarioDocument, place)
    raw_events = raw.get("events") if isinstance(raw, dict) else None
    events, event_faults = _read_events(
        raw_events if isinstance(raw_events, list) else [], f"{place}.events"
    )
    faults += event_faults
    if found is None or faults:
        return None, faults
    scenario = Scenario(
        found.scenario_id,
        tuple(raw_events or ()),
        tuple(events),
        found.expected,
        found.expected_steps,
    )
    return scenario, list(_semantic_faults(scenario, place))


def _read_events(raw_events: Sequence[object], place: str) -> tuple[list[Event], list[Fault]]:
    events: list[Event] = []
    faults: list[Fault] = []
    for position, raw in enumerate(raw_events):
        event, found = read_event(raw, f"{place}[{position}]")
        faults += found
        if event is not None:
            events.append(event)
    return events, faults


def _semantic_faults(scenario: Scenario, place: str) -> Iterator[Fault]:
    """What is wrong with a scenario that decodes."""
    yield from _contradictions(scenario.expected, f"{place}.expected")
    if not scenario.judged:
        yield Fault(f"{place}.expected", f"nothing is expected; give one of {', '.join(FIELDS)}")
    steps = steps_of(scenario.events)
    taken: dict[Step, str] = {}
    for position, expected in enumerate(scenario.expected_steps):
        own = f"{place}.expected_steps[{position}]"
        yield from _contradictions(expected, own)
        if expected.at not in steps:
            known = "; ".join(map(str, steps)) or "the stream has no step at all"
            yield Fault(own, f"no event belongs to {expected.at} ({known})")
        if expected.at in taken:
            yield Fault(own, f"{expected.at} is judged already by {taken[expected.at]}")
        if not expected.given:
            yield Fault(own, f"nothing is expected; give one of {', '.join(FIELDS)}")
        taken.setdefault(expected.at, own)


_FINISH_OF = {"completed": "stop", "truncated": "length"}


def _contradictions(expected: Expected, place: str) -> Iterator[Fault]:
    """Expectations that no stream could meet together."""
    given = expected.given
    state = given.get("terminal_state")
    if state and "error_code" in given and (state == "failed") != bool(given["error_code"]):
        yield Fault(f"{place}.error_code", f'{_shown(given["error_code"])} contradicts "{state}"')
    if state in _FINISH_OF and given.get("finish_reason", _FINISH_OF[state]) != _FINISH_OF[state]:
        finish = _shown(given["finish_reason"])
        yield Fault(f"{place}.finish_reason", f'{finish} contradicts "{state}"')
    if state == "completed" and given.get("final_text", "") is None:
        yield Fault(f"{place}.final_text", 'null contradicts "completed", which needs a receipt')
    usage_state = given.get("usage_state")
    if (
        usage_state
        and "usage" in given
        and (usage_state == "known") != (given["usage"] is not None)
    ):
        figures = "null" if given["usage"] is None else "an object"
        yield Fault(f"{place}.usage", f'{figures} contradicts "{usage_state}"')


def _shown(value: str | None) -> str:
    return "null" if value is None else f'"{value}"'
