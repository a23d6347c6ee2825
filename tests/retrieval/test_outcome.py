"""The figures of a judged case."""

import json
from enum import Enum

import msgspec
import numpy as np
import pytest

from pytest_soulmem.retrieval.outcome import (
    AbstractMetrics,
    ActionMetrics,
    Outcome,
    ids_of,
    measure,
    measure_abstract,
    measure_actions,
)
from retrieval.builders import GRAPH, at_k, case_of, graph_of, outcome, ranking, retrieval


def test_must_and_bonus_are_relevant_and_count_once():
    case = case_of(["a", "b"], ["b", "c"])
    found = measure(case, ranking("x", "c", "a"), [1, 2, 5])
    assert found.reciprocal_rank == 0.5
    assert [at.k for at in found.at] == [1, 2, 5]
    assert [at.recall for at in found.at] == pytest.approx([0, 1 / 3, 2 / 3])
    assert [at.precision for at in found.at] == pytest.approx([0, 1 / 2, 2 / 5])
    assert [at.success for at in found.at] == [0, 1, 1]
    assert found.at[0].ndcg == 0 < found.at[1].ndcg < found.at[2].ndcg < 1


def test_a_perfect_ranking():
    (at,) = measure(case_of(["a"], ["b"]), ranking("b", "a"), [2]).at
    assert at == at_k(2, 1, 1, 1, 1)


def test_nothing_retrieved_scores_zero():
    found = measure(case_of(["a"]), [], [3])
    assert (found.reciprocal_rank, found.at) == (0, (at_k(3),))


def test_a_negative_case_has_no_metrics():
    case = case_of([], ["tavern"])
    assert measure(case, ranking("a"), [1]) is None
    assert measure_abstract(case, retrieval("tavern"), graph_of(GRAPH)) is None


def test_actions():
    case = case_of(["a"], expected_actions=["p", "q"])
    assert measure_actions(case, ranking("x", "q", "p"), [1, 2, 3]) == ActionMetrics(
        1.0, ((1, 0.0), (2, 0.5), (3, 1.0))
    )
    assert measure_actions(case, [], [1]) == ActionMetrics(0.0, ((1, 0.0),))
    assert measure_actions(case, None, [1]) is None
    assert measure_actions(case_of(["a"]), ranking("p"), [1]) is None


@pytest.mark.parametrize(
    ("must", "bonus", "combined", "similarity", "expected"),
    [
        (["tavern"], [], ["tavern"], [[], ["tavern"]], (1.0, 1.0)),
        (["tavern"], [], ["rust", "tavern"], [["rust"], []], (1.0, 0.0)),
        (["rust"], ["tavern"], ["tavern"], [[], []], (1.0, 0.0)),
        (["tavern"], [], ["rust"], [[], []], (0.0, 0.0)),
        # Cut from the merged ranking, though similarity had it.
        (["tavern"], [], ["rust"], [["tavern"], []], (0.0, 1.0)),
        (["tavern"], [], ["tavern"], None, (1.0, None)),
        (["rust"], ["iron"], ["tavern"], [["tavern"], []], None),
    ],
)
def test_abstract_situations(must, bonus, combined, similarity, expected):
    answer = retrieval(*combined, similarity=similarity and [ranking(*ids) for ids in similarity])
    found = measure_abstract(case_of(must, bonus), answer, graph_of(GRAPH))
    assert found == (expected and AbstractMetrics(*expected))


def test_an_outcome_survives_the_way_through_text():
    whole = outcome(
        actions=ActionMetrics(1.0, ((1, 0.5),)), abstract=AbstractMetrics(1.0, None), weights="权重"
    )
    text = json.dumps(msgspec.to_builtins(whole))
    assert msgspec.convert(json.loads(text), Outcome) == whole


def test_an_outcome_of_a_version_that_told_less_is_read():
    told = msgspec.to_builtins(outcome())
    for name in ("similarity_threshold", "max_results", "changed_weights"):
        del told[name]
    assert msgspec.convert(told, Outcome) == outcome()


class Name(str, Enum):
    RUST = "rust"


def test_ids_are_plain_text_whatever_a_retriever_gives():
    """Reports cross processes as JSON, which knows no subclass of str."""
    found = ids_of(ranking("iron", np.str_("tavern"), Name.RUST))
    assert found == ["iron", "tavern", "rust"]
    assert {type(name) for name in found} == {str}
    assert msgspec.to_builtins(outcome(retrieved=tuple(found)))["retrieved"] == tuple(found)
