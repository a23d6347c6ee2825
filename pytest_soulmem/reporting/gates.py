"""Gates: means that a run must reach, even where every case passed."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pytest_soulmem.faults import suggestion
from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting.results import CaseResult

PASSED = "passed"
"""The share of cases that passed, as a figure that every case has."""


@dataclass(frozen=True)
class Gate:
    """``METRIC=MINIMUM`` over all cases, or ``FILE-GLOB:METRIC=MINIMUM`` over some files."""

    metric: str
    minimum: float
    files: str = "*"

    def __str__(self) -> str:
        where = "" if self.files == "*" else f"{self.files}: "
        return f"{where}{self.metric} at least {self.minimum:g}"


def parse_metric(text: str) -> str:
    """A metric as it is written on the command line.

    Raises:
        argparse.ArgumentTypeError: no case of any kind has a figure of that name.
    """
    cutoff = re.search(r"@([1-9]\d{0,5})$", text)
    known = [PASSED, *(name for kind in KINDS for name in kind.figures)]
    named = [name.replace("@K", cutoff[0] if cutoff else "@5") for name in known]
    if text in named:
        return text
    hint = suggestion(text, named) or f"; there are {', '.join(known)}"
    raise argparse.ArgumentTypeError(f"{text!r} is no metric{hint}")


def parse_gate(text: str) -> Gate:
    """A gate as it is written on the command line.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    left, _, right = text.rpartition("=")
    files, _, metric = left.rpartition(":")
    try:
        minimum = float(right)
    except ValueError:
        minimum = float("nan")
    # Not a number fails this comparison too.
    if not metric or left.startswith(":") or not 0 <= minimum <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no gate such as recall@5=0.9 or queries/*.json:recall@5=0.9, "
            "with a minimum from 0 to 1"
        )
    return Gate(parse_metric(metric), minimum, files or "*")


@dataclass(frozen=True)
class Judgement:
    """Whether a gate is reached, and in words what it was measured by."""

    reached: bool
    text: str


def judged(gate: Gate, cases: Sequence[CaseResult]) -> Judgement:
    """What the mean of some cases says of a gate."""
    values = [
        value
        for case in cases
        if fnmatchcase(case.file, gate.files) and (value := figure(case, gate.metric)) is not None
    ]
    if not values:
        return Judgement(False, f"{gate}: no case has this figure")
    mean = sum(values) / len(values)
    found = f"{gate}: {mean:.4f} over {len(values)} case(s)"
    if mean >= gate.minimum:
        return Judgement(True, found)
    return Judgement(False, f"{found}, short by {gate.minimum - mean:.4f}")


def figure(case: CaseResult, metric: str) -> float | None:
    """A figure of a case; None where it has none."""
    if metric == PASSED:
        return None if case.outcome == "skipped" else float(case.outcome == "passed")
    return case.figures.get(metric)
