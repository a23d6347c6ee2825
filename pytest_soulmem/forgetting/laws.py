"""The laws of the curve and of masking, tried by hypothesis on a forget file.

A law is a statement about any forgetter. hypothesis looks for hours, counts and degrees that
break it on the file's curve and memories; what it finds is shrunk and shown in those terms.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pytest_soulmem.forgetting.inferences import falls
from pytest_soulmem.forgetting.masking import words
from pytest_soulmem.forgetting.subject import Subject
from pytest_soulmem.forgetting.terms import PLACEHOLDER, TRIGGER, CurveSettings, Memory
from pytest_soulmem.forgetting.wording import curve_text, degree, number
from pytest_soulmem.kinds import Failure
from pytest_soulmem.laws import Broken, broken_law, find_counterexample

LONGEST = 1e6
"""Hours up to which the laws are tried: more than a century."""


@dataclass(frozen=True)
class Domain:
    """What a law is tried on: a forgetter, a curve, and the memories of a file."""

    subject: Subject
    settings: CurveSettings
    memories: Sequence[Memory]
    tolerance: float

    def missing(self, memory: Memory, hours: float, settings: CurveSettings | None = None) -> float:
        """The missing degree that the forgetter gives."""
        return self.subject.missing_degree(memory, hours, settings or self.settings)

    def differ(self, first: float, second: float) -> bool:
        """Whether two values that should be equal are not."""
        return abs(first - second) > self.tolerance

    def half_life(self, memory: Memory) -> float:
        """The memory's half-life in hours, retrievals counted."""
        curve = self.settings
        counted = min(memory.retrieval_count, curve.max_activation_cap)
        return curve.base_half_life_hours * (1 + curve.active_factor * counted)

    def hours(self) -> SearchStrategy[float]:
        """Moments: most of them where the curve still bends, some anywhere.

        Some lie on a grid of quarter hours, or finer: a moment drawn as any float is a whole
        number too often to tell who truncates.
        """
        bend = min(LONGEST, 4 * self.settings.base_half_life_hours)
        step = 2.0 ** min(-2, math.floor(math.log2(max(bend / 256, sys.float_info.min))))
        grid = st.integers(0, math.floor(bend / step)).map(lambda count: count * step)
        return grid | st.floats(0, bend) | grid | st.floats(0, LONGEST)

    def counts(self) -> SearchStrategy[int]:
        """Retrieval counts: around the cap, and far beyond it."""
        near = min(2 * self.settings.max_activation_cap + 2, 10**6)
        return st.integers(0, near) | st.integers(0, 10**6)

    def fresh_memories(self) -> SearchStrategy[Memory]:
        """The file's memories, never retrieved."""
        return st.sampled_from(self.memories)

    def retrieved_memories(self) -> SearchStrategy[Memory]:
        """The file's memories, retrieved any number of times."""
        return st.builds(
            lambda memory, count: replace(memory, retrieval_count=count),
            self.fresh_memories(),
            self.counts(),
        )


@dataclass(frozen=True)
class Law:
    """A law: what it says, what it is tried with, and how it is checked."""

    statement: str
    draw: Callable[[Domain], Mapping[str, SearchStrategy[Any]]]
    check: Callable[..., None]
    """Called with the domain and what was drawn; raises Broken."""
    needs: str = ""

    def lacking(self, subject: Subject, memories: Sequence[Memory]) -> str:
        """Why this law cannot be tried on a forgetter and a file; empty if it can."""
        if self.needs == "mask" and not subject.masks:
            return f"{subject.name} does no masking (it has no method `mask`)"
        if self.needs == "mask" and not maskable(memories):
            return f"every text of the file contains {PLACEHOLDER.strip()} already"
        if self.needs == "update" and not subject.updates:
            return f"{subject.name} does no step-by-step updates (it has no method `update`)"
        return ""


def try_law(law_name: str, domain: Domain, key: str) -> Failure | None:
    """Let hypothesis look for a counterexample; the failure that shows it, or None.

    ``key`` keeps this law's examples and seed apart from those of every other.

    Raises:
        Misbehaviour: the forgetter raised or returned nonsense.
    """
    law = LAWS[law_name]
    found = find_counterexample(partial(law.check, domain), law.draw(domain), key)
    system = f"forgetter {domain.subject.name}; {curve_text(domain.settings)}"
    return broken_law(law_name, law.statement, system, found) if found else None


def _about(memory: Memory) -> list[str]:
    return [f"retrieval_count {memory.retrieval_count}", f"text: {memory.text}"]


def _at(hours: float, missing: float) -> str:
    return f"{number(hours)} h: missing degree {degree(missing)}, retention {degree(1 - missing)}"


# The curve


