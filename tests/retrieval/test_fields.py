"""Which texts of memories and sub-queries are compared with which."""

import msgspec
import pytest

from pytest_soulmem.retrieval import fields
from pytest_soulmem.retrieval.fields import (
    concept_fields,
    node_fields,
    scene_fields,
    tag_fields,
)
from pytest_soulmem.retrieval.query import Concept, Scene
from retrieval.builders import abstract, graph_of, procedure, semantic, specific


def of_node(node):
    return node_fields(graph_of([node]).nodes[0])


def of_scene(**unit):
    return scene_fields(msgspec.convert(unit, Scene))


def plain(*texts):
    return tuple((text, 1) for text in texts)


def test_semantic():
    node = semantic("n", "Rust", aliases=["铁锈", ""], description="", tags=["编程", ""])
    assert of_node(node) == {
        fields.TAGS: plain("编程"),
        fields.CONTENT: plain("Rust"),
        fields.ALIASES: plain("铁锈"),
    }


def test_specific():
    context = {
        "location": {"name": "酒馆", "coordinates": None},
        "participants": [{"name": "甲", "role": "兵"}, {"name": "乙", "role": ""}],
        "environment": {"atmosphere": "静", "tone": ""},
        "event": [
            {"action": "打", "action_intensity": 2, "target": "乙"},
            {"action": "跑", "action_intensity": 1, "initiator": "甲"},
            {"action": "睡", "action_intensity": 0},
        ],
    }
    assert of_node(specific("n", "故事", context)) == {
        fields.NARRATIVE: plain("故事"),
        fields.LOCATION_NAME: plain("酒馆"),
        fields.PARTICIPANT_NAME: plain("甲", "乙"),
        fields.PARTICIPANT_ROLE: plain("兵"),
        fields.ATMOSPHERE: plain("静"),
        fields.ACTION: (("打", 1), ("跑", 0.5)),
        fields.TARGET: plain("乙"),
        fields.INITIATOR: plain("甲"),
    }
    assert of_node(specific("n", "故事")) == {fields.NARRATIVE: plain("故事")}


@pytest.mark.parametrize(
    ("kind", "value", "own"),
    [
        (
            "Location",
            {"name": "酒馆", "coordinates": "东"},
            {fields.LOCATION_NAME: "酒馆", fields.LOCATION_COORDINATES: "东"},
        ),
        (
            "Participant",
            {"name": "甲", "role": "兵"},
            {fields.PARTICIPANT_NAME: "甲", fields.PARTICIPANT_ROLE: "兵"},
        ),
        (
            "Environment",
            {"atmosphere": "静", "tone": "暗"},
            {fields.ATMOSPHERE: "静", fields.TONE: "暗"},
        ),
        (
            "Event",
            {"action": "打", "action_intensity": 0, "initiator": "甲", "target": "乙"},
            {fields.ACTION: "打", fields.INITIATOR: "甲", fields.TARGET: "乙"},
        ),
    ],
)
def test_the_narrative_of_a_pattern_is_all_that_it_says(kind, value, own):
    assert of_node(abstract("n", kind, value)) == {
        **{name: plain(text) for name, text in own.items()},
        fields.NARRATIVE: plain(*own.values()),
    }


def test_a_procedure_has_tags_only():
    assert of_node(procedure("p", "说话", tags=["x"])) == {fields.TAGS: plain("x")}


def test_units():
    assert concept_fields(Concept("Rust", "")) == {fields.IDENTIFIER: plain("Rust")}
    assert concept_fields(Concept(None, "语言")) == {fields.DESCRIPTION: plain("语言")}
    assert tag_fields(["a", "", "b"]) == {fields.TAGS: plain("a", "b")}
    assert tag_fields([""]) == {}
    assert of_scene() == {}
    assert of_scene(
        narrative="问",
        location=[{"name": "酒馆"}, {"name": "", "coordinates": "东"}],
        participants=[{"role": "兵"}],
        environment={"tone": "暗"},
        event=[{"action": "打", "initiator": "甲"}, {"action": ""}],
    ) == {
        fields.NARRATIVE: plain("问"),
        fields.LOCATION_NAME: plain("酒馆"),
        fields.LOCATION_COORDINATES: plain("东"),
        fields.PARTICIPANT_ROLE: plain("兵"),
        fields.TONE: plain("暗"),
        fields.ACTION: plain("打"),
        fields.INITIATOR: plain("甲"),
    }
