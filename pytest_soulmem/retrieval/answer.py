"""Whether what a retriever returned can be judged at all."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_soulmem.faults import suggestion
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.retriever import Query, Retrieval, Scored


def answer_faults(answer: object, query: Query, graph: Graph) -> list[str]:
    """What is wrong with the answer of a retriever, ours or the user's."""
    if not isinstance(answer, Retrieval):
        return [f"retrieve() returned {type(answer).__name__}, not a pytest_soulmem Retrieval"]
    faults = list(_ranking_faults("combined", answer.combined, query, graph))
    for name in ("per_query", "similarity"):
        rankings = getattr(answer, name)
        if rankings is None:
            continue
        if not _is_sequence(rankings) or len(rankings) != len(query.sub_queries):
            faults.append(f"{name} must have one ranking per sub-query ({len(query.sub_queries)})")
            continue
        for position, ranking in enumerate(rankings):
            faults += _ranking_faults(f"{name}[{position}]", ranking, query, graph)
    if answer.actions is not None:
        faults += _ranking_faults("actions", answer.actions, query, graph)
        faults += [
            f'actions: "{scored.id}" is no Procedure node'
            for scored in (answer.actions if _is_sequence(answer.actions) else ())
            if isinstance(scored, Scored)
            and _is_id(scored.id, graph)
            and graph[scored.id].procedure is None
        ]
    return faults


def _is_sequence(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _is_id(value: object, graph: Graph) -> bool:
    return isinstance(value, str) and value in graph


def _ranking_faults(name: str, ranking: object, query: Query, graph: Graph) -> Iterator[str]:
    if not isinstance(ranking, (list, tuple)):
        yield f"{name} is {type(ranking).__name__}, not a list of Scored"
        return
    if len(ranking) > query.max_results:
        yield f"{name} has {len(ranking)} results; at most {query.max_results} were asked for"
    seen: set[str] = set()
    last = math.inf
    for rank, scored in enumerate(ranking, start=1):
        where = f"{name}, rank {rank}"
        if not isinstance(scored, Scored):
            yield f"{where}: {type(scored).__name__}, not Scored"
            continue
        if not isinstance(scored.id, str):
            yield f"{where}: the id is {type(scored.id).__name__}, not text"
        elif scored.id not in graph:
            hint = suggestion(scored.id, graph.index)
            yield f'{where}: no node has the id "{scored.id}"{hint}'
        elif scored.id in seen:
            yield f'{where}: "{scored.id}" came back twice'
        else:
            seen.add(scored.id)
        if not _is_number(scored.score) or not _is_number(scored.sort_key):
            yield f'{where}: the score of "{scored.id}" is not a finite number'
        elif scored.sort_key > last:
            yield f'{where}: "{scored.id}" has a higher key than the result before it'
        else:
            last = scored.sort_key


def _is_number(value: object) -> bool:
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        return False
