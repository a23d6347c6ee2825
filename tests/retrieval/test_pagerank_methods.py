"""Every method of personalised PageRank against a dense solve of the equation itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pytest_soulmem.retrieval import pagerank, walk
from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.pagerank import TOLERANCE, PageRank, link_weights
from pytest_soulmem.retrieval.ranking import best
from retrieval.builders import rankings

METHODS = ("dense", "swept", "pushed", "pushed, then swept")
HUB_LEAVES = 200


@contextmanager
def method(name: str) -> Iterator[None]:
    """Solve every graph by one method, whatever its size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pagerank, "_DENSE_NODES", 10**9 if name == "dense" else 0)
        patch.setattr(pagerank, "_SWEPT_NODES", 10**9 if name == "swept" else 0)
        patch.setattr(walk, "_SWEEP_SHARE", 0.3 if "then" in name else 10**9)
        yield


def exact(weights, sources, damping=0.65):
    """The equation with the dangling rule written out as rows of P."""
    weights, sources = np.array(weights, float), np.array(sources, float)
    if not sources.any():
        return sources
    moves = np.array(
        [
            row / row.sum() if row.sum() > 0 else (sources > 0) / (sources > 0).sum()
            for row in weights
        ]
    )
    start = (1 - damping) * sources / sources.sum()
    return np.linalg.solve(np.eye(len(moves)) - damping * moves.T, start)


def ranked(sources):
    """The sources as the retriever gives them."""
    return {at: float(score) for at, score in enumerate(sources) if score}


def walker(weights, damping=0.65):
    return PageRank(csr_array(np.array(weights, float)), damping)


def best_of(pagerank, sources, limit):
    return list(pagerank.best(pagerank.walks(rankings(sources)), limit))


def scores_at(pagerank, sources, positions):
    return pagerank.at(pagerank.walks(rankings(sources)), positions)


def assert_best(found, solution, limit):
    """Right scores, and nodes that the exact scores justify."""
    assert np.abs(found.scores - solution[found.positions]).max(initial=0) <= TOLERANCE + 5e-7
    assert (np.diff(found.scores) <= 0).all()
    wanted = best(solution[np.newaxis], limit, 3 * TOLERANCE).positions
    missed = np.setdiff1d(wanted, found.positions)
    if len(found.positions) < limit:
        assert len(missed) == 0
    assert solution[missed].max(initial=0) <= found.scores.min(initial=1) + 2 * TOLERANCE


@st.composite
def problems(draw):
    size = draw(st.integers(1, 12))
    # Zeros make dangling nodes; the diagonal makes self-loops.
    weight = st.one_of(st.just(0.0), st.just(0.0), st.floats(0.01, 3), st.just(1.0))
    row = st.lists(weight, min_size=size, max_size=size)
    source = st.one_of(st.just(0.0), st.floats(1e-3, 1))
    weights = draw(st.lists(row, min_size=size, max_size=size))
    queries = draw(st.lists(st.lists(source, min_size=size, max_size=size), min_size=1, max_size=3))
    return weights, queries, draw(st.sampled_from([0.0, 0.1, 0.65, 0.9]))


@pytest.mark.parametrize("name", METHODS)
@given(problem=problems(), limit=st.integers(1, 12))
@settings(deadline=None)
def test_every_method_agrees_with_a_dense_solve(name, problem, limit):
    weights, queries, damping = problem
    with method(name):
        found = best_of(walker(weights, damping), [ranked(own) for own in queries], limit)
    for own, one in zip(queries, found, strict=True):
        assert_best(one, exact(weights, own, damping), limit)


@pytest.mark.parametrize("name", METHODS)
@given(problem=problems())
@settings(deadline=None)
def test_scores_are_exact_and_sum_to_one(name, problem):
    weights, queries, damping = problem
    with method(name):
        found = walker(weights, damping).scores(np.array(queries).T)
    for own, column in zip(queries, found.T, strict=True):
        assert column == pytest.approx(exact(weights, own, damping), abs=1e-9)
        assert column.min() >= 0
        assert column.sum() == pytest.approx(1.0 if any(own) else 0.0, abs=1e-9)


@pytest.mark.parametrize("name", METHODS)
@given(problem=problems())
@settings(deadline=None)
def test_single_nodes_have_the_scores_of_a_dense_solve(name, problem):
    weights, queries, damping = problem
    positions = np.arange(len(weights))
    with method(name):
        found = scores_at(walker(weights, damping), [ranked(own) for own in queries], positions)
    for own, column in zip(queries, found.T, strict=True):
        assert column == pytest.approx(exact(weights, own, damping), abs=TOLERANCE + 5e-7)


