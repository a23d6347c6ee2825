"""Baselines: results of an earlier run, and what has changed since."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from pytest_soulmem.reporting.bootstrap import grouped_interval
from pytest_soulmem.reporting.gates import PASSED, figure, parse_metric
from pytest_soulmem.reporting.results import CaseResult, Results, read_results
from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

FOLDER = ".soulmem"
_NAME = re.compile(r"[\w][\w.-]*")
_LISTED = 20
_MOVED = 10
_LEAST_MOVE = 0.0001
"""What four decimals show."""


class BaselineError(Exception):
    """A baseline that cannot be used; the text says why."""


@dataclass(frozen=True)
class Allowance:
    """How far a mean may fall: ``recall@5:1%`` of the old mean, or ``recall@5:0.01``."""

    metric: str
    amount: float
    relative: bool

    def __str__(self) -> str:
        return f"{self.amount:g}%" if self.relative else f"{self.amount:g}"

    def allows(self, old: float, new: float) -> bool:
        """Whether the fall from old to new is within the allowance."""
        allowed = old * self.amount / 100 if self.relative else self.amount
        return old - new <= allowed + 1e-12


def parse_allowance(text: str) -> Allowance:
    """An allowance as it is written on the command line.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    metric, _, amount = text.rpartition(":")
    try:
        value = float(amount.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not metric or not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no allowance such as recall@5:1% or recall@5:0.01"
        )
    return Allowance(parse_metric(metric), value, amount.endswith("%"))


def parse_name(text: str) -> str:
    """The name of a baseline.

    Raises:
        argparse.ArgumentTypeError: it could not be a file name everywhere.
    """
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name for a baseline: use letters, digits, _, . and -"
        )
    return text


def baseline_path(root: Path, name: str) -> Path:
    """Where the baseline of a name is kept."""
    return root / FOLDER / f"{name}.json"


def find_baseline(root: Path, asked: str, start: Path) -> Path:
    """The file of a baseline: by name, or by a path from where pytest was started.

    Raises:
        BaselineError: there is none.
    """
    named = baseline_path(root, asked)
    with suppress(OSError):  # Too long to be the name of a file.
        if _NAME.fullmatch(asked) and named.is_file():
            return named
        if (start / asked).is_file():
            return start / asked
    have = sorted(path.stem for path in named.parent.glob("*.json"))
    listed = f"; saved here: {', '.join(have)}" if have else "; none is saved here"
    raise BaselineError(f"there is no baseline {visible(asked)!r}{listed} (--soulmem-save=NAME)")


def load_baseline(path: Path) -> Results:
    """Read a baseline.

    Raises:
        BaselineError: it is no results file of this version.
    """
    try:
        found = read_results(path)
        for at, case in enumerate(found.cases):
            _check_result(case, at)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        said = f"{path} is no results file of this version: {error}"
        raise BaselineError(visible(said)) from None
    return found


class _Compared(Struct, frozen=True):
    """What comparisons read of what kinds put into ``result``."""

    system: dict[str, str | None] | None = None
    check: str | None = None
    mode: str | None = None
    similarity_threshold: float | None = None
    max_results: int | None = None
    graph: str | None = None


_SETTINGS = ("mode", "similarity_threshold", "max_results")
"""What may differ between two runs of a case that are compared all the same."""


def _check_result(case: CaseResult, at: int) -> None:
    try:
        msgspec.convert(case.result, _Compared)
    except msgspec.ValidationError as error:
        reason, _, below = str(error).partition(" - at `$")
        place = f"$.cases[{at}].result{below.rstrip('`')}"
        raise msgspec.ValidationError(f"{reason} - at `{place}`") from None


@dataclass(frozen=True)
class OtherSystem:
    """What judged the cases of a kind then, and what does now."""

    kind: str
    then: str
    now: str


@dataclass(frozen=True)
class Move:
    """The figure of a case that changed most in one direction."""

    nodeid: str
    metric: str
    old: float
    new: float

    @property
    def distance(self) -> float:
        """How far it rose; negative where it fell."""
        return self.new - self.old

    def __str__(self) -> str:
        return f"{self.metric} {self.old:.4f} -> {self.new:.4f}  {self.nodeid}"