def _bounds(domain: Domain, memory: Memory, hours: float) -> None:
    missing = domain.missing(memory, hours)
    if not 0 <= missing <= 1:
        seen = f"the missing degree {degree(missing)} lies outside 0 to 1"
        raise Broken(seen, [_at(hours, missing), *_about(memory)])
    start = domain.missing(memory, 0.0)
    if domain.differ(start, 0):
        seen = f"after 0 h the missing degree is {degree(start)}, not 0"
        raise Broken(seen, [_at(0, start), *_about(memory)])


def _monotone(domain: Domain, memory: Memory, hours: float, later: float) -> None:
    earlier, after = sorted((hours, later))
    before, then = domain.missing(memory, earlier), domain.missing(memory, after)
    if falls(before, then):
        seen = f"the missing degree falls from {degree(before)} to {degree(then)} as time passes"
        raise Broken(seen, [_at(earlier, before), _at(after, then), *_about(memory)])


def _antitone(domain: Domain, memory: Memory, hours: float, count: int, other: int) -> None:
    fewer, more = sorted((count, other))
    with_fewer = domain.missing(replace(memory, retrieval_count=fewer), hours)
    with_more = domain.missing(replace(memory, retrieval_count=more), hours)
    if falls(with_more, with_fewer):
        seen = (
            f"the missing degree rises from {degree(with_fewer)} to {degree(with_more)} "
            "with more activations"
        )
        values = _per_count(hours, {fewer: with_fewer, more: with_more})
        raise Broken(seen, [*values, f"text: {memory.text}"])


def _flat(domain: Domain, memory: Memory, hours: float, beyond: int) -> None:
    cap = domain.settings.max_activation_cap
    at_cap = domain.missing(replace(memory, retrieval_count=cap), hours)
    past_cap = domain.missing(replace(memory, retrieval_count=cap + beyond), hours)
    if domain.differ(at_cap, past_cap):
        seen = f"past the cap of {cap} activations the missing degree still changes"
        values = _per_count(hours, {cap: at_cap, cap + beyond: past_cap})
        raise Broken(seen, [*values, f"text: {memory.text}"])


def _per_count(hours: float, degrees: Mapping[int, float]) -> list[str]:
    return [
        f"{count} activations, after {number(hours)} h: missing degree {degree(missing)}"
        for count, missing in degrees.items()
    ]


def _half_life(domain: Domain, memory: Memory) -> None:
    hours = domain.half_life(memory)
    if not math.isfinite(hours):
        return
    missing = domain.missing(memory, hours)
    if domain.differ(missing, 0.5):
        seen = f"after one half-life the missing degree is {degree(missing)}, not 0.5"
        raise Broken(seen, [_at(hours, missing), *_about(memory)])


def _composition(domain: Domain, memory: Memory, a: float, b: float) -> None:
    first, second = domain.missing(memory, a), domain.missing(memory, b)
    whole = domain.missing(memory, a + b)
    product = (1 - first) * (1 - second)
    if domain.differ(1 - whole, product):
        seen = f"R(a + b) is {degree(1 - whole)}, but R(a) · R(b) is {degree(product)}"
        values = [
            f"a = {_at(a, first)}",
            f"b = {_at(b, second)}",
            f"a + b = {_at(a + b, whole)}",
        ]
        raise Broken(seen, [*values, *_about(memory)])


def _scale(domain: Domain, memory: Memory, hours: float, factor: float) -> None:
    curve = domain.settings
    base = curve.base_half_life_hours * factor
    # Below the normal numbers, the product is no longer the multiple.
    if min(base, curve.base_half_life_hours) < sys.float_info.min or math.isinf(base):
        return
    scaled = CurveSettings(base, curve.active_factor, curve.max_activation_cap)
    missing = domain.missing(memory, hours)
    stretched = domain.missing(memory, hours * factor, scaled)
    if domain.differ(missing, stretched):
        seen = f"time and half-life times {number(factor)} change the missing degree"
        values = [
            f"half-life {number(curve.base_half_life_hours)} h, {_at(hours, missing)}",
            f"half-life {number(base)} h, {_at(hours * factor, stretched)}",
        ]
        raise Broken(seen, [*values, *_about(memory)])


def _incremental(domain: Domain, memory: Memory, steps: Sequence[float]) -> None:
    known, passed, values = 0.0, 0.0, []
    for step in steps:
        known = domain.subject.update(memory, known, step, domain.settings)
        passed += step
        values.append(f"after a step of {number(step)} h: missing degree {degree(known)}")
    direct = domain.missing(memory, passed)
    if domain.differ(known, direct):
        seen = f"step by step the missing degree is {degree(known)}, directly {degree(direct)}"
        raise Broken(seen, [*values, f"directly: {_at(passed, direct)}", *_about(memory)])


# Masking


def _nested(domain: Domain, memory: Memory, lower: float, higher: float) -> None:
    lower, higher = sorted((lower, higher))
    less, more = domain.subject.mask(memory, lower), domain.subject.mask(memory, higher)
    same = lower == higher
    if less != more if same else not still_masked(less, more):
        seen = f"what is masked at {number(lower)} is back at {number(higher)}"
        if same:
            seen = f"masking twice at {number(lower)} gives two results"
        values = [
            f"text: {memory.text}",
            f"at missing degree {number(lower)}: {less}",
            f"at missing degree {number(higher)}: {more}",
        ]
        raise Broken(seen, values)


