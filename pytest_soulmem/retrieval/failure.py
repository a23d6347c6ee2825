"""The text of a failing case: what was violated, what was asked, and the scores that led there."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.table import Table, lines
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.retrieval.checks import Violation
from pytest_soulmem.retrieval.details import Comparison, Hit
from pytest_soulmem.retrieval.excerpts import asked, memory_excerpt
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.outcome import Outcome
from pytest_soulmem.retrieval.retriever import Query
from pytest_soulmem.retrieval.weights import changed


def explain_failure(
    query: Query,
    outcome: Outcome,
    violations: Sequence[Violation],
    comparisons: Sequence[Comparison],
    graph: Graph,
) -> Failure:
    """One line that says what was violated, then the expected ids beside what came back."""
    broken = [f"{outcome.check}: {violation}" for violation in violations]
    text = [*broken, "", *_setting(query, outcome), "", *asked(query.sub_queries)]
    violated = {violation.where for violation in violations} | {"combined ranking"}
    for comparison in comparisons:
        if comparison.title in violated:
            text += ranking_tables(comparison, graph)
    if outcome.actions_unjudged:
        text += ["", f"mode {outcome.mode}: actions are not inferred, so none was judged"]
    return Failure(visible(broken[0]), "\n".join(visible(line) for line in text))


def _setting(query: Query, outcome: Outcome) -> list[str]:
    weights = query.weights
    shown = {"tag": weights.tag, "variant": weights.variant} | changed(weights)
    listed = ", ".join(f"{name} {value:g}" for name, value in shown.items())
    return [
        f"retriever  {outcome.system.name}, mode {query.mode}, "
        f"threshold {query.similarity_threshold:g}, max_results {query.max_results}",
        f"weights    {listed}, others as by default",
    ]


def ranking_tables(comparison: Comparison, graph: Graph) -> list[str]:
    """The expected ids, then what came back, in one grid, so that the columns line up."""
    expected, retrieved = comparison.expected, comparison.retrieved
    hits = [*expected, *retrieved]
    keyed = any(hit.key is not None for hit in hits)
    channels = list(dict.fromkeys(name for hit in hits for name in hit.channels))
    header = ["rank", "id", "", "score", *(["key"] if keyed else []), *channels, "memory"]
    rows = [_row(hit, keyed, channels, graph) for hit in hits]
    grid = lines(Table(header, rows, left=(1, 2, len(header) - 1)), indent="  ")
    split = 1 + len(expected)
    title = comparison.title
    rest = grid[split:] or ["  nothing came back"]
    return ["", f"{title}: expected", *grid[:split], f"{title}: came back", *rest]


def _row(hit: Hit, keyed: bool, channels: Sequence[str], graph: Graph) -> list[str]:
    return [
        "missing" if hit.rank is None else str(hit.rank),
        # Here and not after: the columns must fit what is shown.
        visible(hit.id),
        hit.role,
        _number(hit.score),
        *([_number(hit.key)] if keyed else []),
        *(_number(hit.channels.get(channel)) for channel in channels),
        memory_excerpt(graph[hit.id]),
    ]


def _number(value: float | None) -> str:
    return "·" if value is None else f"{value:.4f}"
