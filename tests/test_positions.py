import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.positions import Positions, text_of


def position(text, place):
    return Positions(text).of(place)


TEXT = """\
{
  "name": "猫",
  "test_cases": [
    {"name": "a, [b] \\" }"},
    {"name": "b", "ids": [1, [2, 3],
      4]}
  ]
}
"""


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("$", (1, 1)),
        ("$.name", (2, 11)),
        ("$.test_cases", (3, 17)),
        ("$.test_cases[0].name", (4, 14)),
        ("$.test_cases[1]", (5, 5)),
        ("$.test_cases[1].ids[1][1]", (5, 34)),
        ("$.test_cases[1].ids[2]", (6, 7)),
        ("$.test_cases[1].missing", (5, 5)),
        ("$.test_cases[7].name", (3, 17)),
        ("$.name.deeper", (2, 11)),
        ("", (1, 1)),
    ],
)
def test_a_place_stands_where_its_value_begins(place, expected):
    assert position(TEXT, place) == expected


def test_what_follows_an_integer_too_long_for_python_is_found():
    text = '{"long": ' + "9" * 5000 + ',\n "a": [1, 2]}'
    assert position(text, "$.long") == (1, 10)
    assert position(text, "$.a[1]") == (2, 11)


def test_a_repeated_key_is_the_last_one_as_decoders_have_it():
    assert position('{"a": 1,\n "a": 2}', "$.a") == (2, 7)


@pytest.mark.parametrize(
    "text", ["", "{", '{"a"', '{"a":', "[1,", '{"a": 1 "b"', "nonsense", "[[["]
)
def test_text_that_is_no_json_has_positions_too(text):
    line, column = position(text, "$.a[0]")
    assert line >= 1
    assert column >= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1,\n "b": }', (2, 7)),
        ("[1,\n 2,\n]", (3, 1)),
        ('{"a": 1} x', (1, 10)),
        ("", (1, 1)),
        ("9" * 5000, (1, 1)),
    ],
)
def test_a_text_that_is_no_json_stands_where_it_stops_being_some(text, expected):
    assert position(text, "") == expected


documents = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.from_regex(r"[a-z_]{1,6}", fullmatch=True), inner, max_size=4)
    ),
    max_leaves=12,
)


def places(value, place="$"):
    yield place, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, f"{place}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, f"{place}[{index}]")


@given(documents, st.sampled_from([None, 1, 4]))
def test_the_value_at_a_position_is_the_value_of_the_place(document, indent):
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    lines = text.split("\n")
    positions = Positions(text)
    for place, value in places(document):
        line, column = positions.of(place)
        assert position(text, place) == (line, column)
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == value


def test_an_empty_text_has_a_beginning_too():
    assert position("", "$") == position("", "$.a[0]") == (1, 1)


def test_a_fault_in_every_node_of_a_large_graph_is_found_at_once():
    text = json.dumps([{"id": name, "tags": ["猫"] * 20} for name in range(20_000)], indent=1)
    positions = Positions(text)
    assert [positions.of(f"$[{at}].tags[19]")[0] for at in range(20_000)] == [
        25 * at + 24 for at in range(20_000)
    ]


@pytest.mark.parametrize(
    ("content", "text"), [("\ufeff猫".encode(), "猫"), (b"\xff", ""), (None, "")]
)
def test_what_is_no_text_has_none(tmp_path, content, text):
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    assert text_of(path) == text
    assert text_of(tmp_path) == ""
