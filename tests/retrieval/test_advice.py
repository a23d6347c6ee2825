import msgspec
import pytest

from pytest_soulmem.retrieval.advice import advice
from pytest_soulmem.retrieval.query import RetrievalCase


def remarks(variant):
    case = {"name": "x", "sub_queries": [{"priority": 1, "tag": [], "variant": variant}]}
    return [str(fault) for fault in advice(msgspec.convert(case, RetrievalCase), "$.c")]


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("你们在酒吧做什么", "a question"),
        ("她在哪里长大？", "a question"),
        ("what she does at night", "a question"),
        ("下雨天能不能出门", "a question"),
        ("家里有没有猫", "a question"),
        ("只要下雨就留在家中", 'a connective, "只要"'),
        ("今天的天气真好啊", 'a modal particle, "啊"'),
        ("因为下雨留在家中", 'a connective, "因为"'),
        ("a quiet place, but cold", 'a connective, "but"'),
    ],
)
def test_texts_that_are_no_short_statements(text, remark):
    (found,) = remarks({"Semantic": [{"concept_identifier": "猫", "description": text}]})
    assert found.startswith(f"$.c.sub_queries[0].variant.Semantic[0].description: {remark}")


@pytest.mark.parametrize(
    "text", ["上午在酒吧编写程序", "a butcher's shop", "家里的橘猫", "somewhat quiet harbour", ""]
)
def test_short_statements_are_left_alone(text):
    assert remarks({"Situation": [{"narrative": text}]}) == []


def test_narratives_are_looked_at_too():
    (found,) = remarks({"Situation": [{}, {"narrative": "昨晚吃了什么"}]})
    assert found.startswith("$.c.sub_queries[0].variant.Situation[1].narrative: a question")


@pytest.mark.parametrize(
    ("scene", "place"),
    [
        ({"location": [{"name": "在哪里"}]}, "location[0].name"),
        ({"participants": [{"name": "甲"}, {"role": "谁"}]}, "participants[1].role"),
        ({"environment": {"atmosphere": "热闹吗"}}, "environment.atmosphere"),
        ({"event": [{"action": "修什么"}]}, "event[0].action"),
    ],
)
def test_every_text_that_is_asked_is_looked_at(scene, place):
    (found,) = remarks({"Situation": [scene]})
    assert found.startswith(f"$.c.sub_queries[0].variant.Situation[0].{place}: a question")