@dataclass(frozen=True)
class Comparison:
    """Two runs, case by case. Only cases that ask and expect the same are compared."""

    pairs: Sequence[tuple[CaseResult, CaseResult]]
    """Old and new."""
    changed: Sequence[str] = ()
    other_graphs: int = 0
    """How many of the changed cases ask another graph."""
    added: Sequence[str] = ()
    gone: Sequence[str] = ()
    """Cases that their file no longer holds."""
    unrun: int = 0
    """How many cases of the baseline did not run for another reason: they were not selected."""
    other_systems: Sequence[OtherSystem] = ()
    """How the systems under test differ."""
    refused: bool = False
    """Whether nothing is compared because the systems differ."""
    other_checks: Sequence[str] = ()
    """How the checks differ, where they do; of such cases only the metrics are compared."""
    other_settings: Sequence[str] = ()
    """How else the cases ran: in another mode, with another threshold."""

    @property
    def judged_alike(self) -> list[tuple[CaseResult, CaseResult]]:
        """The pairs whose outcomes mean the same: no check but one judged both."""
        return [pair for pair in self.pairs if not _difference("check", *pair)]

    @property
    def lost(self) -> list[str]:
        """Cases that passed and no longer do."""
        return [
            new.nodeid
            for old, new in self.judged_alike
            if old.outcome == "passed" and new.outcome in ("failed", "error")
        ]

    @property
    def won(self) -> list[str]:
        """Cases that failed and pass now."""
        return [
            new.nodeid
            for old, new in self.judged_alike
            if old.outcome in ("failed", "error") and new.outcome == "passed"
        ]

    def moves(self, direction: Literal[1, -1]) -> list[Move]:
        """Per case the figure that rose (1) or fell (-1) most, the furthest first."""
        furthest = [
            max(_moves(old, new), key=lambda move: direction * move.distance, default=None)
            for old, new in self.pairs
        ]
        seen = [move for move in furthest if move and direction * move.distance >= _LEAST_MOVE]
        return sorted(seen, key=lambda move: -direction * move.distance)

    def metrics(self) -> list[str]:
        """The figures that both runs have, in the order of the new one."""
        names: dict[str, None] = {PASSED: None}
        for old, new in self.pairs:
            names |= dict.fromkeys(name for name in new.figures if name in old.figures)
        return list(names)

    def values(self, metric: str) -> list[tuple[float, float]]:
        """Old and new value of a figure, per case and weight set that has both."""
        return [both for own in self.by_case(metric).values() for both in own]

    def by_case(self, metric: str) -> dict[str, list[tuple[float, float]]]:
        """The same for each case, whatever weight sets it ran with."""
        found: dict[str, list[tuple[float, float]]] = {}
        for old, new in self.judged_alike if metric == PASSED else self.pairs:
            before, after = figure(old, metric), figure(new, metric)
            if before is not None and after is not None:
                name = new.nodeid.removesuffix(f"[{new.variation}]")
                found.setdefault(name, []).append((before, after))
        return found


def _moves(old: CaseResult, new: CaseResult) -> list[Move]:
    return [
        Move(new.nodeid, name, old.figures[name], value)
        for name, value in new.figures.items()
        if name in old.figures
    ]


def compare(old: Results, new: Results, held: Collection[str] = ()) -> Comparison:
    """Pair the cases of two runs by node id.

    ``held`` has the node ids in all files that the new run collected, selected or not.
    """
    before = {case.nodeid: case for case in old.cases}
    after = {case.nodeid: case for case in new.cases}
    common = [name for name in after if name in before]
    same = [name for name in common if _alike(before[name], after[name])]
    changed = [name for name in common if not _alike(before[name], after[name])]
    absent = [case for name, case in before.items() if name not in after]
    files = {name.split("::")[0] for name in held}
    gone = [case.nodeid for case in absent if case.file in files and case.nodeid not in held]
    pairs = [(before[name], after[name]) for name in same]
    return Comparison(
        pairs=pairs,
        changed=changed,
        other_graphs=sum(_of_other_graphs(before[name], after[name]) for name in changed),
        added=[name for name in after if name not in before],
        gone=gone,
        unrun=len(absent) - len(gone),
        other_systems=list(_other_systems(old.cases, new.cases)),
        other_checks=_differences("check", pairs),
        other_settings=[said for name in _SETTINGS for said in _differences(name, pairs)],
    )


def of_one_system(comparison: Comparison) -> Comparison:
    """The same, with nothing to compare where the systems differ: that would tell of them."""
    if not comparison.other_systems:
        return comparison
    return replace(comparison, pairs=(), other_checks=(), other_settings=(), refused=True)


def _differences(name: str, pairs: Sequence[tuple[CaseResult, CaseResult]]) -> list[str]:
    """How what cases ran with differs, and in how many of them."""
    found = Counter(filter(None, (_difference(name, old, new) for old, new in pairs)))
    return [f"{said}: {count} case(s)" for said, count in found.items()]


