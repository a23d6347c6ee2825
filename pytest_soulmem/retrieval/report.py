"""The retrieval part of the terminal report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

_EPSILON = 1e-12


class Named(msgspec.Struct):
    """A system under test, by name."""

    name: str


class Judged(msgspec.Struct):
    """What the report reads of the record of a judged case."""

    nodeid: str
    outcome: str
    weights: str
    tag: float
    variant: float
    mode: str
    check: str
    system: Named
    negative: bool
    retrieved: list[str]
    actions_unjudged: bool
    sub_queries_unjudged: bool
    figures: dict[str, float]

    @property
    def file(self) -> str:
        """The file of the case."""
        return self.nodeid.split("::")[0]

    @property
    def passed(self) -> bool:
        """Whether the case passed."""
        return self.outcome == "passed"


def section(records: Sequence[Mapping[str, Any]]) -> Section:
    """One table per file, one row per weight set, means over the cases that expect something."""
    judged = [msgspec.convert(record, Judged) for record in records if "metrics" in record]
    broken = len(records) - len(judged)
    tables = [_file_table(name, list(rows)) for name, rows in groupby(judged, lambda row: row.file)]
    notes = _notes(judged, broken)
    if any(table.marked for table in tables):
        notes.append("* best row(s) of a sweep: highest nDCG at the largest k, then highest RR")
    return Section("retrieval", tables, notes)


def _file_table(name: str, rows: Sequence[Judged]) -> Table:
    groups: dict[str, list[Judged]] = {}
    for row in rows:
        groups.setdefault(row.weights, []).append(row)
    means = [_means(group) for group in groups.values()]
    columns = list(dict.fromkeys(column for mean in means for column in mean))
    body = [
        [
            f"tag:{group[0].tag:g}-variant:{group[0].variant:g}",
            f"{sum(row.passed for row in group)}/{len(group)}",
            *(f"{mean[column]:.3f}" if column in mean else "·" for column in columns),
        ]
        for group, mean in zip(groups.values(), means, strict=True)
    ]
    legend = []
    for position, label in enumerate(groups):
        overrides = label.removeprefix(body[position][0]).removeprefix("-")
        if overrides:
            body[position][0] += f" ({position + 1})"
            legend.append(f"({position + 1}) {overrides}")
    marked = _best(means) if len(means) > 1 else frozenset()
    for position in marked:
        body[position][0] += " *"
    return Table(
        ["weights", "passed", *columns],
        body,
        title=f"{visible(name)}  ({_how(rows)})",
        marked=marked,
        notes=legend,
    )


def _how(rows: Sequence[Judged]) -> str:
    """Embedder, mode and check; several where cases differ."""
    parts = {
        "": [row.system.name for row in rows],
        "mode ": [row.mode for row in rows],
        "check ": [row.check for row in rows],
    }
    return visible(
        "; ".join(title + ", ".join(dict.fromkeys(part)) for title, part in parts.items())
    )


def _means(rows: Sequence[Judged]) -> dict[str, float]:
    """The mean of each figure over the cases that have it."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.figures.items():
            values.setdefault(name, []).append(value)
    return {name: sum(listed) / len(listed) for name, listed in values.items()}


def _best(means: Sequence[Mapping[str, float]]) -> frozenset[int]:
    """The rows with the highest nDCG at the largest cut-off; reciprocal rank breaks ties."""
    cutoffs = [name for mean in means for name in mean if name.startswith("ndcg@")]
    leading = max(cutoffs, key=lambda name: int(name.removeprefix("ndcg@")), default="rr")
    ranked = [(mean.get(leading, 0.0), mean.get("rr", 0.0)) for mean in means]
    top = max(ranked)
    best = [
        position
        for position, pair in enumerate(ranked)
        if all(abs(a - b) < _EPSILON for a, b in zip(pair, top, strict=True))
    ]
    return frozenset(best) if len(best) < len(means) else frozenset()


def _notes(judged: Sequence[Judged], broken: int) -> list[str]:
    notes = []
    negative = [row for row in judged if row.negative]
    if negative:
        came = sum(bool(row.retrieved) for row in negative)
        notes.append(
            f"{len(negative)} negative case(s), left out of every mean; "
            f"something came back in {came}"
        )
    unjudged = [row for row in judged if row.actions_unjudged]
    if unjudged:
        modes = " and ".join(dict.fromkeys(row.mode for row in unjudged))
        notes.append(
            f"{len(unjudged)} case(s) expect actions, but none were inferred (mode {modes})"
        )
    idle = sum(row.mode == "embedding" and "-damping:" in row.weights for row in judged)
    if idle:
        notes.append(f"{idle} case(s) set damping in mode embedding, where PageRank does not run")
    apart = sum(row.sub_queries_unjudged for row in judged)
    if apart:
        notes.append(
            f"{apart} case(s) expect rankings of sub-queries, which the retriever withholds"
        )
    if broken:
        notes.append(f"{broken} case(s) could not run: see their failures")
    return notes
