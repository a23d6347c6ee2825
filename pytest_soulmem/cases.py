"""Reading the cases of a file: a faulty case becomes a failing item, and the others run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from pytest_soulmem.faults import Fault, listing, owned_by, suggestion, summary
from pytest_soulmem.kinds import Failure, Verdict
from pytest_soulmem.naming import case_name, name_faults


@dataclass(frozen=True)
class BrokenCase:
    """A case that cannot run, with what is wrong in it."""

    name: str
    faults: tuple[Fault, ...]


Case = TypeVar("Case")
"""A struct with a field ``name``."""


def read_cases(
    raw_cases: Sequence[object],
    read: Callable[[object, str], tuple[Case | None, list[Fault]]],
    array: str = "test_cases",
    key: str = "name",
) -> Iterator[Case | BrokenCase]:
    """The cases of a file, each named as its item will be.

    Args:
        raw_cases: what the file holds.
        read: the case (None if it does not decode) and the faults of a raw case at a place.
        array: the field of the file that holds the cases.
        key: the field of a case that names it.
    """
    taken: dict[str, str] = {}
    for position, raw in enumerate(raw_cases):
        place = f"$.{array}[{position}]"
        case, faults = read(raw, place)
        name = case_name(raw, key)
        unnamable = name_faults(name, taken)
        faults += [Fault(f"{place}.{key}", message) for message in unnamable]
        usable = isinstance(name, str) and not unnamable
        shown = (
            name if isinstance(name, str) and usable else _stand_in(f"{array}[{position}]", taken)
        )
        taken.setdefault(shown, place)
        if case and not faults:
            yield msgspec.structs.replace(case, name=shown)  # type: ignore[type-var]
        else:
            owner = f'case "{shown}"' if usable else ""
            yield BrokenCase(shown, tuple(owned_by(owner, faults)))


def _stand_in(name: str, taken: Container[str]) -> str:
    """A name for a case that has none, unlike those before it."""
    while name in taken:
        name += "*"
    return name


def faults_of(cases: Sequence[object]) -> list[Fault]:
    """The faults of the broken ones among some cases."""
    return [fault for case in cases if isinstance(case, BrokenCase) for fault in case.faults]


def law_faults(laws: object, known: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with the ``laws`` of a file, a map from a law's name to false."""
    for name, value in laws.items() if isinstance(laws, Mapping) else ():
        if name not in known:
            yield Fault("$.laws", f'no law is called "{name}"{suggestion(name, known)}')
        elif value is not False:
            yield Fault(f"$.laws.{name}", "expected false: laws hold unless they are named off")


def digest(*parts: object) -> str:
    """What tells a case from one that asks or expects something else."""
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]


def broken_verdict(path: Path, case: BrokenCase) -> Verdict:
    """The verdict on a case that cannot run."""
    failure = Failure(summary(case.faults), listing(path, case.faults))
    return Verdict(failure, {}, {"broken": True})
