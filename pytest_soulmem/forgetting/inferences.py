"""The five observable inferences from the forgetting curve, T1 to T5, and their failure texts.

Judging a curve against itself would be circular, so a case looks only at what any forgetting
code shows: degrees, decisions and masked texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pytest_soulmem.forgetting.fixture import (
    Activation,
    Branch,
    Effect,
    ForgetCase,
    Magnitude,
    TimeMonotonic,
)
from pytest_soulmem.forgetting.process import Revision, revise
from pytest_soulmem.forgetting.result import EffectSeen, Point
from pytest_soulmem.forgetting.similarity import similarity
from pytest_soulmem.forgetting.terms import ACTIONS, TRIGGER, Action, CurveSettings, Memory
from pytest_soulmem.forgetting.wording import bar, degree, number
from pytest_soulmem.reporting.table import Table, lines

if TYPE_CHECKING:
    from pytest_soulmem.forgetting.protocols import Reviser
    from pytest_soulmem.forgetting.subject import Subject

ROUNDING = 1e-9
"""A rise or fall up to this is the last bit's noise, not memory."""


@dataclass(frozen=True)
class Trial:
    """What a case is judged with."""

    subject: Subject
    settings: CurveSettings
    tolerance: float
    """What equalities hold within."""
    reviser: Reviser | None = None


@dataclass(frozen=True)
class Finding:
    """What a case found: figures, and what was violated, with a table that shows it."""

    points: tuple[Point, ...]
    violations: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    effect: EffectSeen | None = None

    @property
    def degrees(self) -> tuple[float, ...]:
        """The missing degrees, in the order of the case."""
        return tuple(point.degree for point in self.points)

    @property
    def actions(self) -> tuple[Action, ...]:
        """The decisions, in the order of the case."""
        return tuple(point.action for point in self.points if point.action)


def examine(case: ForgetCase, trial: Trial) -> Finding:
    """Judge a case.

    Raises:
        Misbehaviour: the forgetter raised or returned nonsense.
    """
    return _EXAMINERS[type(case)](case, trial)


def falls(before: float, after: float) -> bool:
    """Whether a value falls by more than rounding."""
    return before - after > ROUNDING


def _observe(trial: Trial, memory: Memory, hours: float) -> Point:
    found = trial.subject.missing_degree(memory, hours, trial.settings)
    return Point(hours, memory.retrieval_count, found)


def _decided(trial: Trial, memory: Memory, hours: float) -> Point:
    """A point with the decision."""
    point = _observe(trial, memory, hours)
    return msgspec.structs.replace(
        point, action=trial.subject.action(memory, hours, trial.settings)
    )


def _time_monotonic(case: TimeMonotonic, trial: Trial) -> Finding:
    """T1: between neighbouring moments, and so between any two, the degree does not fall."""
    moments = case.time_offsets_hours
    points = [_observe(trial, case.memory, hours) for hours in moments]
    degrees = [point.degree for point in points]
    violations = [
        f"the missing degree falls by {before.degree - after.degree:.3g} "
        f"between {number(before.hours)} h ({degree(before.degree)}) "
        f"and {number(after.hours)} h ({degree(after.degree)})"
        for before, after in pairwise(points)
        if falls(before.degree, after.degree)
    ]
    fallen = {position for position, (a, b) in enumerate(pairwise(degrees), 1) if falls(a, b)}
    table = curve_table("hours", [number(hours) for hours in moments], degrees, fallen, "falls")
    return Finding(tuple(points), tuple(violations), tuple(lines(table)))


def _activation(case: Activation, trial: Trial) -> Finding:
    """T2: more activations never mean more missing, and past the cap nothing changes.

    Where a count lies past the cap, the cap itself is asked about too: flatness shows only
    against it.
    """
    cap = trial.settings.max_activation_cap
    counts = sorted(set(case.activation_counts))
    if counts[-1] > cap and cap not in counts:
        counts = sorted([*counts, cap])
    points = [
        _observe(trial, replace(case.memory, retrieval_count=count), case.time_offset_hours)
        for count in counts
    ]
    degrees = [point.degree for point in points]
    at = dict(zip(counts, degrees, strict=True))
    rising = [(a, b) for a, b in pairwise(counts) if falls(at[b], at[a])]
    uneven = [
        count for count in counts if count > cap and abs(at[count] - at[cap]) > trial.tolerance
    ]
    violations = [
        f"the missing degree rises by {at[b] - at[a]:.3g} between {a} activations "
        f"({degree(at[a])}) and {b} ({degree(at[b])})"
        for a, b in rising
    ]
    violations += [
        f"not flat past the cap: {count} activations give {degree(at[count])}, "
        f"the cap of {cap} gives {degree(at[cap])}"
        for count in uneven
    ]
    marked = {counts.index(b) for _, b in rising} | {counts.index(count) for count in uneven}
    shown = [f"{count} (cap)" if count == cap else str(count) for count in counts]
    table = curve_table("activations", shown, degrees, marked, "breaks the rule")
    after = f"after {number(case.time_offset_hours)} h:"
    return Finding(tuple(points), tuple(violations), (after, *lines(table)))


