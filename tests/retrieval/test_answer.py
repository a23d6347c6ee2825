"""Answers of a user's retriever that cannot be judged."""

from decimal import Decimal

import numpy as np
import pytest

from pytest_soulmem.retrieval.answer import answer_faults
from pytest_soulmem.retrieval.retriever import Retrieval, Scored, ranked
from retrieval.builders import GRAPH, graph_of, query_of, ranking, retrieval, tag_query

GRAPH_READ = graph_of(GRAPH)
QUERY = query_of([tag_query("x"), tag_query("y")], max_results=2)


def faults(answer):
    return answer_faults(answer, QUERY, GRAPH_READ)


@pytest.mark.parametrize(
    "answer",
    [
        retrieval(),
        retrieval("rust", "iron"),
        retrieval("rust", per_query=[ranking("rust"), []], similarity=[[], ranking("iron")]),
        retrieval("rust", actions=ranking("speak")),
        Retrieval(combined=tuple(ranking("rust")), per_query=((), ())),
        Retrieval(combined=ranked(["iron", "rust"])),
        Retrieval(combined=[Scored("rust", 0.1, 0.9), Scored("iron", 0.8, 0.9)]),
        Retrieval(combined=[Scored("rust", np.float32(0.5)), Scored("iron", 0)]),
        Retrieval(combined=[Scored("rust", -1.0)]),
    ],
)
def test_answers_that_can_be_judged(answer):
    assert faults(answer) == []


@pytest.mark.parametrize("answer", [None, ["rust"], {"combined": []}, 5])
def test_no_retrieval_at_all(answer):
    name = type(answer).__name__
    assert faults(answer) == [f"retrieve() returned {name}, not a pytest_soulmem Retrieval"]


@pytest.mark.parametrize("value", [5, "rust", {"rust": 1}, iter([]), np.zeros(1)])
@pytest.mark.parametrize("name", ["combined", "actions"])
def test_a_ranking_that_is_no_list(name, value):
    answer = Retrieval(**{"combined": [], name: value})
    assert faults(answer) == [f"{name} is {type(value).__name__}, not a list of Scored"]


def test_no_combined_ranking():
    assert faults(Retrieval(combined=None)) == ["combined is NoneType, not a list of Scored"]


@pytest.mark.parametrize(
    "value", [5, "ab", [], [[]], [[], [], []], {0: [], 1: []}, np.zeros((2, 0))]
)
@pytest.mark.parametrize("name", ["per_query", "similarity"])
def test_rankings_that_are_not_one_per_sub_query(name, value):
    assert faults(retrieval(**{name: value})) == [f"{name} must have one ranking per sub-query (2)"]


@pytest.mark.parametrize("name", ["per_query", "similarity"])
def test_faults_of_one_of_several_rankings(name):
    answer = retrieval(**{name: [ranking("rust"), ["iron"]]})
    assert faults(answer) == [f"{name}[1], rank 1: str, not Scored"]
    assert faults(retrieval(**{name: [None, []]})) == [
        f"{name}[0] is NoneType, not a list of Scored"
    ]


def test_too_many_results():
    assert faults(retrieval("rust", "iron", "tavern")) == [
        "combined has 3 results; at most 2 were asked for"
    ]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["rust"], "str, not Scored"),
        ([("rust", 1.0)], "tuple, not Scored"),
        ([None], "NoneType, not Scored"),
        ([Scored("rast", 1.0)], 'no node has the id "rast"; did you mean "rust"?'),
        ([Scored("zzzzz", 1.0)], 'no node has the id "zzzzz"'),
        ([Scored(7, 1.0)], "the id is int, not text"),
        ([Scored(None, 1.0)], "the id is NoneType, not text"),
        ([Scored(["rust"], 1.0)], "the id is list, not text"),
        ([Scored("rust", float("nan"))], 'the score of "rust" is not a finite number'),
        ([Scored("rust", float("inf"))], 'the score of "rust" is not a finite number'),
        ([Scored("rust", None)], 'the score of "rust" is not a finite number'),
        ([Scored("rust", "0.5")], 'the score of "rust" is not a finite number'),
        ([Scored("rust", 1j)], 'the score of "rust" is not a finite number'),
        ([Scored("rust", 10**400)], 'the score of "rust" is not a finite number'),
        ([Scored("rust", np.ones(2))], 'the score of "rust" is not a finite number'),
        ([Scored("rust", 1.0, float("nan"))], 'the score of "rust" is not a finite number'),
        ([Scored("rust", 1.0, "1")], 'the score of "rust" is not a finite number'),
        ([Scored("rust", float("nan"), 1.0)], 'the score of "rust" is not a finite number'),
    ],
)
def test_items_that_cannot_be_judged(items, message):
    (fault,) = faults(Retrieval(combined=items))
    assert fault.startswith(f"combined, rank 1: {message}")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (Scored("rust", 1.0), Scored("rust", 0.5), '"rust" came back twice'),
        (Scored("rust", 0.5), Scored("iron", 0.6), '"iron" has a higher key than the result'),
        (Scored("rust", 0.5, 0.7), Scored("iron", 0.8), '"iron" has a higher key than the result'),
        (Scored("rust", 0.9, 0.1), Scored("iron", 0.1, 0.2), '"iron" has a higher key'),
    ],
)
def test_results_that_do_not_follow_each_other(first, second, message):
    (fault,) = faults(Retrieval(combined=[first, second]))
    assert fault.startswith(f"combined, rank 2: {message}")


def test_scores_of_other_number_types_are_compared():
    descending = [Scored("rust", Decimal("0.5")), Scored("iron", np.float64(0.25))]
    assert faults(Retrieval(combined=descending)) == []
    assert len(faults(Retrieval(combined=descending[::-1]))) == 1


def test_actions_are_procedures():
    assert faults(retrieval(actions=ranking("rust"))) == ['actions: "rust" is no Procedure node']
    assert faults(retrieval(actions=ranking("speek"))) == [
        'actions, rank 1: no node has the id "speek"; did you mean "speak"?'
    ]
    assert faults(retrieval(actions=["speak"])) == ["actions, rank 1: str, not Scored"]
    assert len(faults(retrieval(actions=[Scored(["x"], 1.0)]))) == 1


def test_every_fault_is_listed():
    answer = Retrieval(
        combined=[Scored("a", 1.0), "b", Scored("rust", None)],
        per_query=[],
        similarity=[5, []],
        actions=ranking("iron"),
    )
    assert len(faults(answer)) == 7
