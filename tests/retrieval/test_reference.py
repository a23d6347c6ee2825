"""The built-in retriever: modes, merging, and the oracle's pipeline."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_soulmem.retrieval import reference
from pytest_soulmem.retrieval.details import combined_ids, comparisons, own_ids
from pytest_soulmem.retrieval.ranking import rounded
from pytest_soulmem.retrieval.reference import ReferenceRetriever
from pytest_soulmem.retrieval.retriever import Explainer
from pytest_soulmem.retrieval.similarity import Similarity
from pytest_soulmem.retrieval.weights import Weights
from retrieval import oracle, strategies
from retrieval.builders import (
    abstract,
    blended,
    case_of,
    concept_query,
    embed,
    exact_embed,
    graph_of,
    proc,
    procedure,
    query_of,
    sem,
    semantic,
    specific,
    tag_query,
)

MODES = ["embedding", "association", "full"]
limits = st.sampled_from([1, 2, 4, 10**9])
thresholds = st.sampled_from([-9.0, -0.2, 0.0, 0.25, 9.0])


def triples(found):
    return [(scored.id, scored.score, scored.key) for scored in found]


def pairs(found):
    return {scored.id: scored.score for scored in found}


def ordered(found):
    """Ids and scores as a list, so that the order is compared too."""
    return list(found.items())


@strategies.lean
@given(strategies.graphs(), strategies.requests, st.sampled_from(MODES), thresholds, limits)
@example([semantic("a")], [tag_query("x", priority=0)] * 2, "full", -9.0, 1)
def test_agrees_with_the_pipeline_in_plain_loops(nodes, raw, mode, threshold, limit):
    graph = graph_of(nodes)
    query = query_of(raw, mode=mode, threshold=threshold, max_results=limit)
    found = ReferenceRetriever(graph, embed).retrieve(query)
    pipeline = oracle.Pipeline(nodes, threshold, limit)
    answers = [
        pipeline.ask(
            dict(zip(graph.index, rounded(blended(scores, Weights())).tolist(), strict=True)), mode
        )
        for scores in Similarity(graph, embed).scores(query.sub_queries)
    ]
    priorities = [sub["priority"] for sub in raw]
    assert [ordered(pairs(own)) for own in found.per_query] == [
        ordered(own) for own, _, _ in answers
    ]
    combined = pipeline.merge([merged for _, merged, _ in answers], priorities)
    assert triples(found.combined) == combined
    if mode != "full":
        assert found.actions is None
        assert [pairs(own) for own in found.similarity] == [own for own, _, _ in answers]
        return
    actions = pipeline.merge([own for _, _, own in answers], priorities)
    assert triples(found.actions) == [
        (name, pytest.approx(score, abs=1.1e-6), pytest.approx(key, abs=1.1e-6))
        for name, score, key in actions
    ]


@strategies.lean
@given(strategies.graphs(), strategies.requests, st.lists(strategies.weights, max_size=2))
def test_a_sweep_equals_asking_each_weight_set_afresh(nodes, raw, sets):
    graph = graph_of(nodes)
    swept = ReferenceRetriever(graph, embed)
    for weights in [*sets, {}, *sets]:
        query = query_of(raw, mode="full", **weights)
        assert swept.retrieve(query) == ReferenceRetriever(graph, embed).retrieve(query)


@strategies.lean
@given(strategies.graphs(), strategies.requests, st.sampled_from(MODES))
def test_explaining_changes_no_answer(nodes, raw, mode):
    retriever = ReferenceRetriever(graph_of(nodes), embed)
    query = query_of(raw, mode=mode)
    ids = [node["id"] for node in nodes]
    found = retriever.retrieve(query)
    explained = retriever.explain(query, ids)
    assert retriever.retrieve(query) == found
    assert retriever.explain(query, ids) == explained


@strategies.lean
@given(st.data(), strategies.graphs(), strategies.requests, st.sampled_from(MODES))
def test_what_is_shown_is_what_the_whole_explanation_says(data, nodes, raw, mode):
    """The ids of the combined ranking from the sub-query that found them best, ties too."""
    query = query_of(raw, mode=mode)
    ids = [node["id"] for node in nodes]
    some = st.lists(st.sampled_from(ids), unique=True)
    expected, own = data.draw(some), data.draw(some)
    case = case_of(
        expected, ids, expected_per_query=[{"q": len(raw) - 1, "ranking": own}] if own else []
    )
    retriever = ReferenceRetriever(graph_of(nodes), embed)
    answer = retriever.retrieve(query)
    shown = retriever.explain_shown(query, combined_ids(case, answer), own_ids(case, answer))
    whole = retriever.explain(query, ids)
    assert comparisons(case, answer, shown) == comparisons(case, answer, whole)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("at_once", [1, 25, 10**9])
def test_size_of_blocks_changes_nothing(mode, at_once, monkeypatch):
    nodes = [
        semantic(f"n{position}", text, links=[sem(f"n{position}", "n0")])
        for position, text in enumerate(strategies.TEXTS)
    ]
    queries = [
        query_of([concept_query(left), concept_query(right, priority=3)], mode=mode, threshold=0.1)
        for left in strategies.TEXTS
        for right in ("森林", "铁锈")
    ]
    single = [ReferenceRetriever(graph_of(nodes), exact_embed).retrieve(query) for query in queries]
    monkeypatch.setattr(reference, "_SCORES_AT_ONCE", at_once)
    monkeypatch.setattr(reference, "_SUB_QUERIES_AT_ONCE", 1)
    blocked = ReferenceRetriever(graph_of(nodes), exact_embed)
    blocked.expect(sub for query in queries for sub in query.sub_queries)
    assert [blocked.retrieve(query) for query in queries] == single
    assert [blocked.retrieve(query) for query in reversed(queries)] == single[::-1]


def test_announced_sub_queries_are_scored_together(monkeypatch):
    blocks = []
    scores = Similarity.scores
    monkeypatch.setattr(
        Similarity, "scores", lambda self, subs: blocks.append(len(subs)) or scores(self, subs)
    )
    queries = [query_of([concept_query(text)]) for text in strategies.TEXTS]
    retriever = ReferenceRetriever(graph_of([semantic("a"), semantic("b")]), embed)
    retriever.expect(sub for query in queries for sub in query.sub_queries)
    for query in queries:
        retriever.retrieve(query)
    assert blocks == [len(queries)]


# --- by hand ------------------------------------------------------------------------------------


def scripted(_, texts):
    """A memory's description lists its similarities to the sub-queries "0", "1" and "2"."""
    vectors = np.zeros((len(texts), 4))
    for vector, text in zip(vectors, texts, strict=True):
        if "," in text:
            vector[:3] = [float(part) for part in text.split(",")]
            vector[3] = np.sqrt(1 - (vector[:3] ** 2).sum())
        elif text.isdigit():
            vector[int(text)] = 1
    return vectors.astype(np.float32)


