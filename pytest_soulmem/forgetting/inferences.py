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
from pytest_soulmem.forgetting.process import revise
from pytest_soulmem.forgetting.result import EffectSeen
from pytest_soulmem.forgetting.similarity import similarity
from pytest_soulmem.forgetting.terms import ACTIONS, TRIGGER, Action, CurveSettings
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

    degrees: tuple[float, ...]
    actions: tuple[Action, ...] = ()
    violations: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    effect: EffectSeen | None = None


def examine(case: ForgetCase, trial: Trial) -> Finding:
    """Judge a case.

    Raises:
        Misbehaviour: the forgetter raised or returned nonsense.
    """
    return _EXAMINERS[type(case)](case, trial)


def falls(before: float, after: float) -> bool:
    """Whether a value falls by more than rounding."""
    return before - after > ROUNDING


def _time_monotonic(case: TimeMonotonic, trial: Trial) -> Finding:
    """T1: between neighbouring moments, and so between any two, the degree does not fall."""
    moments = case.time_offsets_hours
    degrees = [
        trial.subject.missing_degree(case.memory, hours, trial.settings) for hours in moments
    ]
    points = list(zip(moments, degrees, strict=True))
    violations = [
        f"the missing degree falls by {before - after:.3g} between {number(earlier)} h "
        f"({degree(before)}) and {number(later)} h ({degree(after)})"
        for (earlier, before), (later, after) in pairwise(points)
        if falls(before, after)
    ]
    fallen = {position for position, (a, b) in enumerate(pairwise(degrees), 1) if falls(a, b)}
    table = curve_table("hours", [number(hours) for hours in moments], degrees, fallen, "falls")
    return Finding(tuple(degrees), (), tuple(violations), tuple(lines(table)))


def _activation(case: Activation, trial: Trial) -> Finding:
    """T2: more activations never mean more missing, and past the cap nothing changes.

    Where a count lies past the cap, the cap itself is asked about too: flatness shows only
    against it.
    """
    cap = trial.settings.max_activation_cap
    counts = sorted(set(case.activation_counts))
    if counts[-1] > cap and cap not in counts:
        counts = sorted([*counts, cap])
    degrees = [
        trial.subject.missing_degree(
            replace(case.memory, retrieval_count=count), case.time_offset_hours, trial.settings
        )
        for count in counts
    ]
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
    return Finding(tuple(degrees), (), tuple(violations), (after, *lines(table)))


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
    found = trial.subject.missing_degree(case.memory, case.time_offset_hours, trial.settings)
    expected, tolerance = case.expected_missing_degree, case.tolerance
    error = found - expected
    # A miss in the last bit of the decimal numbers in the file is none.
    if abs(error) <= tolerance + 1e-12:
        return Finding((found,))
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
    return Finding((found,), (), (violation,), tuple(lines(table)))


def _branch(case: Branch, trial: Trial) -> Finding:
    """T4: the three moments fall into the three branches, in their order."""
    subject, memory, moments = trial.subject, case.memory, case.time_offsets_hours
    degrees = [subject.missing_degree(memory, hours, trial.settings) for hours in moments]
    actions = [subject.action(memory, hours, trial.settings) for hours in moments]
    violations = [
        f"the moment {number(hours)} h (missing degree {degree(value)}) falls in {found}, "
        f"not in {expected}"
        for hours, value, found, expected in zip(moments, degrees, actions, ACTIONS, strict=True)
        if found != expected
    ]
    table = Table(
        ("hours", "missing degree", "expected", "decided", ""),
        [
            (number(hours), degree(value), expected, found, "" if found == expected else "<-")
            for hours, value, found, expected in zip(
                moments, degrees, actions, ACTIONS, strict=True
            )
        ],
        left=(2, 3, 4),
    )
    return Finding(tuple(degrees), tuple(actions), tuple(violations), tuple(lines(table)))


def _effect(case: Effect, trial: Trial) -> Finding:
    """T5: triggered or not as expected, decided strongly enough, and the text lost something."""
    subject, memory, hours = trial.subject, case.memory, case.time_offset_hours
    found = subject.missing_degree(memory, hours, trial.settings)
    action = subject.action(memory, hours, trial.settings)
    triggered = found >= TRIGGER
    seen = EffectSeen(case.expected.should_forget, triggered)
    masked = subject.mask(memory, found) if triggered and subject.masks else None
    if masked is not None:
        seen = msgspec.structs.replace(seen, similarity=similarity(memory.text, masked))
    revised = None
    if masked is not None and action == "Revised":
        revision = revise(masked, trial.reviser)
        revised = revision.text if not revision.fallback else f"none: {revision.fallback}"
        seen = msgspec.structs.replace(
            seen, revised=not revision.fallback, fallback=revision.fallback
        )
    violations = tuple(_effect_violations(case, found, action, seen))
    details = tuple(_effect_details(case, found, action, seen, masked, revised))
    return Finding((found,), (action,), violations, details, seen)


def _effect_violations(
    case: Effect, found: float, action: Action, seen: EffectSeen
) -> Iterator[str]:
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


def _effect_details(
    case: Effect,
    found: float,
    action: Action,
    seen: EffectSeen,
    masked: str | None,
    revised: str | None,
) -> Iterator[str]:
    similar = "not judged" if seen.similarity is None else degree(seen.similarity)
    table = Table(
        ("", "expected", "found"),
        [
            (
                "forgets",
                _yes(seen.should_forget),
                f"{_yes(seen.triggered)} (missing degree {degree(found)}, trigger {TRIGGER})",
            ),
            ("action", f"{case.expected.min_action} or stronger", action),
            ("similarity to the original", "below 1" if seen.triggered else "any", similar),
        ],
        left=(0, 1, 2),
    )
    yield from lines(table)
    yield f"before: {case.text}"
    if masked is not None:
        yield f"masked: {masked}"
    if revised is not None:
        yield f"revised: {revised}"


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
