from __future__ import annotations

import pytest

from pytest_soulmem.naming import case_name, name_faults, place_faults


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ({"name": "a"}, "a"),
        ({"name": " \u3000a b\t"}, "a b"),
        ({"name": "e\u0301"}, "\u00e9"),
        ({"name": "한글"}, "한글"),
        ({"name": 7}, 7),
        ({}, None),
        ("text", None),
        (None, None),
    ],
)
def test_case_name(raw: object, name: object) -> None:
    assert case_name(raw) == name


@pytest.mark.parametrize("name", ["a", "案例 1", "[x]", "a:b", "'\"", "🦀", "a\u200d", None, 7, []])
def test_names_without_fault(name: object) -> None:
    assert name_faults(name, {"b": "$.test_cases[0]"}) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "empty"),
        ("a::b", "`::`"),
        ("::", "`::`"),
        ("a\x00", "control"),
        ("a\x1bb", "control"),
        ("a\x85b", "control"),
        ("a\u2028b", "control"),
        ("a\u2029b", "control"),
        ("b", '"b" is taken by $.test_cases[0]'),
    ],
)
def test_names_with_a_fault(name: str, told: str) -> None:
    (fault,) = name_faults(name, {"b": "$.test_cases[0]"})
    assert told in fault


def test_places_that_a_node_id_cannot_name() -> None:
    assert place_faults("queries/a:b.json") == []
    for place in ("queries/a::b.json", "a::b/queries/q.json"):
        (fault,) = place_faults(place)
        assert "`::`" in str(fault)
