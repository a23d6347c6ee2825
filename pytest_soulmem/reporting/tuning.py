"""Sweeps as tuning: the weight sets of each file, ranked by a metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_soulmem.reporting.bootstrap import mean_interval
from pytest_soulmem.reporting.gates import figure
from pytest_soulmem.reporting.results import CaseResult
from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

Values = Mapping[str, float]
"""A figure by case, for one weight set."""


def ranking_section(metric: str, cases: Sequence[CaseResult]) -> Section:
    """One table per file that sweeps, best weight set first.

    A set is *not worse* than the best if the paired bootstrap interval of their difference
    reaches 0: with these cases the two cannot be told apart.
    """
    tables = [
        _table(metric, file, sets, common)
        for file, sets in _sweeps(metric, cases).items()
        if len(sets) > 1 and (common := _common(sets))
    ]
    notes = ["= not worse than the best: the interval of the difference reaches 0"]
    if not tables:
        notes = [f"no file sweeps weights over cases that have {visible(metric)}"]
    return Section(f"weight sets by {visible(metric)}", tables, notes)


def _sweeps(metric: str, cases: Sequence[CaseResult]) -> dict[str, dict[str, dict[str, float]]]:
    """Values by file, weight set and case; a case's name without its weight set."""
    files: dict[str, dict[str, dict[str, float]]] = {}
    for case in cases:
        value = figure(case, metric)
        if case.variation and value is not None:
            name = case.nodeid.removesuffix(f"[{case.variation}]")
            files.setdefault(case.file, {}).setdefault(case.variation, {})[name] = value
    return files


def _common(sets: Mapping[str, Values]) -> list[str]:
    """The cases that every set has: sets are compared on the same ground."""
    first, *others = sets.values()
    return [name for name in first if all(name in own for own in others)]


def _table(metric: str, file: str, sets: Mapping[str, Values], common: Sequence[str]) -> Table:
    means = {label: _mean([own[name] for name in common]) for label, own in sets.items()}
    # A stable sort: of equal sets the file's order holds.
    order = sorted(means, key=lambda label: -means[label])
    rows = list(_rows(order, sets, common))
    return Table(
        ["", "weights", visible(metric), "95% interval", "below the best", "95% interval"],
        rows,
        title=f"{visible(file)}  ({len(common)} cases)",
        left=(1,),
        marked=frozenset(at for at, row in enumerate(rows) if row[0].endswith("=") or at == 0),
    )


def _rows(
    order: Sequence[str], sets: Mapping[str, Values], common: Sequence[str]
) -> Iterator[list[str]]:
    best = [sets[order[0]][name] for name in common]
    for rank, label in enumerate(order, start=1):
        own = [sets[label][name] for name in common]
        low, high = mean_interval(own)
        shown = [visible(label), f"{_mean(own):.4f}", f"{low:.4f} to {high:.4f}"]
        if rank == 1:
            yield ["1", *shown, "", ""]
            continue
        below = [first - second for first, second in zip(best, own, strict=True)]
        least, most = mean_interval(below)
        sign = " =" if least <= 0 else ""
        yield [f"{rank}{sign}", *shown, f"{_mean(below):.4f}", f"{least:.4f} to {most:.4f}"]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
