"""The forget file: what its cases expect of forgetting, checked but not yet judged."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from pytest_soulmem.cases import BrokenCase, faults_of, law_faults, read_cases
from pytest_soulmem.decoding import NonNegative, UnitInterval, decode
from pytest_soulmem.faults import Fault, FixtureError, suggestion
from pytest_soulmem.forgetting.terms import (
    ACTIONS,
    Action,
    Count,
    CurveSettings,
    Hours,
    Memory,
    MemoryKind,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LAW_NAMES = (
    "bounds",
    "monotone-in-time",
    "antitone-in-activations",
    "flat-past-cap",
    "half-life",
    "composition",
    "scale",
    "incremental",
    "mask-nested",
    "mask-ratio",
)

LAW_TOLERANCE = 1e-9
"""What equalities hold within, unless a file says otherwise."""


class _Case(Struct, frozen=True):
    """What every kind of case has."""

    name: str
    text: str

    @property
    def memory(self) -> Memory:
        """The memory that the case is about."""
        kind: MemoryKind = getattr(self, "mem_kind", "semantic")
        return Memory(self.text, getattr(self, "retrieval_count", 0), kind)


class TimeMonotonic(_Case, frozen=True, kw_only=True):
    """T1: the missing degree never falls as time passes."""

    kind: Literal["time_monotonic"]
    time_offsets_hours: tuple[Hours, ...]
    retrieval_count: Count = 0


class Activation(_Case, frozen=True, kw_only=True):
    """T2: the missing degree never rises with activations, and is flat past the cap."""

    kind: Literal["activation"]
    activation_counts: tuple[Count, ...]
    time_offset_hours: Hours


class Magnitude(_Case, frozen=True, kw_only=True):
    """T3: the missing degree is what was expected, within a tolerance."""

    kind: Literal["magnitude"]
    time_offset_hours: Hours
    expected_missing_degree: UnitInterval
    tolerance: NonNegative
    retrieval_count: Count = 0


class Branch(_Case, frozen=True, kw_only=True):
    """T4: three moments fall into the three branches, in their order."""

    kind: Literal["branch"]
    time_offsets_hours: tuple[Hours, ...]
    retrieval_count: Count = 0


class ExpectedEffect(Struct, frozen=True):
    """What forgetting should do to a memory."""

    should_forget: bool
    min_action: Action


class Effect(_Case, frozen=True, kw_only=True):
    """T5: a memory forgets or not, as expected, and its masked text has lost something."""

    kind: Literal["effect"]
    mem_kind: MemoryKind
    time_offset_hours: Hours
    expected: ExpectedEffect
    retrieval_count: Count = 0


ForgetCase: TypeAlias = TimeMonotonic | Activation | Magnitude | Branch | Effect

CASE_TYPES: dict[str, type[ForgetCase]] = {
    "time_monotonic": TimeMonotonic,
    "activation": Activation,
    "magnitude": Magnitude,
    "branch": Branch,
    "effect": Effect,
}


class _Tag(Struct, frozen=True):
    kind: str


class ForgetDocument(Struct, frozen=True):
    """A forget file whose cases are still to be looked at, one by one."""

    name: str
    description: str
    test_cases: Annotated[tuple[object, ...], Meta(min_length=1)]
    config: CurveSettings = CurveSettings()
    laws: dict[str, object] = {}
    law_tolerance: Annotated[float, Meta(ge=0, lt=1)] = LAW_TOLERANCE


@dataclass(frozen=True)
class ForgetFile:
    """A forget file that was checked."""

    path: Path
    settings: CurveSettings
    cases: tuple[ForgetCase | BrokenCase, ...]
    laws: tuple[str, ...] = LAW_NAMES
    law_tolerance: float = LAW_TOLERANCE

    @property
    def memories(self) -> tuple[Memory, ...]:
        """The memories of the usable cases, each text and kind once, never retrieved."""
        usable = (case.memory for case in self.cases if not isinstance(case, BrokenCase))
        return tuple(dict.fromkeys(Memory(own.text, kind=own.kind) for own in usable))


def load_forget_file(path: Path, document: object) -> ForgetFile:
    """Check a decoded forget file and every case.

    Raises:
        FixtureError: the file cannot be used; lists every fault of it, those of its cases too.
            Faults of single cases alone raise nothing: they come back as broken cases.
    """
    file, faults = decode(document, ForgetDocument, "$")
    fields = document if isinstance(document, dict) else {}
    faults += law_faults(fields.get("laws"), LAW_NAMES)
    raw_cases = fields.get("test_cases")
    raw_cases = raw_cases if isinstance(raw_cases, list) else []
    cases: tuple[ForgetCase | BrokenCase, ...] = tuple(read_cases(raw_cases, _read_case))
    if faults or file is None:
        raise FixtureError(path, [*faults, *faults_of(cases)])
    active = tuple(law for law in LAW_NAMES if law not in file.laws)
    return ForgetFile(path, file.config, cases, active, file.law_tolerance)


def _read_case(raw: object, place: str) -> tuple[ForgetCase | None, list[Fault]]:
    case, faults = _decode_case(raw, place)
    if case:
        faults += _semantic_faults(case, place)
    return case, faults


def _decode_case(raw: object, place: str) -> tuple[ForgetCase | None, list[Fault]]:
    tag, faults = decode(raw, _Tag, place)
    if tag is None:
        return None, faults
    case_type = CASE_TYPES.get(tag.kind)
    if case_type is None:
        known = ", ".join(CASE_TYPES)
        hint = suggestion(tag.kind, CASE_TYPES)
        return None, [Fault(f"{place}.kind", f'no kind is called "{tag.kind}" ({known}){hint}')]
    return decode(raw, case_type, place)


def _semantic_faults(case: ForgetCase, place: str) -> Iterator[Fault]:
    """What is wrong with a case that decodes."""
    if not has_word(case.text):
        yield Fault(f"{place}.text", "the text has no word that could be forgotten")
    if isinstance(case, TimeMonotonic):
        yield from _moment_faults(case.time_offsets_hours, f"{place}.time_offsets_hours")
        if len(case.time_offsets_hours) < 2:
            message = "at least two moments are needed to see a change"
            yield Fault(f"{place}.time_offsets_hours", message)
    elif isinstance(case, Branch):
        yield from _moment_faults(case.time_offsets_hours, f"{place}.time_offsets_hours")
        found = len(case.time_offsets_hours)
        if found != len(ACTIONS):
            message = f"exactly three moments are needed, one per branch; found {found}"
            yield Fault(f"{place}.time_offsets_hours", message)
    elif isinstance(case, Activation) and len(set(case.activation_counts)) < 2:
        message = "at least two different counts are needed to see a change"
        yield Fault(f"{place}.activation_counts", message)
    elif isinstance(case, Effect):
        expected = case.expected
        if not expected.should_forget and expected.min_action != "NoAction":
            message = f'"{expected.min_action}" contradicts `should_forget: false`'
            yield Fault(f"{place}.expected.min_action", message)


def _moment_faults(moments: Sequence[float], place: str) -> Iterator[Fault]:
    for position in range(1, len(moments)):
        if moments[position] < moments[position - 1]:
            message = (
                f"the moments must ascend: {moments[position]:g} stands "
                f"after {moments[position - 1]:g}"
            )
            yield Fault(f"{place}[{position}]", message)


def has_word(text: str) -> bool:
    """Whether a text holds anything beyond spaces, punctuation and invisible characters."""
    return any(not _wordless(unicodedata.category(character)) for character in text)


def _wordless(category: str) -> bool:
    return category[0] in "PZ" or category in ("Cc", "Cf", "Cs")
