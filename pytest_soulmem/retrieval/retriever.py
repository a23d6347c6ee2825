"""What a memory system is asked and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.weights import Weights
from pytest_soulmem.settings import Mode


@dataclass(frozen=True)
class Query:
    """One case, as a retriever sees it: what to look for and how, not what is expected."""

    sub_queries: tuple[SubQuery, ...]
    weights: Weights
    mode: Mode
    similarity_threshold: float
    max_results: int


class Scored(Struct, frozen=True):
    """A memory that came back.

    ``key`` is what the ranking is sorted by, where that is not the score itself.
    """

    id: str
    score: float
    key: float | None = None

    @property
    def sort_key(self) -> float:
        """The key, or the score where there is none."""
        return self.score if self.key is None else self.key


Ranking = Sequence[Scored]


@dataclass(frozen=True)
class Retrieval:
    """The answer to a query: rankings, best first, of at most ``max_results`` distinct ids.

    ``combined`` is required. ``per_query`` has one ranking per sub-query and ``similarity`` the
    same before any association; ``actions`` are ids of Procedure nodes. What is None is not
    judged, and the report says so.
    """

    combined: Ranking
    per_query: Sequence[Ranking] | None = None
    actions: Ranking | None = None
    similarity: Sequence[Ranking] | None = None


def plain(answer: object) -> object:
    """An answer with ids that are text and nothing more, however wrong it may be otherwise.

    NumPy's texts cannot be encoded, and those of an enum are not equal to the ids of a graph.
    """
    if not isinstance(answer, Retrieval):
        return answer
    return Retrieval(
        _plain_ranking(answer.combined),
        _plain_rankings(answer.per_query),
        _plain_ranking(answer.actions),
        _plain_rankings(answer.similarity),
    )


def plain_text(text: Any) -> Any:
    """A text of any subclass as text; what is none as it is."""
    return str.__str__(text) if isinstance(text, str) else text


def _plain_rankings(rankings: Any) -> Any:
    if not isinstance(rankings, (list, tuple)):
        return rankings
    return [_plain_ranking(ranking) for ranking in rankings]


def _plain_ranking(ranking: Any) -> Any:
    if not isinstance(ranking, (list, tuple)):
        return ranking
    return [
        replace(scored, id=plain_text(scored.id)) if isinstance(scored, Scored) else scored
        for scored in ranking
    ]


def ranked(ids: Sequence[str]) -> list[Scored]:
    """A ranking from ids alone, best first, for a system that has no scores: 1/rank each."""
    return [Scored(name, 1 / rank) for rank, name in enumerate(ids, start=1)]


class Retriever(Protocol):
    """A memory system that holds one graph."""

    def retrieve(self, query: Query) -> Retrieval:
        """Answer one query. Called once per case and weight set, in any order."""
        ...


Channels = Mapping[str, float]
"""Scores by channel: ``tag``, ``concept``, …, ``string``, ``similarity``, ``pagerank``."""
Explained = Sequence[Mapping[str, dict[str, float]]]
"""Per sub-query, the channels of each id; empty for a retriever that explains nothing."""


@runtime_checkable
class Explainer(Protocol):
    """A retriever that can say where scores come from; optional, for failure tables."""

    def explain(self, query: Query, ids: Sequence[str]) -> Sequence[Mapping[str, Channels]]:
        """Per sub-query, the channel scores of each of the ids."""
        ...
