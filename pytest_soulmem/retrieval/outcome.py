"""What judging one case gives, as plain data for reports."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pytest_soulmem.retrieval import metrics
from pytest_soulmem.retrieval.details import Comparison
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.query import RetrievalCase
from pytest_soulmem.retrieval.retriever import Ranking, Retrieval


class AtK(Struct, frozen=True):
    """The metrics of a ranking at one cut-off, each in [0, 1]."""

    k: int
    recall: float
    precision: float
    ndcg: float
    success: float


class Metrics(Struct, frozen=True):
    """The metrics of the combined ranking."""

    reciprocal_rank: float
    at: tuple[AtK, ...]


class ActionMetrics(Struct, frozen=True):
    """Whether an expected action came back, and recall at each cut-off."""

    hit: float
    recall: tuple[tuple[int, float], ...]


class AbstractMetrics(Struct, frozen=True):
    """Whether an expected abstract situation came back at all, and by similarity alone.

    ``direct`` is None where the retriever does not say what similarity found.
    """

    detected: float
    direct: float | None


def measure(case: RetrievalCase, ranking: Ranking, cutoffs: Sequence[int]) -> Metrics | None:
    """The metrics of a case; None for a negative one."""
    if case.negative:
        return None
    retrieved = ids_of(ranking)
    relevant = frozenset(case.expected_combined_ranking) | frozenset(case.bonus)
    return Metrics(
        metrics.reciprocal_rank(retrieved, relevant),
        tuple(
            AtK(
                k,
                metrics.recall(retrieved, relevant, k),
                metrics.precision(retrieved, relevant, k),
                metrics.ndcg(retrieved, relevant, k),
                metrics.success(retrieved, relevant, k),
            )
            for k in cutoffs
        ),
    )


def measure_actions(
    case: RetrievalCase, actions: Ranking | None, cutoffs: Sequence[int]
) -> ActionMetrics | None:
    """The action metrics; None where no actions are expected or none were inferred."""
    if not case.expected_actions or actions is None:
        return None
    retrieved, expected = ids_of(actions), frozenset(case.expected_actions)
    return ActionMetrics(
        float(bool(expected.intersection(retrieved))),
        tuple((k, metrics.recall(retrieved, expected, k)) for k in cutoffs),
    )


def measure_abstract(
    case: RetrievalCase, retrieval: Retrieval, graph: Graph
) -> AbstractMetrics | None:
    """Abstract detection; None where no abstract situation is expected."""
    expected = {
        name for name in (*case.expected_combined_ranking, *case.bonus) if graph[name].abstract
    }
    if case.negative or not expected:
        return None
    direct = None
    if retrieval.similarity is not None:
        direct = float(any(expected.intersection(ids_of(own)) for own in retrieval.similarity))
    return AbstractMetrics(float(bool(expected.intersection(ids_of(retrieval.combined)))), direct)


class System(Struct, frozen=True):
    """What was under test: an embedder and its model, or by name the user's own retriever."""

    name: str
    model: str = ""
    fingerprint: str = ""


class Retrieved(Struct, frozen=True):
    """A memory that came back, and its score."""

    id: str
    score: float


class SubQueryResult(Struct, frozen=True):
    """What sub-query ``q`` found on its own, best first."""

    q: int
    retrieved: tuple[Retrieved, ...]


class Outcome(Struct, frozen=True):
    """A judged case."""

    case: str
    weights: str
    tag: float
    variant: float
    mode: str
    check: str
    system: System
    negative: bool
    retrieved: tuple[str, ...]
    expected: tuple[str, ...]
    metrics: Metrics | None
    actions: ActionMetrics | None
    abstract: AbstractMetrics | None
    actions_unjudged: bool
    """Actions are expected, but this mode or retriever infers none."""
    sub_queries_unjudged: bool = False
    """Rankings of sub-queries are expected, but the retriever gives none."""
    rankings: tuple[Comparison, ...] | None = None
    """In full, for results files; None where nobody asked for them."""
    sub_queries: tuple[SubQueryResult, ...] | None = None
    """Of every sub-query, likewise; None too where the retriever gives none."""
    similarity_threshold: float | None = None
    """None, as ``max_results``, in results of a version that did not tell."""
    max_results: int | None = None
    changed_weights: dict[str, float] = {}
    """The weights that differ from the defaults, by name."""
    graph: str | None = None
    """Changes when any memory or link of the graph does."""


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


def sub_query_results(retrieval: Retrieval) -> tuple[SubQueryResult, ...] | None:
    """What each sub-query found, if the retriever tells."""
    if retrieval.per_query is None:
        return None
    return tuple(
        SubQueryResult(q, tuple(Retrieved(one.id, float(one.score)) for one in ranking))
        for q, ranking in enumerate(retrieval.per_query)
    )


def ids_of(ranking: Ranking) -> list[str]:
    """The ids of a ranking, best first.

    As plain text: a retriever's own may be of a subclass (NumPy's, an enum's), which cannot be
    encoded.
    """
    return [str.__str__(scored.id) for scored in ranking]