def _difference(name: str, old: CaseResult, new: CaseResult) -> str | None:
    """What a case ran with then and now, if that differs; one that could not run does not say."""
    then, now = old.result.get(name), new.result.get(name)
    if None in (then, now) or then == now:
        return None
    return f"{name} {visible(str(then))} in the baseline, {visible(str(now))} now"


def _alike(old: CaseResult, new: CaseResult) -> bool:
    """Whether two cases ask and expect the same; one that could not run does not say."""
    return not (old.fingerprint and new.fingerprint) or old.fingerprint == new.fingerprint


def _of_other_graphs(old: CaseResult, new: CaseResult) -> bool:
    then, now = old.result.get("graph"), new.result.get("graph")
    return None not in (then, now) and then != now


def _other_systems(old: Sequence[CaseResult], new: Sequence[CaseResult]) -> Iterator[OtherSystem]:
    """Where one kind of case was judged with one system then and with another now."""
    before, after = _systems(old), _systems(new)
    for kind, names in before.items():
        if names != after.get(kind, names):
            yield OtherSystem(kind, *(", ".join(sorted(own)) for own in (names, after[kind])))


def _systems(cases: Sequence[CaseResult]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for case in cases:
        system = case.result.get("system")
        if system:
            found.setdefault(case.kind, set()).add(" ".join(filter(None, system.values())))
    return found


def regressions(comparison: Comparison, allowances: Sequence[Allowance]) -> list[str]:
    """The means that fell by more than is allowed; a figure that is not there is told too."""
    lines = []
    for allowance in allowances:
        values = comparison.values(allowance.metric)
        if not values:
            lines.append(f"{allowance.metric}: nothing to compare")
            continue
        old, new = (sum(side) / len(values) for side in zip(*values, strict=True))
        if not allowance.allows(old, new):
            lines.append(
                f"{allowance.metric}: fell from {old:.4f} to {new:.4f}, "
                f"by more than {allowance} ({len(values)} cases)"
            )
    return lines


def comparison_section(name: str, comparison: Comparison) -> Section:
    """The comparison as a part of the terminal report."""
    rows = []
    for metric in comparison.metrics():
        by_case = comparison.by_case(metric)
        if by_case:
            rows.append(_row(metric, by_case))
    # Values of two systems stand below the names of both.
    title = "; ".join(
        visible(f"{own.kind}: old is {own.then}, new is {own.now}")
        for own in comparison.other_systems
    )
    header = ["", "old", "new", "difference", "95% interval", "cases"]
    table = Table(header, rows, title=title)
    notes = [
        *(_refusal(comparison.other_systems) if comparison.refused else ()),
        *comparison.other_settings,
        *(f"{line} left out of passed, lost and won" for line in comparison.other_checks),
        *_listing("lost", comparison.lost),
        *_listing("won", comparison.won),
        *_listing("fell most", comparison.moves(-1), _MOVED),
        *_listing("rose most", comparison.moves(1), _MOVED),
        *_listing("changed since, not compared", comparison.changed),
        *_graphs(comparison.other_graphs),
        *_listing("not in the baseline", comparison.added),
        *_listing("only in the baseline", comparison.gone),
    ]
    if comparison.unrun:
        notes.append(f"in the baseline, not run now: {comparison.unrun} case(s)")
    return Section(f"comparison with {visible(name)}", [table] if rows else [], notes)


def _refusal(systems: Sequence[OtherSystem]) -> list[str]:
    lines = [
        f"not compared: {own.kind}: the baseline was made with {own.then}, this run with {own.now}"
        for own in systems
    ]
    return [*map(visible, lines), "to compare two systems, add --soulmem-compare-systems"]


def _row(metric: str, by_case: Mapping[str, Sequence[tuple[float, float]]]) -> list[str]:
    values = [both for own in by_case.values() for both in own]
    old, new = (sum(side) / len(values) for side in zip(*values, strict=True))
    low, high = grouped_interval(
        {name: [after - before for before, after in own] for name, own in by_case.items()}
    )
    interval = f"{low:+.4f} to {high:+.4f}"
    return [metric, f"{old:.4f}", f"{new:.4f}", f"{new - old:+.4f}", interval, str(len(values))]


def _graphs(count: int) -> list[str]:
    return [f"  the graph of {count} of them changed: its memories or links"] if count else []


def _listing(title: str, listed: Sequence[object], most: int = _LISTED) -> list[str]:
    if not listed:
        return []
    shown = [f"  {visible(str(one))}" for one in listed[:most]]
    more = [f"  and {len(listed) - most} more"] if len(listed) > most else []
    return [f"{title}: {len(listed)}", *shown, *more]