def curve_table(
    head: str, points: Sequence[str], degrees: Sequence[float], marked: set[int], mark: str
) -> Table:
    """A small curve in text: one row and one bar per point."""
    rows = [
        (point, degree(value), f"|{bar(value):24}|", f"<- {mark}" if row in marked else "")
        for row, (point, value) in enumerate(zip(points, degrees, strict=True))
    ]
    return Table((head, "missing degree", "", ""), rows, left=(2, 3))


def _magnitude(case: Magnitude, trial: Trial) -> Finding:
    """T3: the degree is the expected one, give or take the tolerance."""
    point = _observe(trial, case.memory, case.time_offset_hours)
    found = point.degree
    expected, tolerance = case.expected_missing_degree, case.tolerance
    error = found - expected
    # A miss in the last bit of the decimal numbers in the file is none.
    if abs(error) <= tolerance + 1e-12:
        return Finding((point,))
    side = "above" if error > 0 else "below"
    violation = (
        f"after {number(case.time_offset_hours)} h the missing degree is {degree(found)}, "
        f"{abs(error):.3g} {side} the expected {degree(expected)} (tolerance {number(tolerance)})"
    )
    table = Table(
        ("", "missing degree", ""),
        [
            ("lowest allowed", degree(expected - tolerance), f"|{bar(expected - tolerance):24}|"),
            ("expected", degree(expected), f"|{bar(expected):24}|"),
            ("highest allowed", degree(expected + tolerance), f"|{bar(expected + tolerance):24}|"),
            ("found", degree(found), f"|{bar(found):24}|"),
        ],
        left=(0, 2),
    )
    return Finding((point,), (violation,), tuple(lines(table)))


def _branch(case: Branch, trial: Trial) -> Finding:
    """T4: the three moments fall into the three branches, in their order."""
    points = [_decided(trial, case.memory, hours) for hours in case.time_offsets_hours]
    seen = [
        (number(point.hours), degree(point.degree), expected, str(point.action))
        for point, expected in zip(points, ACTIONS, strict=True)
    ]
    violations = [
        f"the moment {hours} h (missing degree {value}) falls in {found}, not in {expected}"
        for hours, value, expected, found in seen
        if found != expected
    ]
    table = Table(
        ("hours", "missing degree", "expected", "decided", ""),
        [(*row, "" if row[2] == row[3] else "<-") for row in seen],
        left=(2, 3, 4),
    )
    return Finding(tuple(points), tuple(violations), tuple(lines(table)))


def _effect(case: Effect, trial: Trial) -> Finding:
    """T5: triggered or not as expected, decided strongly enough, and the text lost something."""
    subject, memory = trial.subject, case.memory
    point = _decided(trial, memory, case.time_offset_hours)
    triggered = point.degree >= TRIGGER
    seen = EffectSeen(case.expected.should_forget, triggered)
    if triggered and subject.masks:
        masked = subject.mask(memory, point.degree)
        seen = msgspec.structs.replace(
            seen, similarity=similarity(memory.text, masked), masked_text=masked
        )
        if point.action == "Revised":
            seen = _revised(seen, revise(masked, trial.reviser))
    violations = tuple(_effect_violations(case, point, seen))
    details = tuple(_effect_details(case, point, seen))
    return Finding((point,), violations, details, seen)


def _revised(seen: EffectSeen, revision: Revision) -> EffectSeen:
    if revision.fallback:
        return msgspec.structs.replace(seen, revised=False, fallback=revision.fallback)
    return msgspec.structs.replace(seen, revised=True, revised_text=revision.text)


def _effect_violations(case: Effect, point: Point, seen: EffectSeen) -> Iterator[str]:
    found, action = point.degree, point.action or ACTIONS[0]
    after = f"after {number(case.time_offset_hours)} h"
    if seen.triggered and not seen.should_forget:
        yield f"{after} the memory forgets (missing degree {degree(found)}), but should not"
    if seen.should_forget and not seen.triggered:
        yield (
            f"{after} the memory should forget, but its missing degree {degree(found)} "
            f"is below {TRIGGER}"
        )
    if ACTIONS.index(action) < ACTIONS.index(case.expected.min_action):
        yield f"{after} the decision is {action}, weaker than {case.expected.min_action}"
    if seen.similarity is not None and seen.similarity >= 1:
        yield f"{after} the memory forgets, but its masked text is as similar as before"


def _effect_details(case: Effect, point: Point, seen: EffectSeen) -> Iterator[str]:
    missing = degree(point.degree)
    similar = "not judged" if seen.similarity is None else degree(seen.similarity)
    table = Table(
        ("", "expected", "found"),
        [
            (
                "forgets",
                _yes(seen.should_forget),
                f"{_yes(seen.triggered)} (missing degree {missing}, trigger {TRIGGER})",
            ),
            ("action", f"{case.expected.min_action} or stronger", str(point.action)),
            ("similarity to the original", "below 1" if seen.triggered else "any", similar),
        ],
        left=(0, 1, 2),
    )
    yield from lines(table)
    yield f"before: {case.text}"
    if seen.masked_text is not None:
        yield f"masked: {seen.masked_text}"
    if seen.revised is not None:
        yield f"revised: {seen.revised_text or f'none: {seen.fallback}'}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


_Examiner: TypeAlias = Callable[[Any, Trial], Finding]

_EXAMINERS: dict[type, _Examiner] = {
    TimeMonotonic: _time_monotonic,
    Activation: _activation,
    Magnitude: _magnitude,
    Branch: _branch,
    Effect: _effect,
}
