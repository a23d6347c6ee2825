"""What fails a case: an answer against what was expected of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from pytest_soulmem.retrieval.query import RetrievalCase
from pytest_soulmem.retrieval.retriever import Ranking, Retrieval
from pytest_soulmem.settings import Check, Mode

TOLERANCE = 1e-6
"""How much lower an earlier id's key may be: one step of rounding."""


@dataclass(frozen=True)
class Violation:
    """A broken expectation: in which ranking, and how."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def violations(
    case: RetrievalCase, retrieval: Retrieval, mode: Mode, check: Check
) -> list[Violation]:
    """Everything about an answer that breaks a check; nothing for a negative case."""
    if case.negative or check == "none":
        return []
    broken = _CHECKS[check]
    found = [
        Violation("combined ranking", message)
        for message in broken(case.expected_combined_ranking, retrieval.combined)
    ]
    for expectation in case.expected_per_query:
        if expectation.ranking and retrieval.per_query is not None:
            found += [
                Violation(f"sub-query {expectation.q}", message)
                for message in broken(expectation.ranking, retrieval.per_query[expectation.q])
            ]
    if mode == "full" and check != "hit" and retrieval.actions is not None:
        found += _missing_action(case.expected_actions, retrieval.actions)
    return found


def _hit(must: Sequence[str], ranking: Ranking) -> Iterator[str]:
    if not {scored.id for scored in ranking} & set(must):
        yield f"none of the expected ids came back ({_listed(must)})"


def _recall(must: Sequence[str], ranking: Ranking) -> Iterator[str]:
    came = {scored.id for scored in ranking}
    missing = [name for name in must if name not in came]
    if missing:
        yield f"{_listed(missing)} did not come back"


def _order(must: Sequence[str], ranking: Ranking) -> Iterator[str]:
    yield from _recall(must, ranking)
    keys = {scored.id: scored.sort_key for scored in ranking}
    for earlier, later in combinations([name for name in must if name in keys], 2):
        # Rounded, because the difference of two keys one step apart may be a little more.
        if round(keys[later] - keys[earlier], 9) > TOLERANCE:
            yield (
                f'"{earlier}" ({keys[earlier]:.6f}) is expected before '
                f'"{later}" ({keys[later]:.6f})'
            )


def _exact(must: Sequence[str], ranking: Ranking) -> Iterator[str]:
    for rank, name in enumerate(must, start=1):
        came = next(islice(ranking, rank - 1, None), None)
        if came is None or came.id != name:
            found = f'"{came.id}"' if came else "nothing"
            yield f'rank {rank} is {found}, expected "{name}"'


_CHECKS: dict[str, Callable[[Sequence[str], Ranking], Iterator[str]]] = {
    "hit": _hit,
    "recall": _recall,
    "order": _order,
    "exact": _exact,
}


def _missing_action(expected: Sequence[str], actions: Ranking) -> Iterator[Violation]:
    if expected and not {scored.id for scored in actions} & set(expected):
        yield Violation("actions", f"none of the expected actions came back ({_listed(expected)})")


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in ids)
