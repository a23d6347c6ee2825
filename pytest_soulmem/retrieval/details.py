"""A case's rankings in full: what was expected and what came back, with the scores behind both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from pytest_soulmem.retrieval.query import RetrievalCase
from pytest_soulmem.retrieval.retriever import Channels, Explained, Ranking, Retrieval

Role: TypeAlias = Literal["must", "bonus", ""]


class Hit(Struct, frozen=True):
    """An id that was expected or came back.

    ``rank`` counts from 1; None for an id that did not come back, whose ``score`` is then its
    similarity, where that is known.
    """

    id: str
    role: Role
    rank: int | None
    score: float | None
    key: float | None
    channels: dict[str, float]


class Comparison(Struct, frozen=True):
    """One ranking: the expected ids, must before bonus, and what came back, best first."""

    title: str
    expected: tuple[Hit, ...]
    retrieved: tuple[Hit, ...]


def comparisons(
    case: RetrievalCase, retrieval: Retrieval, explanation: Explained
) -> tuple[Comparison, ...]:
    """The combined ranking, then each sub-query that has an expectation, then the actions."""
    found = [
        _compare(
            "combined ranking",
            case.expected_combined_ranking,
            case.bonus,
            retrieval.combined,
            explanation,
        )
    ]
    if retrieval.per_query is not None:
        found += [
            _compare(
                f"sub-query {own.q}",
                own.ranking,
                [name for name in own.bonus_ranking if name not in own.ranking],
                retrieval.per_query[own.q],
                explanation[own.q : own.q + 1],
            )
            for own in case.expected_per_query
        ]
    if retrieval.actions is not None and (case.expected_actions or retrieval.actions):
        found.append(_compare("actions", case.expected_actions, (), retrieval.actions, ()))
    return tuple(found)


def combined_ids(case: RetrievalCase, retrieval: Retrieval) -> list[str]:
    """The memories in the comparison of the combined ranking."""
    ids = [*case.expected_combined_ranking, *case.bonus]
    ids += [scored.id for scored in retrieval.combined]
    return list(dict.fromkeys(ids))


def own_ids(case: RetrievalCase, retrieval: Retrieval) -> dict[int, list[str]]:
    """By sub-query, the memories in the comparison of its own ranking."""
    found: dict[int, list[str]] = {}
    for own in case.expected_per_query:
        ids = found.setdefault(own.q, [])
        ids += [*own.ranking, *own.bonus_ranking]
        if retrieval.per_query is not None:
            ids += [scored.id for scored in retrieval.per_query[own.q]]
    return found


def _compare(
    title: str,
    must: Sequence[str],
    bonus: Sequence[str],
    ranking: Ranking,
    explanation: Explained,
) -> Comparison:
    roles: dict[str, Role] = {**dict.fromkeys(bonus, "bonus"), **dict.fromkeys(must, "must")}
    retrieved = {
        scored.id: Hit(
            scored.id,
            roles.get(scored.id, ""),
            rank,
            float(scored.score),
            None if scored.key is None else float(scored.key),
            _origin(scored.id, explanation),
        )
        for rank, scored in enumerate(ranking, start=1)
    }
    return Comparison(
        title,
        tuple(
            retrieved.get(name) or _missing(name, roles[name], explanation)
            for name in (*must, *bonus)
        ),
        tuple(retrieved.values()),
    )


def _missing(name: str, role: Role, explanation: Explained) -> Hit:
    channels = _origin(name, explanation)
    return Hit(name, role, None, channels.get("similarity"), None, channels)


def _origin(name: str, explanation: Explained) -> dict[str, float]:
    """The channels of an id in the sub-query that found it best."""
    found = [own[name] for own in explanation if name in own]
    return found[0] if len(found) == 1 else max(found, key=_strength, default={})


def _strength(channels: Channels) -> float:
    """The higher of similarity and PageRank; the highest of all where it has neither."""
    led_to = [channels[name] for name in ("similarity", "pagerank") if name in channels]
    return max(led_to or channels.values(), default=0.0)
