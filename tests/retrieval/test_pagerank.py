"""Personalised PageRank against dense linear solves, on both of its paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pytest_soulmem.retrieval import pagerank
from pytest_soulmem.retrieval.pagerank import (
    ERROR_BOUND,
    PageRank,
    link_weight,
    link_weights,
)
from retrieval import oracle, strategies
from retrieval.builders import abstract, graph_of, link, proc, procedure, sem, semantic, situation

DAMPINGS = [0.0, 0.3, 0.65, 0.99]


def walk(weights, sources, damping=0.65, *, dense):
    """Scores by the path that is asked for; ``sources`` are one column or several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pagerank, "_DENSE_NODES", len(weights) if dense else 0)
        columns = np.array(sources, float).reshape(len(weights), -1)
        scores = PageRank(csr_array(np.array(weights, float)), damping).scores(columns)
    return scores.reshape(np.shape(sources))


@pytest.fixture(params=[True, False], ids=["dense", "iterated"])
def dense(request):
    return request.param


@st.composite
def walks(draw):
    """Link weights with dangling nodes and self-loops, and several columns of sources."""
    size = draw(st.integers(1, 7))
    weight = st.just(0.0) | st.floats(0.01, 1)
    weights = draw(
        st.lists(st.lists(weight, min_size=size, max_size=size), min_size=size, max_size=size)
    )
    width = draw(st.integers(1, 3))
    source = st.just(0.0) | st.floats(1e-6, 3)
    rows = st.lists(source, min_size=width, max_size=width)
    return np.array(weights), np.array(draw(st.lists(rows, min_size=size, max_size=size)))


@strategies.lean
@given(walks(), st.sampled_from(DAMPINGS), st.booleans())
def test_agrees_with_a_linear_solve(walk_of, damping, dense):
    weights, sources = walk_of
    found = walk(weights, sources, damping, dense=dense)
    for column in range(sources.shape[1]):
        exact = oracle.pagerank(weights, sources[:, column], damping)
        # The bound that the module states is an L1 error.
        assert np.abs(found[:, column] - exact).sum() <= ERROR_BOUND + 1e-12


@strategies.lean
@given(walks(), st.sampled_from(DAMPINGS), st.booleans())
def test_mass_is_one_or_nothing(walk_of, damping, dense):
    weights, sources = walk_of
    found = walk(weights, sources, damping, dense=dense)
    assert (found >= -1e-12).all()
    expected = (sources > 0).any(axis=0).astype(float)
    assert found.sum(axis=0) == pytest.approx(expected, abs=1e-9)
    assert (found[:, expected == 0] == 0).all()


@strategies.lean
@given(walks(), st.sampled_from(DAMPINGS), st.booleans())
def test_columns_of_a_batch_are_independent(walk_of, damping, dense):
    weights, sources = walk_of
    found = walk(weights, sources, damping, dense=dense)
    for column in range(sources.shape[1]):
        alone = walk(weights, sources[:, column], damping, dense=dense)
        assert np.abs(found[:, column] - alone).sum() <= 2 * ERROR_BOUND


@strategies.lean
@given(walks(), st.sampled_from([1e-3, 7.0, 1e6]), st.booleans())
def test_only_proportions_of_sources_and_of_link_weights_matter(walk_of, factor, dense):
    weights, sources = walk_of
    found = walk(weights, sources, dense=dense)
    scaled = walk(factor * weights, factor * sources, dense=dense)
    assert scaled == pytest.approx(found, abs=1e-9)


@strategies.lean
@given(strategies.graphs(), st.data())
def test_links_of_a_graph_become_the_weights_of_the_oracle(nodes, data):
    weights = oracle.matrix(nodes)
    assert link_weights(graph_of(nodes)).toarray() == pytest.approx(weights, abs=1e-12)
    share = st.integers(0, 10**6).map(lambda millionths: millionths / 10**6)
    sources = data.draw(st.lists(share, min_size=len(nodes), max_size=len(nodes)))
    found = PageRank(link_weights(graph_of(nodes))).scores(np.array([sources]).T)[:, 0]
    assert found == pytest.approx(oracle.pagerank(weights, sources), abs=1e-9)


