"""What the public strategies make, the readers accept."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_soulmem import strategies
from pytest_soulmem.forgetting.curve import missing_degree
from pytest_soulmem.forgetting.fixture import has_word
from pytest_soulmem.retrieval.graph import read_graph
from pytest_soulmem.retrieval.query import BrokenCase, load_query_file
from pytest_soulmem.retrieval.weights import NAMES, BlendSweep, expand

quick = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@quick
@given(strategies.texts())
def test_texts_have_a_word(text):
    assert has_word(text)
    text.encode()


@quick
@given(strategies.curve_settings(), strategies.curves())
def test_curves_ascend_and_fit_the_curve(config, curve):
    moments = [hours for hours, _ in curve]
    assert moments == sorted(moments)
    degrees = missing_degree(moments, [count for _, count in curve], config)
    assert ((degrees >= 0) & (degrees <= 1)).all()


@quick
@given(graph=strategies.memory_graphs())
def test_graphs_are_read(tmp_path, graph):
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph), encoding="utf-8")
    assert [node.id for node in read_graph(path).nodes] == [node["id"] for node in graph]


@quick
@given(data=st.data(), graph=strategies.memory_graphs(max_nodes=4))
def test_query_files_are_read(tmp_path, data, graph):
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph), encoding="utf-8")
    document = data.draw(strategies.query_files(graph, "graph.json"))
    raw = json.loads(json.dumps(document))
    file = load_query_file(tmp_path / "query.json", raw, read_graph)
    assert [case for case in file.cases if isinstance(case, BrokenCase)] == []


@quick
@given(strategies.blend_sweeps())
def test_sweeps_give_distinct_weight_sets(sweep):
    sets, faults = expand(BlendSweep(**sweep), "$.blend_sweep")
    assert faults == []
    assert len(sets) == len(sweep.get("pairs") or sweep["tag_sweep"])


def test_every_weight_that_blends_channels_may_be_swept():
    # Association is swept in a mode of its own only.
    assert set(strategies._WEIGHTS) == set(NAMES) - {"tag", "variant", "damping", "association"}


@pytest.mark.parametrize("name", strategies.__all__)
def test_every_strategy_says_what_it_makes(name):
    assert getattr(strategies, name).__doc__