@pytest.mark.parametrize("name", METHODS)
@given(problem=problems(), limit=st.integers(1, 5))
@settings(deadline=None)
def test_walks_that_found_the_best_give_single_scores_too(name, problem, limit):
    weights, queries, damping = problem
    positions = np.arange(len(weights))
    with method(name):
        pagerank = walker(weights, damping)
        walks = pagerank.walks(rankings([ranked(own) for own in queries]))
        pagerank.best(walks, limit)
        found = pagerank.at(walks, positions)
    for own, column in zip(queries, found.T, strict=True):
        assert column == pytest.approx(exact(weights, own, damping), abs=TOLERANCE + 5e-7)


@pytest.mark.parametrize("name", METHODS)
def test_a_chain_has_its_pinned_values(name):
    chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    with method(name):
        found = best_of(walker(chain), [ranked([0.6, 0.4, 0])], 3)[0]
        scores = walker(chain).scores(np.array([[0.6, 0.4, 0]]).T)[:, 0]
    assert found.positions.tolist() == [1, 0, 2]
    assert found.scores == pytest.approx([0.424446, 0.299664, 0.27589], abs=1e-6)
    assert scores == pytest.approx([2231 / 7445, 632 / 1489, 2054 / 7445], abs=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_a_source_with_two_dead_ends_has_its_pinned_value(name):
    with method(name):
        found = best_of(walker([[0, 1, 1], [0, 0, 0], [0, 0, 0]]), [ranked([1, 0, 0])], 3)[0]
    assert found.positions.tolist() == [0, 1, 2]
    assert found.scores[0] == pytest.approx(1 / 1.65, abs=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_a_hub_beside_a_source_hides_nothing(name):
    size = HUB_LEAVES + 3
    weights = np.zeros((size, size))
    hub, other, target = 0, 1, 2
    weights[hub, 3:] = 1
    weights[other, target] = 1
    sources = np.zeros(size)
    sources[[hub, other]] = 0.9, 0.1
    with method(name):
        found = best_of(walker(weights), [ranked(sources)], size)[0]
        top = best_of(walker(weights), [ranked(sources)], 3)[0]
    assert set(found.positions) == set(range(size))
    assert top.positions.tolist() == [hub, other, target]
    # The leaves are equal and come in their order.
    assert found.positions[3:].tolist() == list(range(3, size))


@pytest.mark.parametrize("name", METHODS)
def test_equal_scores_at_the_cut_come_in_the_graphs_order(name):
    weights = np.zeros((6, 6))
    weights[0, [2, 3, 4, 5]] = 1
    weights[4, 5] = weights[3, 1] = 1
    with method(name):
        found = best_of(walker(weights), [ranked([1, 0, 0, 0, 0, 0])], 4)[0]
    assert found.positions.tolist() == [0, 5, 2, 3]


@pytest.mark.parametrize("name", METHODS)
def test_queries_without_sources_find_nothing(name):
    with method(name):
        found = best_of(walker([[0, 1], [1, 0]]), [ranked([0, 0]), ranked([1, 0])], 2)
    assert [len(one.positions) for one in found] == [0, 2]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_a_large_graph_are_those_of_a_dense_solve(name, seed):
    rng = np.random.default_rng(seed)
    size, links = 600, 2400
    # Popular targets, so that some nodes gather much from many.
    targets = (size * rng.random(links) ** 3).astype(int)
    dense = csr_array(
        (rng.uniform(0.1, 1, links), (rng.integers(0, size, links), targets)), shape=(size, size)
    ).toarray()
    sources = np.zeros(size)
    sources[rng.choice(size, 10, replace=False)] = rng.uniform(0.1, 1, 10)
    with method(name):
        found = best_of(walker(dense), [ranked(sources)], 10)[0]
    assert_best(found, exact(dense, sources), 10)


def test_links_to_actions_weigh_nothing():
    action = {"Procedure": {"action": {"content": "go", "action_type": "Skill"}}}
    nodes = [
        {
            "id": "a",
            "tags": [],
            "mem_type": {
                "Semantic": {
                    "content": "a",
                    "aliases": [],
                    "concept_type": "Entity",
                    "description": "",
                }
            },
            "mem_links": [
                {"from": "a", "to": "p", "intensity": 1, "link_type": {"Proc": {"prob": 1}}}
            ],
        },
        {"id": "p", "tags": [], "mem_type": action, "mem_links": []},
    ]
    graph = Graph(tuple(_node(raw) for raw in nodes))
    for name in METHODS:
        with method(name):
            found = best_of(PageRank(link_weights(graph)), [ranked([1, 0])], 2)[0]
        assert found.positions.tolist() == [0]
        assert found.scores.tolist() == [1]


def _node(raw):
    import msgspec

    from pytest_soulmem.retrieval.graph import Node

    return msgspec.convert(raw, Node)