def test_the_size_of_the_graph_chooses_the_path(monkeypatch):
    def refuse(*_):
        raise AssertionError("the wrong path")

    monkeypatch.setattr(PageRank, "_solve", refuse)
    size = pagerank._DENSE_NODES + 1
    ring = csr_array((np.ones(size), (np.arange(size), np.roll(np.arange(size), -1))))
    sources = np.zeros((size, 1))
    sources[0] = 1
    assert PageRank(ring).scores(sources).sum() == pytest.approx(1)
    monkeypatch.undo()
    monkeypatch.setattr(PageRank, "_iterate", refuse)
    assert PageRank(csr_array((1, 1))).scores(np.ones((1, 1))) == pytest.approx(1)


# --- pinned -------------------------------------------------------------------------------------


def test_a_chain(dense):
    found = walk([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [0.6, 0.4, 0], dense=dense)
    assert found == pytest.approx([2231 / 7445, 632 / 1489, 2054 / 7445], abs=1e-9)
    assert found == pytest.approx([0.299664204, 0.424445937, 0.275889859], abs=1e-9)


def test_dangling_targets_give_back_to_the_source(dense):
    found = walk([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [1, 0, 0], dense=dense)
    assert found[0] == pytest.approx(1 / 1.65, abs=1e-9)


def test_dangling_mass_returns_in_equal_shares(dense):
    # Node 2 keeps nothing: what it receives goes back to 0 and 1 alike, whatever their scores.
    found = walk([[0, 0, 1], [0, 0, 1], [0, 0, 0]], [0.9, 0.1, 0], dense=dense)
    assert found[0] - found[1] == pytest.approx(0.35 * 0.8, abs=1e-9)


def test_a_hub_leaves_room_for_others(dense):
    """S has 200 leaves, T one link to U: a method that stops early would lose U."""
    size = 203
    weights = np.zeros((size, size))
    weights[0, 3:] = 1
    weights[1, 2] = 1
    sources = np.zeros(size)
    sources[:2] = 1
    found = walk(weights, sources, dense=dense)
    assert found == pytest.approx(oracle.pagerank(weights, sources), abs=1e-9)
    assert found[2] > 0.1


def test_a_node_with_links_to_procedures_only_is_dangling():
    nodes = [
        semantic("a", links=[proc("a", "act", 1), sem("a", "act"), situation("a", "act")]),
        procedure("act"),
    ]
    weights = link_weights(graph_of(nodes))
    assert weights.toarray().tolist() == [[0, 0], [0, 0]]
    assert PageRank(weights).scores(np.array([[1.0], [0.0]])).ravel() == pytest.approx([1, 0])


def test_pinned_link_weights():
    (node,) = graph_of([semantic("a", links=[sem("a", "a", 1, 0.8), situation("a", "a", 1)])]).nodes
    both = [link_weight(item, semantic=0.7, situation=0.3) for item in node.mem_links]
    assert both == pytest.approx([0.936, 0.923809524], abs=1e-9)


@pytest.mark.parametrize(
    ("link_type", "expected"),
    [
        ({"Sem": {"verb": "", "confidence": 0.5}}, (0.25 + 0.4 + 0.3) / 2.1),
        ({"Situation": {"SpecificToAbstract": {}}}, (0.25 + 0.64 + 0.7) / 2.5),
        ({"Situation": {}}, (0.25 + 0.64 + 0.7) / 2.5),
        ({"Proc": {"prob": 1}}, 0.25 / 1.8),
    ],
)
def test_link_weights_by_default(link_type, expected):
    links = [link("a", "b", link_type, 0.25)]
    weights = link_weights(graph_of([semantic("a", links=links), abstract("b")]))
    assert weights[0, 1] == pytest.approx(expected, abs=1e-12)


def test_parallel_links_add_up():
    links = [sem("a", "b"), sem("a", "b"), situation("a", "b")]
    weights = link_weights(graph_of([semantic("a", links=links), abstract("b")]))
    assert weights[0, 1] == pytest.approx(2 * (1 + 0.64 + 0.3) / 2.1 + (1 + 0.64 + 0.7) / 2.5)


def test_links_too_faint_to_invert_still_lead_somewhere(dense):
    # 1 / 1e-310 is infinite.
    found = walk([[0, 1e-310], [1, 0]], [1, 0], dense=dense)
    assert found == pytest.approx([1 / 1.65, 0.65 / 1.65], abs=1e-9)
