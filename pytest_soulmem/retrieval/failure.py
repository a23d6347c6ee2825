"""The text of a failing case: what was violated, and the scores that led there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.table import Table, lines
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.retrieval.checks import Violation
from pytest_soulmem.retrieval.outcome import Outcome
from pytest_soulmem.retrieval.query import RetrievalCase
from pytest_soulmem.retrieval.retriever import Channels, Query, Ranking, Retrieval
from pytest_soulmem.retrieval.weights import Weights

Explanation: TypeAlias = Sequence[Mapping[str, Channels]]
"""Per sub-query, the channels of each id; empty for a retriever that explains nothing."""


def explain_failure(
    case: RetrievalCase,
    query: Query,
    retrieval: Retrieval,
    outcome: Outcome,
    violations: Sequence[Violation],
    explanation: Explanation,
) -> Failure:
    """One line that says what was violated, then the expected ids beside what came back."""
    first = f"{outcome.check}: {violations[0]}"
    more = [f"{outcome.check}: {violation}" for violation in violations[1:]]
    text = [first, *more, "", *_setting(query, outcome)]
    must, bonus = case.expected_combined_ranking, case.bonus
    text += _comparison("combined ranking", must, bonus, retrieval.combined, explanation)
    if retrieval.per_query is not None:
        for expectation in case.expected_per_query:
            where = f"sub-query {expectation.q}"
            if any(violation.where == where for violation in violations):
                text += _comparison(
                    where,
                    expectation.ranking,
                    [name for name in expectation.bonus_ranking if name not in expectation.ranking],
                    retrieval.per_query[expectation.q],
                    explanation[expectation.q : expectation.q + 1],
                )
    if case.expected_actions and retrieval.actions is not None:
        text += _comparison("actions", case.expected_actions, (), retrieval.actions, ())
    if outcome.actions_unjudged:
        text += ["", f"mode {outcome.mode}: actions are not inferred, so none was judged"]
    return Failure(visible(first), "\n".join(visible(line) for line in text))


def _setting(query: Query, outcome: Outcome) -> list[str]:
    defaults = msgspec.structs.asdict(Weights())
    changed = [
        f"{name} {value:g}"
        for name, value in msgspec.structs.asdict(query.weights).items()
        if name in ("tag", "variant") or value != defaults[name]
    ]
    return [
        f"retriever  {outcome.embedder}, mode {query.mode}, "
        f"threshold {query.similarity_threshold:g}, max_results {query.max_results}",
        f"weights    {', '.join(changed)}, others as by default",
    ]


def _comparison(
    title: str,
    must: Sequence[str],
    bonus: Sequence[str],
    ranking: Ranking,
    explanation: Explanation,
) -> list[str]:
    """Two tables with the same columns: the expected ids, and what came back."""
    ranks = {scored.id: rank for rank, scored in enumerate(ranking, start=1)}
    came = {scored.id: scored for scored in ranking}
    roles = dict.fromkeys(must, "must") | dict.fromkeys(bonus, "bonus")
    listed = [*roles, *(name for name in came if name not in roles)]
    origins = {name: _origin(name, explanation) for name in listed}
    channels = list(dict.fromkeys(name for origin in origins.values() for name in origin))

    def row(name: str) -> list[str]:
        scored = came.get(name)
        origin = origins[name]
        score = scored.score if scored else origin.get("similarity")
        return [
            str(ranks.get(name, "missing")),
            # Here and not after: the columns must fit what is shown.
            visible(name),
            roles.get(name, ""),
            _number(score),
            *([_number(scored.sort_key if scored else None)] if keyed else []),
            *(_number(origin.get(channel)) for channel in channels),
        ]

    keyed = any(scored.key is not None for scored in ranking)
    header = ["rank", "id", "", "score", *(["key"] if keyed else []), *channels]
    expected = Table(header, [row(name) for name in roles], left=(1, 2))
    returned = Table(header, [row(name) for name in came], left=(1, 2))
    # One grid for both tables, so that their columns line up.
    grid = lines(Table(header, [*expected.rows, *returned.rows], left=(1, 2)), indent="  ")
    split = 1 + len(expected.rows)
    rest = grid[split:] or ["  nothing came back"]
    return ["", f"{title}: expected", *grid[:split], f"{title}: came back", *rest]


def _origin(name: str, explanation: Explanation) -> Channels:
    """The channels of an id in the sub-query that gave it the highest similarity."""
    return max(
        (own[name] for own in explanation if name in own),
        key=lambda channels: max(channels.get("similarity", 0.0), channels.get("pagerank", 0.0)),
        default={},
    )


def _number(value: float | None) -> str:
    return "·" if value is None else f"{value:.4f}"
