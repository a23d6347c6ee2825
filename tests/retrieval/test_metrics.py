"""Ranking metrics against trec_eval and by hand."""

import math

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval import metrics
from retrieval.strategies import lean

IDS = [f"n{number}" for number in range(12)]
CUTOFFS = (1, 2, 5, 10, 30)
TREC = {
    "recall": metrics.recall,
    "P": metrics.precision,
    "ndcg_cut": metrics.ndcg,
    "success": metrics.success,
}

rankings = st.lists(st.sampled_from(IDS), unique=True)


@lean
@given(rankings.filter(bool), st.sets(st.sampled_from(IDS), min_size=1))
def test_agrees_with_trec_eval(retrieved, relevant):
    wanted = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in TREC} | {"recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": dict.fromkeys(relevant, 1)}, wanted)
    # Ranks as scores: trec_eval orders equal scores by id.
    run = {name: float(-rank) for rank, name in enumerate(retrieved)}
    expected = evaluator.evaluate({"q": run})["q"]
    for name, metric in TREC.items():
        for k in CUTOFFS:
            assert metric(retrieved, relevant, k) == pytest.approx(expected[f"{name}_{k}"])
    assert metrics.reciprocal_rank(retrieved, relevant) == pytest.approx(expected["recip_rank"])


@lean
@given(rankings, st.sets(st.sampled_from(IDS), min_size=1), st.integers(1, 15))
def test_bounds_and_growth(retrieved, relevant, k):
    for metric in TREC.values():
        assert 0 <= metric(retrieved, relevant, k) <= 1
    for metric in (metrics.recall, metrics.success):
        assert metric(retrieved, relevant, k) <= metric(retrieved, relevant, k + 1)
    perfect = sorted(relevant)
    assert metrics.ndcg(perfect, relevant, k) == pytest.approx(1)


def test_nothing_retrieved():
    assert [metric([], {"a"}, 3) for metric in TREC.values()] == [0, 0, 0, 0]
    assert metrics.reciprocal_rank([], {"a"}) == 0


def test_nothing_relevant_retrieved():
    assert [metric(["x", "y"], {"a"}, 3) for metric in TREC.values()] == [0, 0, 0, 0]
    assert metrics.reciprocal_rank(["x", "y"], {"a"}) == 0


def test_fewer_than_k_came_back():
    assert metrics.precision(["a"], {"a"}, 5) == 0.2
    assert metrics.recall(["a"], {"a", "b"}, 5) == 0.5
    assert metrics.success(["a"], {"a"}, 5) == 1


def test_the_ideal_holds_as_many_as_k_and_relevance_allow():
    assert metrics.ndcg(["x", "a"], {"a"}, 5) == pytest.approx(1 / math.log2(3))
    assert metrics.ndcg(["a"], {"a", "b", "c"}, 1) == 1
    two = 1 + 1 / math.log2(3)
    assert metrics.ndcg(["a", "x", "b"], {"a", "b"}, 3) == pytest.approx((1 + 0.5) / two)


def test_only_the_first_k_count():
    retrieved = ["x", "y", "a"]
    assert metrics.success(retrieved, {"a"}, 2) == 0
    assert metrics.success(retrieved, {"a"}, 3) == 1
    assert metrics.reciprocal_rank(retrieved, {"a"}) == pytest.approx(1 / 3)
