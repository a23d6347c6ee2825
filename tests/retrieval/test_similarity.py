"""Array similarity against the plain-loop oracle, and the rules one by one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval import columns
from pytest_soulmem.retrieval.similarity import Similarity, graph_columns, texts_of
from pytest_soulmem.retrieval.weights import Weights
from retrieval import oracle, strategies
from retrieval.builders import (
    abstract,
    blended,
    concept_query,
    embed,
    graph_of,
    procedure,
    scene_query,
    semantic,
    specific,
    sub_queries_of,
    tag_query,
)


def fused(nodes, query, **weights):
    """The fused similarity of each node, by id."""
    graph = graph_of(nodes)
    (scores,) = Similarity(graph, embed).scores(sub_queries_of([query]))
    values = blended(scores, Weights(**weights))
    return dict(zip(graph.index, values.tolist(), strict=True))


def cosine(left, right, side="query"):
    """Cosine of a text of a sub-query with the mean of some texts of a node."""
    theirs = sum(embed("passage", [text])[0].astype(float) for text in right)
    return oracle.cosine(embed(side, [left])[0].astype(float), theirs)


def close(value):
    return pytest.approx(value, abs=1e-6)


@strategies.lean
@given(strategies.graphs(), strategies.requests, st.just({}) | strategies.weights)
def test_agrees_with_the_plain_loops(nodes, queries, weights):
    expected = oracle.Similarity(embed, weights)
    found = Similarity(graph_of(nodes), embed).scores(sub_queries_of(queries))
    for query, scores in zip(queries, found, strict=True):
        values = blended(scores, Weights(**weights))
        for node, value in zip(nodes, values, strict=True):
            assert value == close(expected.score(node, query)), node


@strategies.lean
@given(strategies.graphs(), strategies.requests)
def test_all_texts_are_announced_and_no_other(nodes, queries):
    asked = {"passage": set(), "query": set()}

    def recording(side, texts):
        asked[side].update(texts)
        return embed(side, texts)

    graph, subs = graph_of(nodes), sub_queries_of(queries)
    Similarity(graph, recording).scores(subs)
    announced = texts_of(graph_columns(graph), subs)
    assert {side: set(texts) for side, texts in announced.items()} == asked
    assert all(len(set(texts)) == len(texts) for texts in announced.values())


@given(st.integers(1, 5))
@strategies.lean
def test_rows_per_block_change_nothing(rows):
    nodes = [semantic(f"n{n}", text, aliases=["a", text]) for n, text in enumerate("甲乙丙丁戊")]
    query = concept_query("甲", "a")
    whole = fused(nodes, query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_ROWS_AT_ONCE", rows)
        assert fused(nodes, query) == pytest.approx(whole, abs=1e-6)


# --- semantic -----------------------------------------------------------------------------------


def test_a_concept_is_the_better_of_content_and_mean_alias():
    nodes = [semantic("alone", "Rust"), semantic("named", "Rust", aliases=["铁锈", "生锈"])]
    found = fused(nodes, concept_query("森林"), string_blend_alpha=1)
    content, aliases = cosine("森林", ["Rust"]), cosine("森林", ["铁锈", "生锈"])
    assert found == {"alone": close(content), "named": close(max(content, aliases))}
    assert content != close(aliases)


def test_concept_and_description_are_blended_and_one_counts_alone():
    nodes = [semantic("n", "Rust", description="语言")]
    concept, description = cosine("森林", ["Rust"]), cosine("编程", ["语言"])
    weights = {"sem_concept": 0.8, "sem_description": 0.1, "string_blend_alpha": 1}
    both = fused(nodes, concept_query("森林", "编程"), **weights)
    assert both["n"] == close(0.8 * concept + 0.1 * description)
    assert fused(nodes, concept_query("森林"), **weights)["n"] == close(concept)
    assert fused(nodes, concept_query(None, "编程"), **weights)["n"] == close(description)
    assert fused(nodes, concept_query("", "编程"), **weights)["n"] == close(description)


def test_a_description_that_the_node_lacks_scores_zero():
    found = fused([semantic("n", "Rust", description="")], concept_query("森林", "编程"))
    assert found["n"] == close(0.5 * cosine("森林", ["Rust"]))


def test_several_units_are_averaged_and_none_score_zero():
    units = [{"description": "编程"}, {"description": "森林"}, {"concept_identifier": ""}]
    query = {"priority": 1, "tag": [], "variant": {"Semantic": units}}
    nodes = [semantic("n", description="语言")]
    expected = (cosine("编程", ["语言"]) + cosine("森林", ["语言"])) / 3
    assert fused(nodes, query)["n"] == close(expected)
    assert fused(nodes, tag_query("x"))["n"] == 0


def test_other_pairings_score_zero():
    others = [specific("s", "Rust"), abstract("a", "Location", {"name": "Rust"}), procedure("p")]
    assert set(fused(others, concept_query("Rust", "Rust")).values()) == {0.0}
    concepts = [semantic("c", "Rust"), procedure("p", "Rust")]
    scene = {"narrative": "Rust", "location": [{"name": "Rust"}]}
    assert set(fused(concepts, scene_query(scene)).values()) == {0.0}


# --- tags ---------------------------------------------------------------------------------------


def test_tags_are_compared_on_the_passage_side_by_their_means():
    found = fused([semantic("n", tags=["编程", "系统"])], tag_query("Rust"))
    assert found["n"] == close(0.3 * cosine("Rust", ["编程", "系统"], side="passage"))


@pytest.mark.parametrize("tags", [[], [""]])
def test_missing_tags_do_not_pull_the_score_down(tags):
    alone = cosine("编程", ["语言"])
    untagged = [semantic("n", description="语言", tags=tags)]
    assert fused(untagged, concept_query(None, "编程", tag=["x"]))["n"] == close(alone)
    tagged = [semantic("n", description="语言", tags=["x"])]
    assert fused(tagged, concept_query(None, "编程", tag=tags))["n"] == close(alone)


# --- situations ---------------------------------------------------------------------------------


def test_a_specific_situation_counts_its_best_channel_and_never_below_zero():
    context = {"location": {"name": "酒馆"}, "environment": {"atmosphere": "静", "tone": "暗"}}
    nodes = [specific("n", "故事", context)]
    texts = [f"问{number}" for number in range(8)]
    for left, right in pairwise(texts):
        found = fused(nodes, scene_query({"narrative": left, "location": [{"name": right}]}))
        expected = max(0, cosine(left, ["故事"]), cosine(right, ["酒馆"]))
        assert found["n"] == close(expected)
    assert fused(nodes, scene_query({}))["n"] == 0
    assert fused(nodes, scene_query())["n"] == 0


def test_coordinates_are_blended_only_where_the_unit_gives_them():
    nodes = [specific("n", "", {"location": {"name": "酒馆", "coordinates": "东"}})]
    lacking = [specific("n", "", {"location": {"name": "酒馆"}})]
    name, place = pick("酒馆"), pick("东")
    plain = scene_query({"location": [{"name": name}]})
    exact = scene_query({"location": [{"name": name, "coordinates": place}]})
    assert fused(nodes, plain)["n"] == close(cosine(name, ["酒馆"]))
    blended = 0.6 * cosine(name, ["酒馆"]) + 0.4 * cosine(place, ["东"])
    assert fused(nodes, exact)["n"] == close(blended)
    assert fused(lacking, exact)["n"] == close(0.6 * cosine(name, ["酒馆"]))


def pick(*texts):
    """A text of a query whose cosine with the mean of some node texts is well above zero."""
    return next(text for text in map(str, range(1000)) if cosine(text, texts) > 0.3)


def test_participants_are_averaged_per_part():
    people = [{"name": "甲", "role": "兵"}, {"name": "乙", "role": ""}]
    name, role = pick("甲", "乙"), pick("兵")
    nodes = [specific("n", "", {"participants": people})]
    found = fused(nodes, scene_query({"participants": [{"name": name, "role": role}]}))
    assert found["n"] == close(0.6 * cosine(name, ["甲", "乙"]) + 0.4 * cosine(role, ["兵"]))
    alone = fused(nodes, scene_query({"participants": [{"role": role}]}))
    assert alone["n"] == close(cosine(role, ["兵"]))


def event_score(events, deed, **weights):
    nodes = [specific("n", "", {"event": events})]
    return fused(nodes, scene_query({"event": [deed]}), **weights)["n"]


def test_event_weights_depend_on_what_is_given():
    events = [{"action": "打", "initiator": "甲", "target": "乙"}]
    deed = {"action": pick("打"), "initiator": pick("甲"), "target": pick("乙")}
    action, initiator, target = (
        cosine(deed[name], [events[0][name]]) for name in ("action", "initiator", "target")
    )
    assert event_score(events, deed) == close(0.4 * action + 0.3 * initiator + 0.3 * target)
    shares = {"sit_event_initiator_only_action": 0.9, "sit_event_target_only_action": 0.8}
    score = event_score(events, deed | {"target": None}, **shares)
    assert score == close(0.9 * action + 0.1 * initiator)
    score = event_score(events, deed | {"initiator": ""}, **shares)
    assert score == close(0.8 * action + 0.2 * target)
    assert event_score(events, {"action": deed["action"]}, **shares) == close(action)


def vector(text):
    return embed("passage", [text])[0].astype(float)


@pytest.mark.parametrize(
    ("first", "second", "mean"),
    [
        (3, None, 3 * vector("打") + vector("跑")),
        (0, 2, vector("跑")),
        (0, 0, vector("打") + vector("跑")),
        (None, None, vector("打") + vector("跑")),
        (1e-60, 0, vector("打")),
        (1e60, 1e60, vector("打") + vector("跑")),
        (1e308, 5e307, 2 * vector("打") + vector("跑")),
    ],
)
def test_events_count_by_their_intensity(first, second, mean):
    events = [
        {"action": "打", "action_intensity": first},
        {"action": "跑", "action_intensity": second},
    ]
    asked = next(
        text
        for text in map(str, range(1000))
        if oracle.cosine(embed("query", [text])[0].astype(float), mean) > 0.3
    )
    expected = oracle.cosine(embed("query", [asked])[0].astype(float), mean)
    assert event_score(events, {"action": asked}) == close(expected)


def test_an_abstract_situation_answers_its_own_kind_and_narratives():
    nodes = [
        abstract("place", "Location", {"name": "酒馆", "coordinates": "东"}),
        abstract("mood", "Environment", {"atmosphere": "静", "tone": ""}),
    ]
    name = pick("酒馆")
    found = fused(nodes, scene_query({"location": [{"name": name}]}), string_blend_alpha=1)
    assert found == {"place": close(cosine(name, ["酒馆"])), "mood": 0.0}
    for text in map(str, range(8)):
        found = fused(nodes, scene_query({"narrative": text}))
        assert found["place"] == close(max(0, cosine(text, ["酒馆", "东"])))
        assert found["mood"] == close(max(0, cosine(text, ["静"])))


def test_time_emotions_and_senses_are_not_scored():
    plain = specific("plain", "故事")
    rich = specific("rich", "故事", {"emotions": [{"name": "喜", "intensity": 1}]})
    rich["mem_type"]["Situation"]["SpecificSituation"]["time_span"] = "2024-01-01"
    query = scene_query({"narrative": pick("故事"), "time_span": [{"start": "2024-01-01"}]})
    found = fused([plain, rich], query)
    assert found["plain"] == found["rich"] > 0


# --- strings ------------------------------------------------------------------------------------


def test_an_exact_name_lifts_and_never_lowers():
    nodes = [semantic("n", "小酒馆", aliases=["Rust"])]
    embedding = max(cosine("酒馆", ["小酒馆"]), cosine("酒馆", ["Rust"]))
    for alpha in (0.0, 0.6, 1.0):
        found = fused(nodes, concept_query("酒馆"), string_blend_alpha=alpha)
        lifted = alpha * embedding + (1 - alpha) * 2 / 3
        assert found["n"] == close(max(embedding, lifted))


def test_a_name_less_alike_than_the_meaning_does_not_lower_it():
    asked = next(
        text
        for text in map(str, range(1000))
        if cosine(text, ["12"]) > oracle.string_similarity(text, "12") > 0
    )
    found = fused([semantic("n", "12")], concept_query(asked))
    assert found["n"] == close(cosine(asked, ["12"]))


def test_strings_compare_after_tags_are_blended_in():
    nodes = [semantic("n", "战斗", tags=["甲"])]
    query = concept_query("战斗", tag=["乙"])
    embedding = 0.3 * cosine("乙", ["甲"], side="passage") + 0.7 * cosine("战斗", ["战斗"])
    assert fused(nodes, query)["n"] == close(max(embedding, 0.6 * embedding + 0.4))


@pytest.mark.parametrize(
    ("kind", "value", "unit"),
    [
        ("Location", {"name": "图书馆"}, {"location": [{"name": "x"}, {"name": "图书"}]}),
        ("Participant", {"name": "图书馆", "role": ""}, {"participants": [{"name": "图书"}]}),
        (
            "Environment",
            {"atmosphere": "图书馆", "tone": ""},
            {"environment": {"atmosphere": "图书"}},
        ),
        ("Event", {"action": "图书馆"}, {"event": [{"action": "图书"}]}),
    ],
)
def test_names_of_patterns_are_compared_as_strings(kind, value, unit):
    found = fused([abstract("n", kind, value)], scene_query(unit), string_blend_alpha=0)
    assert found["n"] == close(0.911111)


def test_names_of_specific_situations_are_not_compared_as_strings():
    name = next(text for text in map(str, range(1000)) if cosine(text, [text]) < 0)
    nodes = [specific("n", "", {"location": {"name": name}})]
    found = fused(nodes, scene_query({"location": [{"name": name}]}), string_blend_alpha=0)
    assert found["n"] == 0


def test_event_strings_are_blended_by_the_event_weights():
    nodes = [abstract("n", "Event", {"action": "战斗", "initiator": "酒馆", "target": "Rust"})]
    deed = {"action": "战斗", "initiator": "小酒馆", "target": "铁锈"}
    found = fused(nodes, scene_query({"event": [deed]}), string_blend_alpha=0)
    assert found["n"] == close(0.4 * 1 + 0.3 * 2 / 3 + 0.3 * 0)
    found = fused(nodes, scene_query({"event": [deed | {"target": None}]}), string_blend_alpha=0)
    assert found["n"] == close(0.6 * 1 + 0.4 * 2 / 3)


def test_the_best_event_counts_not_a_mixture_of_several():
    nodes = [abstract("n", "Event", {"action": "战斗", "initiator": "甲"})]
    deeds = [{"action": "战斗", "initiator": "x"}, {"action": "y", "initiator": "甲"}]
    found = fused(nodes, scene_query({"event": deeds}), string_blend_alpha=0)
    assert found["n"] == close(0.6)


# --- channels -----------------------------------------------------------------------------------


def channels(nodes, query):
    (scores,) = Similarity(graph_of(nodes), embed).scores(sub_queries_of([query]))
    found = scores.channels(scores.unit_scores(Weights()), np.arange(len(nodes)))
    return {name: values.tolist() for name, values in found.items()}


def test_channels_are_those_that_are_asked_for():
    nodes = [semantic("n", "Rust", description="语言", tags=["x"])]
    found = channels(nodes, concept_query("森林", "编程", tag=["y"]))
    assert list(found) == ["tag", "concept", "description", "string"]
    assert found["description"] == [close(cosine("编程", ["语言"]))]
    assert list(channels(nodes, concept_query("森林"))) == ["concept", "string"]
    scene = {"narrative": "x", "environment": {"tone": "暗"}, "event": [{"action": "打"}]}
    assert list(channels(nodes, scene_query(scene))) == [
        "narrative",
        "environment",
        "event",
        "string",
    ]


def test_a_channel_of_several_units_is_the_mean_of_those_that_give_it():
    nodes = [specific("n", "故事")]
    found = channels(nodes, scene_query({"narrative": "甲"}, {"narrative": "乙"}, {}))
    expected = np.mean([cosine("甲", ["故事"]), cosine("乙", ["故事"])])
    assert found["narrative"] == [close(expected)]