def memory(name, *similarities, links=(), kind=semantic):
    similarities = [*similarities, 0.0, 0.0, 0.0][:3]
    text = ",".join(map(str, similarities))
    if kind is semantic:
        return semantic(name, "", description=text, links=links)
    return kind(name, text, links=links)


def ask(nodes, *sub_queries, **settings):
    retriever = ReferenceRetriever(graph_of(nodes), scripted)
    return retriever.retrieve(query_of(list(sub_queries), **settings))


def nth(number, priority=1):
    return concept_query(None, str(number), priority=priority)


def test_similarity_results_are_cut_and_ordered():
    nodes = [memory("a", 0.25), memory("b", 0.5), memory("c", 0.5), memory("d", 0.75)]
    found = ask(nodes, nth(0), threshold=0.5, max_results=2)
    assert ordered(pairs(found.combined)) == [("d", 0.75), ("b", 0.5)]
    assert [scored.id for scored in ask(nodes, nth(0), threshold=0.5).combined] == ["d", "b", "c"]
    assert len(ask(nodes, nth(0), max_results=10**9).combined) == 4


@pytest.mark.parametrize("mode", MODES)
def test_a_threshold_that_excludes_everything(mode):
    links = [sem("a", "b")]
    found = ask([memory("a", 0.5, links=links), memory("b")], nth(0), mode=mode, threshold=0.9)
    assert found.combined == []
    assert found.per_query == [[]]
    assert found.similarity == [[]]
    assert found.actions == ([] if mode == "full" else None)


CHAIN = [
    memory("a", 0.6, links=[sem("a", "b")]),
    memory("b", 0.4, links=[sem("b", "c")]),
    memory("c"),
    memory("far"),
]


