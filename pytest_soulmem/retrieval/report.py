"""The retrieval part of the terminal report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.retrieval.outcome import Outcome

_EPSILON = 1e-12
_DETAILS = ("rankings", "sub_queries")


class Judged(msgspec.Struct, frozen=True):
    """An outcome, and where it came from."""

    file: str
    passed: bool
    outcome: Outcome


def section(records: Sequence[Mapping[str, Any]]) -> Section:
    """One table per file, one row per weight set, means over the cases that expect something."""
    judged = [
        Judged(
            record["nodeid"].split("::")[0],
            record["outcome"] == "passed",
            _outcome(record),
        )
        for record in records
        if "metrics" in record
    ]
    broken = len(records) - len(judged)
    tables = [_file_table(name, list(rows)) for name, rows in groupby(judged, lambda row: row.file)]
    notes = _notes(judged, broken)
    if any(table.marked for table in tables):
        notes.append("* best row(s) of a sweep: highest nDCG at the largest k, then highest RR")
    return Section("retrieval", tables, notes)


def _outcome(record: Mapping[str, Any]) -> Outcome:
    """Without its details, which are most of it."""
    figures = {name: value for name, value in record.items() if name not in _DETAILS}
    return msgspec.convert(figures, Outcome)


def _file_table(name: str, rows: Sequence[Judged]) -> Table:
    groups: dict[str, list[Judged]] = {}
    for row in rows:
        groups.setdefault(row.outcome.weights, []).append(row)
    means = [_means([row.outcome for row in group]) for group in groups.values()]
    columns = list(dict.fromkeys(column for mean in means for column in mean))
    body = [
        [
            f"tag:{group[0].outcome.tag:g}-variant:{group[0].outcome.variant:g}",
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
    outcomes = [row.outcome for row in rows]
    parts = {
        "": [outcome.system.name for outcome in outcomes],
        "mode ": [outcome.mode for outcome in outcomes],
        "check ": [outcome.check for outcome in outcomes],
    }
    return visible(
        "; ".join(title + ", ".join(dict.fromkeys(part)) for title, part in parts.items())
    )


def _means(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The mean of each figure over the cases that have it."""
    values: dict[str, list[float]] = {}
    for outcome in outcomes:
        for name, value in figures(outcome).items():
            values.setdefault(name, []).append(value)
    return {name: sum(listed) / len(listed) for name, listed in values.items()}


def figures(outcome: Outcome) -> dict[str, float]:
    """The figures of one case, in the order of report columns."""
    found: dict[str, float] = {}
    if outcome.metrics:
        for name in ("recall", "precision", "ndcg", "success"):
            found |= {f"{name}@{at.k}": getattr(at, name) for at in outcome.metrics.at}
        found["rr"] = outcome.metrics.reciprocal_rank
    if outcome.actions:
        found["action hit"] = outcome.actions.hit
        found |= {f"action recall@{k}": value for k, value in outcome.actions.recall}
    if outcome.abstract:
        found["abstract"] = outcome.abstract.detected
        if outcome.abstract.direct is not None:
            found["direct"] = outcome.abstract.direct
    return found


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
    outcomes = [row.outcome for row in judged]
    notes = []
    negative = [outcome for outcome in outcomes if outcome.negative]
    if negative:
        came = sum(bool(outcome.retrieved) for outcome in negative)
        notes.append(
            f"{len(negative)} negative case(s), left out of every mean; "
            f"something came back in {came}"
        )
    unjudged = [outcome for outcome in outcomes if outcome.actions_unjudged]
    if unjudged:
        modes = " and ".join(dict.fromkeys(outcome.mode for outcome in unjudged))
        notes.append(
            f"{len(unjudged)} case(s) expect actions, but none were inferred (mode {modes})"
        )
    idle = sum(
        outcome.mode == "embedding" and "-damping:" in outcome.weights for outcome in outcomes
    )
    if idle:
        notes.append(f"{idle} case(s) set damping in mode embedding, where PageRank does not run")
    apart = sum(outcome.sub_queries_unjudged for outcome in outcomes)
    if apart:
        notes.append(
            f"{apart} case(s) expect rankings of sub-queries, which the retriever withholds"
        )
    if broken:
        notes.append(f"{broken} case(s) could not run: see their failures")
    return notes