def still_masked(less: str, more: str) -> bool:
    """Whether a masked text could become another by masking more of it.

    Says nothing about how the masker cuts words: every placeholder of ``more`` must stand for
    one placeholder of ``less`` or for a run of its unmasked characters, and all else be equal.
    """
    source, target = _symbols(less), _symbols(more)
    # reach: positions in source at which the symbols of target read so far may end.
    reach = {0}
    for symbol in target:
        reach = _step(source, reach, symbol)
        if not reach:
            return False
    return len(source) in reach


def _symbols(masked: str) -> list[str]:
    """The characters of a masked text, a placeholder being one symbol: the empty string."""
    symbols: list[str] = []
    for position, piece in enumerate(masked.split(PLACEHOLDER)):
        symbols += ([""] if position else []) + list(piece)
    return symbols


def _step(source: Sequence[str], reach: set[int], symbol: str) -> set[int]:
    if symbol:
        return {start + 1 for start in reach if start < len(source) and source[start] == symbol}
    ends: set[int] = set()
    for start in reach:
        end = start
        while end < len(source) and source[end]:
            end += 1
            ends.add(end)
        if end == start < len(source):
            ends.add(end + 1)
    return ends


def _ratio(domain: Domain, memory: Memory, missing: float) -> None:
    text = domain.subject.mask(memory, missing)
    masked, among = text.count(PLACEHOLDER), len(words(memory.text))
    # The last bit of m · n must not decide a tie.
    if abs(masked - missing * among) > 1 + 1e-9:
        seen = f"{masked} of {among} words are masked, {missing * among:.4g} were due"
        raise Broken(
            seen, [f"missing degree {number(missing)}", f"text: {memory.text}", f"masked: {text}"]
        )


def maskable(memories: Sequence[Memory]) -> list[Memory]:
    """Memories in whose masked text every placeholder was put there by masking."""
    return [memory for memory in memories if PLACEHOLDER.strip() not in memory.text]


def _maskable(domain: Domain) -> SearchStrategy[Memory]:
    return st.sampled_from(maskable(domain.memories))


def _draws(**strategies: Callable[[Domain], SearchStrategy[Any]]) -> Any:
    """What a law is tried with, once the domain is known."""
    return lambda domain: {name: strategy(domain) for name, strategy in strategies.items()}


_DEGREES = st.floats(0, 1)

LAWS = {
    "bounds": Law(
        "0 ≤ m ≤ 1, and m(0) = 0",
        _draws(memory=Domain.retrieved_memories, hours=Domain.hours),
        _bounds,
    ),
    "monotone-in-time": Law(
        "m never falls as time passes",
        _draws(memory=Domain.retrieved_memories, hours=Domain.hours, later=Domain.hours),
        _monotone,
    ),
    "antitone-in-activations": Law(
        "m never rises with activations",
        _draws(
            memory=Domain.fresh_memories,
            hours=Domain.hours,
            count=Domain.counts,
            other=Domain.counts,
        ),
        _antitone,
    ),
    "flat-past-cap": Law(
        "activations past the cap change nothing",
        _draws(
            memory=Domain.fresh_memories,
            hours=Domain.hours,
            beyond=lambda _: st.integers(1, 10**6),
        ),
        _flat,
    ),
    "half-life": Law(
        "m(h) = 1/2, with h = base · (1 + factor · min(activations, cap))",
        _draws(memory=Domain.retrieved_memories),
        _half_life,
    ),
    "composition": Law(
        "R(a + b) = R(a) · R(b), with R = 1 − m",
        _draws(memory=Domain.retrieved_memories, a=Domain.hours, b=Domain.hours),
        _composition,
    ),
    "scale": Law(
        "time and half-life times the same factor change nothing",
        _draws(
            memory=Domain.retrieved_memories,
            hours=Domain.hours,
            factor=lambda _: st.floats(1e-3, 1e3),
        ),
        _scale,
    ),
    "incremental": Law(
        "a step-by-step update equals the direct one: m = 1 − (1 − m₀) · R(Δt)",
        _draws(
            memory=Domain.retrieved_memories,
            steps=lambda domain: st.lists(domain.hours(), min_size=1, max_size=6),
        ),
        _incremental,
        needs="update",
    ),
    "mask-nested": Law(
        "what is masked at a lower degree stays masked at a higher one",
        _draws(memory=_maskable, lower=lambda _: _DEGREES, higher=lambda _: _DEGREES),
        _nested,
        needs="mask",
    ),
    "mask-ratio": Law(
        f"|masked − m · n| ≤ 1 for m ≥ {TRIGGER}, n words",
        _draws(memory=_maskable, missing=lambda _: st.floats(TRIGGER, 1)),
        _ratio,
        needs="mask",
    ),
}