def test_association_blends_half_and_half():
    found = ask(CHAIN, nth(0), mode="association", threshold=0.1)
    # x is pinned: 0.299664, 0.424446, 0.275890.
    assert pairs(found.combined) == {"a": 0.449832, "b": 0.412223, "c": 0.137945}
    assert ordered(pairs(found.per_query[0])) == [("a", 0.6), ("b", 0.4)]
    cut = ask(CHAIN, nth(0), mode="association", threshold=0.1, max_results=1)
    # The similarity result is a alone, so a is the one source: x = 0.35 / (1 - 0.65 ** 3).
    assert pairs(cut.combined) == {"a": 0.541254}


def test_association_and_damping_are_weights():
    found = ask(CHAIN, nth(0), mode="association", threshold=0.1, association=0.25, damping=0.0)
    # Without damping nobody walks: x is the sources' shares, 0.6 and 0.4.
    assert pairs(found.combined) == {"a": 0.6, "b": 0.4}
    found = ask(CHAIN, nth(0), mode="association", threshold=0.1, association=1.0)
    assert pairs(found.combined) == {"a": 0.299664, "b": 0.424446, "c": 0.27589}
    found = ask(CHAIN, nth(0), mode="full", threshold=0.1, damping=0.0)
    assert pairs(found.combined) == {"a": 0.6, "b": 0.4}


def test_full_takes_the_higher_of_similarity_and_association():
    found = ask(CHAIN, nth(0), mode="full", threshold=0.1)
    assert ordered(pairs(found.combined)) == [("a", 0.6), ("b", 0.424446), ("c", 0.27589)]
    assert found.per_query == [
        [reference.Scored(scored.id, scored.score) for scored in found.combined]
    ]
    assert ordered(pairs(found.similarity[0])) == [("a", 0.6), ("b", 0.4)]
    cut = ask(CHAIN, nth(0), mode="full", threshold=0.1, max_results=2)
    assert [scored.id for scored in cut.combined] == ["a", "b"]


def test_eight_memories_are_associated():
    leaves = [f"leaf{number}" for number in range(12)]
    hub = memory("hub", 0.5, links=[sem("hub", leaf) for leaf in leaves])
    found = ask([hub, *map(memory, leaves)], nth(0), mode="full", threshold=0.1, max_results=99)
    assert [scored.id for scored in found.combined] == ["hub", *leaves[:7]]


def test_negative_similarities_are_no_sources():
    nodes = [memory("a", 0.5), memory("cold", -0.5, links=[sem("cold", "b")]), memory("b")]
    found = ask(nodes, nth(0), mode="full")
    assert pairs(found.combined) == {"a": 1.0, "cold": -0.5, "b": 0.0}


def test_scores_that_are_not_finite_are_left_out():
    nodes = [memory("a", 0.5), semantic("b", "", description="1,0,0", tags=["0"])]
    sub = concept_query(None, "0", tag=["0"])
    with np.errstate(over="ignore"):
        found = ask(nodes, sub, tag=1.5e308, variant=1.5e308)
    assert pairs(found.combined) == {"a": 0.5}


# --- merging ------------------------------------------------------------------------------------


def test_priority_lifts_by_its_share_of_the_largest():
    nodes = [memory("a", 0.5, 0), memory("b", 0, 0.49), memory("c", 0.54, 0)]
    found = ask(nodes, nth(0, priority=1), nth(1, priority=4), threshold=0.1)
    assert triples(found.combined) == [
        ("c", 0.54, 0.5525),
        ("b", 0.49, 0.54),
        ("a", 0.5, 0.5125),
    ]


def test_no_priority_at_all_lifts_nothing():
    nodes = [memory("a", 0.5, 0.25)]
    found = ask(nodes, nth(0, priority=0), nth(1, priority=0), threshold=0.1)
    assert triples(found.combined) == [("a", 0.5, 0.5)]


def test_the_largest_key_of_an_id_stays_and_equal_keys_are_the_earlier_ones():
    nodes = [memory("a", 0.45, 0.5), memory("b", 0.5, 0.46), memory("c", 0.46, 0.5)]
    # Lifts of 0.05 and 0: a's keys are both 0.5, the earlier sub-query's score is reported.
    found = ask(nodes, nth(0, priority=1), nth(1, priority=0), threshold=0.1)
    assert triples(found.combined) == [("b", 0.5, 0.55), ("c", 0.46, 0.51), ("a", 0.45, 0.5)]
    swapped = ask(nodes, nth(1, priority=0), nth(0, priority=1), threshold=0.1)
    assert triples(swapped.combined)[2] == ("a", 0.5, 0.5)


