"""Inferring actions from retrieved situations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval.actions import (
    accumulate,
    infer,
    situation_factors,
    softmax,
    trigger_probabilities,
)
from retrieval import oracle, strategies
from retrieval.builders import (
    abstract,
    graph_of,
    link,
    proc,
    procedure,
    rankings,
    semantic,
    specific,
)


def inferred(nodes, scores):
    """Every action's score, from the scores of retrieved memories by id."""
    graph = graph_of(nodes)
    names = list(graph.index)
    found = infer(
        rankings([{graph.index[name]: score for name, score in scores.items()}]),
        situation_factors(graph),
        trigger_probabilities(graph),
        limit=len(nodes),
    )
    return {names[at]: score for at, score in zip(found.positions, found.scores, strict=True)}


def accumulated(nodes, weights):
    """Every action's score from given weights of the first nodes."""
    probabilities = trigger_probabilities(graph_of(nodes))
    sources = rankings([dict.fromkeys(range(len(weights)), 1.0)])
    found = accumulate(sources, np.array(weights), probabilities)
    return dict(zip([nodes[at]["id"] for at in found.positions], found.scores, strict=True))


def test_pinned_one_source():
    source = specific("s", links=[proc("s", "a", 0.7), proc("s", "b", 0.3)])
    found = accumulated([source, procedure("a"), procedure("b")], [1.0])
    assert found == pytest.approx({"a": 0.7, "b": 0.3})


def test_pinned_two_sources_of_one_action():
    sources = [
        specific("s", links=[proc("s", "a", 0.6)]),
        abstract("t", links=[proc("t", "a", 0.4)]),
    ]
    found = accumulated([*sources, procedure("a")], [0.8, 0.5])
    assert found == pytest.approx({"a": 0.68})


@strategies.lean
@given(strategies.graphs(), st.data())
def test_agrees_with_the_plain_loops(nodes, data):
    score = st.floats(0, 1) | st.just(0.0)
    scores = {node["id"]: data.draw(score) for node in nodes}
    order = {node["id"]: position for position, node in enumerate(nodes)}
    expected = oracle.actions(nodes, scores, order, count=len(nodes))
    assert inferred(nodes, scores) == pytest.approx(expected, abs=1e-6)


def test_weights_are_a_softmax_in_which_abstract_situations_count_twice():
    nodes = [
        specific("s", links=[proc("s", "a", 1)]),
        abstract("t", links=[proc("t", "b", 1)]),
        procedure("a"),
        procedure("b"),
    ]
    found = inferred(nodes, {"s": 0.4, "t": 0.3})
    total = math.exp(0.4) + math.exp(0.6)
    assert found == pytest.approx({"a": math.exp(0.4) / total, "b": math.exp(0.6) / total})


def test_only_situations_above_zero_are_sources():
    links = {name: [proc(name, "a", 0.5)] for name in ("concept", "cold", "warm")}
    nodes = [
        semantic("concept", links=links["concept"]),
        specific("cold", links=links["cold"]),
        specific("warm", links=links["warm"]),
        procedure("a"),
    ]
    assert inferred(nodes, {"concept": 0.9, "warm": 0.1}) == pytest.approx({"a": 0.5})
    assert inferred(nodes, {"concept": 0.9}) == {}
    assert inferred(nodes, {}) == {}


def test_a_situation_without_actions_takes_its_share():
    nodes = [specific("s", links=[proc("s", "a", 1)]), specific("t"), procedure("a")]
    assert inferred(nodes, {"s": 0.5, "t": 0.5}) == pytest.approx({"a": 0.5})


def test_only_links_that_trigger_a_procedure_count():
    other = {"Sem": {"verb": "", "confidence": 1}}
    links = [link("s", "a", other), proc("s", "t", 1), proc("s", "a", 0.2), proc("s", "a", 0.3)]
    nodes = [specific("s", links=links), specific("t"), procedure("a")]
    assert inferred(nodes, {"s": 1}) == pytest.approx({"a": 0.5})


def test_softmax_of_large_scores():
    assert softmax(np.array([1000.0, 1000.0]), np.zeros(2, int), 1).tolist() == [0.5, 0.5]


@strategies.lean
@given(st.lists(st.lists(st.floats(-5, 5), max_size=4), min_size=1, max_size=4))
def test_softmax_of_several_owners_is_that_of_each_alone(scores):
    owners = np.repeat(np.arange(len(scores)), [len(own) for own in scores])
    found = softmax(np.array([score for own in scores for score in own]), owners, len(scores))
    for owner, own in enumerate(scores):
        shares = [math.exp(score) for score in own]
        assert found[owners == owner] == pytest.approx([one / sum(shares) for one in shares])


@strategies.lean
@given(strategies.graphs(), st.data())
def test_rankings_are_inferred_from_one_by_one(nodes, data):
    graph = graph_of(nodes)
    scores = st.dictionaries(st.integers(0, len(nodes) - 1), st.floats(0, 1), max_size=4)
    several = data.draw(st.lists(scores, min_size=1, max_size=4))
    limit = data.draw(st.integers(1, 3))
    known = situation_factors(graph), trigger_probabilities(graph), limit
    found = infer(rankings(several), *known)
    for own, one in zip(several, found, strict=True):
        (alone,) = infer(rankings([own]), *known)
        assert one.positions.tolist() == alone.positions.tolist()
        assert one.scores == pytest.approx(alone.scores)