def test_equal_keys_are_ordered_by_the_file():
    nodes = [
        memory(name, 0.5 if name in "ace" else 0, 0 if name in "ace" else 0.5) for name in "abcde"
    ]
    found = ask(nodes, nth(0), nth(1), threshold=0.1)
    assert [scored.id for scored in found.combined] == list("abcde")
    found = ask(nodes, nth(0), nth(1), threshold=0.1, max_results=2)
    assert [scored.id for scored in found.combined] == ["a", "b"]


# --- actions ------------------------------------------------------------------------------------


ACTS = [procedure(name, "") for name in ("p", "q", "r", "s", "t")]


def acting(name, *similarities, **probs):
    links = [proc(name, action, prob) for action, prob in probs.items()]
    node = specific(
        name, "", {"environment": {"atmosphere": ",".join(map(str, similarities)), "tone": ""}}
    )
    return node | {"mem_links": links}


def mood(number, priority=1):
    unit = {"environment": {"atmosphere": str(number)}}
    return {"priority": priority, "tag": [], "variant": {"Situation": [unit]}}


def test_three_actions_per_sub_query_then_merged():
    nodes = [
        acting("one", 0.9, 0, 0, p=0.4, q=0.3, r=0.2, s=0.1),
        acting("two", 0, 0.9, 0, s=0.35, t=0.15),
        *ACTS,
    ]
    found = ask(nodes, mood(0, priority=2), mood(1, priority=1), mode="full", threshold=0.1)
    assert triples(found.actions) == [
        ("p", 0.4, 0.45),
        ("s", 0.35, 0.375),
        ("q", 0.3, 0.35),
        ("r", 0.2, 0.25),
        ("t", 0.15, 0.175),
    ]
    cut = ask(nodes, mood(0), mood(1), mode="full", threshold=0.1, max_results=2)
    assert [scored.id for scored in cut.actions] == ["p", "s"]


def test_associated_situations_suggest_actions_too():
    near = acting("near", 0, p=0.8)
    nodes = [memory("start", 0.5, links=[sem("start", "near")]), near, *ACTS]
    found = ask(nodes, nth(0), mode="full", threshold=0.1)
    assert pairs(found.actions) == {"p": 0.8}


def test_situations_count_with_the_higher_of_both_scores():
    """A lone source has x = 1, an abstract one counts twice: weights of e and e squared."""
    nodes = [
        acting("one", 0.5, 0, 0, p=1),
        abstract(
            "two", "Environment", {"atmosphere": "0.5,0,0", "tone": ""}, links=[proc("two", "q", 1)]
        ),
        *ACTS,
    ]
    found = pairs(ask(nodes, mood(0), mode="full", threshold=0.1, string_blend_alpha=1).actions)
    # Both similarities and both x are 0.5; the abstract one counts as 1.
    assert found["q"] / found["p"] == pytest.approx(np.exp(0.5), abs=1e-4)


# --- explaining ---------------------------------------------------------------------------------


def test_explains_by_sub_query_and_id():
    retriever = ReferenceRetriever(graph_of(CHAIN), scripted)
    assert isinstance(retriever, Explainer)
    query = query_of([nth(0), nth(1)], mode="full", threshold=0.1)
    first, second = retriever.explain(query, ["b", "c"])
    assert list(first) == ["b", "c"]
    assert first["b"] == pytest.approx(
        {"description": 0.4, "string": 0, "similarity": 0.4, "pagerank": 0.424446}
    )
    assert first["c"]["pagerank"] == 0.27589
    assert second["b"]["similarity"] == second["b"]["pagerank"] == 0
    assert retriever.explain(query, []) == retriever.explain_shown(query, [], {}) == [{}, {}]
    plain = query_of([nth(0)], mode="embedding", threshold=0.1)
    assert "pagerank" not in retriever.explain(plain, ["b"])[0]["b"]


def test_what_is_shown_of_a_tie_is_of_the_earlier_sub_query():
    retriever = ReferenceRetriever(graph_of([semantic("a", "x", description="x")]), exact_embed)
    query = query_of([concept_query(None, "x"), concept_query(None, "x", tag=["y"])], threshold=0.1)
    both = retriever.explain(query, ["a"])
    assert both[0]["a"]["similarity"] == both[1]["a"]["similarity"]
    assert both[0] != both[1]
    assert retriever.explain_shown(query, ["a"], {}) == [both[0], {}]
    assert retriever.explain_shown(query, ["a"], {1: ["a"]}) == both
