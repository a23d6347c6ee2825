from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_soulmem.decoding import (
    Malformed,
    OneOf,
    decode,
    parse_json,
    read_json,
    unknown_fields,
)
from pytest_soulmem.faults import FixtureError


class Choice(OneOf, frozen=True, rename="pascal"):
    number: int | UnsetType = UNSET
    word: str | UnsetType = UNSET


class Inner(Struct, frozen=True):
    size: Annotated[int, Meta(ge=1)]
    choice: Choice | None = None


class Outer(Struct, frozen=True):
    name: str
    inner: tuple[Inner, ...] = ()
    extra: Any = None


def told(raw: object) -> list[str]:
    value, faults = decode(raw, Outer, "$")
    assert (value is None) == bool(faults)
    return [str(fault) for fault in faults]


def test_a_value_that_converts() -> None:
    raw = {"name": "a", "inner": [{"size": 1, "choice": {"Word": "x"}}]}
    value, faults = decode(raw, Outer, "$")
    assert faults == []
    assert value == Outer("a", (Inner(1, Choice(word="x")),))


@pytest.mark.parametrize(
    ("raw", "faults"),
    [
        ([], ["$: expected `object`, got `array`"]),
        ({}, ["$: the field `name` is missing"]),
        (
            {"name": 1, "inner": 2},
            ["$.name: expected `str`, got `int`", "$.inner: expected `array`, got `int`"],
        ),
        (
            {"name": "a", "inner": [{"size": 0}, {"size": 1}, {}]},
            ["$.inner[0].size: expected `int` >= 1", "$.inner[2]: the field `size` is missing"],
        ),
        (
            {"name": "a", "inner": [{"size": 1, "choice": {"Number": 1, "Word": "x"}}]},
            ["$.inner[0].choice: expected exactly one of Number, Word; found Number and Word"],
        ),
        (
            {"name": "a", "inner": [{"size": 1, "choice": {}}]},
            ["$.inner[0].choice: expected exactly one of Number, Word; found none of them"],
        ),
        ({"nam": "a"}, ["$: unknown field `nam`; did you mean `name`?"]),
        ({"name": "a", "iner": []}, ["$: unknown field `iner`; did you mean `inner`?"]),
        (
            {"name": "a", "inner": [{"siez": 1}]},
            ["$.inner[0]: unknown field `siez`; did you mean `size`?"],
        ),
    ],
)
def test_every_fault_has_its_place(raw: object, faults: list[str]) -> None:
    assert told(raw) == faults


@pytest.mark.parametrize("field", ["comment", "names", "inner_", "x", "名"])
def test_unknown_fields_are_ignored_if_what_they_resemble_is_there(field: str) -> None:
    assert told({"name": "a", "inner": [], field: 1}) == []


def test_one_misspelling_is_not_told_for_two_fields() -> None:
    assert len(told({"nam": "a", "naem": "b"})) == 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=20,
)


def ignored(raw: object) -> list[str]:
    return [str(fault) for fault in unknown_fields(raw, Outer, "$")]


def test_what_is_ignored_is_told_with_the_absent_field_that_it_is_most_like() -> None:
    assert ignored({"name": "a", "innerlist": [], "zzzzzz": 1}) == [
        "$.innerlist: unknown field `innerlist`, ignored; did you mean `inner`?",
        "$.zzzzzz: unknown field `zzzzzz`, ignored",
    ]
    assert ignored({"name": "a", "inner": [], "innerlist": []}) == [
        "$.innerlist: unknown field `innerlist`, ignored",
    ]


@pytest.mark.parametrize("field", ["$schema", "_note", "//", "说明", "", "notes", "comment"])
def test_a_remark_is_no_field(field: str) -> None:
    assert ignored({"name": "a", field: 1}) == []


@given(JSON)
def test_a_field_is_told_as_misspelt_or_as_ignored_but_not_as_both(value: object) -> None:
    raw = {"nam": value, "inner": [value, {"siez": value, "choices": value}], "remark": value}
    told = [str(fault) for fault in decode(raw, Outer, "$")[1]]
    misspelt = {line.split(";")[0] for line in told if "unknown field" in line}
    assert "$: unknown field `nam`" in misspelt
    assert not [line for line in ignored(raw) if "`nam`" in line or "`siez`" in line]
    assert "$.remark: unknown field `remark`, ignored" in [
        line.split("; did")[0] for line in ignored(raw)
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"{", "(line 1, column 2)"),
        (b'{\n "a": 1,\n "b" 2}', "(line 3, column 6)"),
        (b"[1] 2", "Extra data (line 1, column 5)"),
        (b"NaN", "NaN is not a JSON number"),
        (b"[Infinity]", "Infinity is not a JSON number"),
        (b"'a'", "not JSON"),
        (b'"\xff"', "not UTF-8 (byte 1)"),
        ("[1]".encode("utf-16"), "it looks like UTF-16"),
        ("[1]".encode("utf-16-be"), "it looks like UTF-16-BE"),
        ("[1]".encode("utf-32"), "it looks like UTF-32"),
        (b"[" * 10**5, "nested too deeply"),
        (b'{"a":' * 10**5, "nested too deeply"),
    ],
)
def test_what_is_not_json(data: bytes, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        parse_json(data)
    assert message in str(caught.value)


@given(JSON, st.booleans(), st.sampled_from([None, 2]))
def test_json_is_read_as_python_reads_it(document: object, ascii_only: bool, indent) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode()
    assert parse_json(data) == json.loads(data)
    assert parse_json(b"\xef\xbb\xbf" + data) == json.loads(data)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "a", "name": "b"}',
        '{"name": "a", "name": "a"}',
        '{"name": "a", "\\u006eame": "b"}',
        '{"name": "a:b", "name": "\\u003a"}',
        '{"name": "\\u003A", "x": {":": ":"}, "name": "b"}',
        '{"name": {"a": 1, "b": {"c": 2}}, "name": "b"}',
        '{"name": "\\ud800", "name": "b"}',
        '{"name": 1e999, "name": "b"}',
    ],
)
def test_a_key_given_twice_is_a_fault_with_its_place(text: str) -> None:
    assert told(parse_json(text.encode())) == ["$.name: given 2 times; keep one"]


def test_a_key_given_thrice_deep_down() -> None:
    document = parse_json(
        b'{"name": "a", "inner": [{"size": 1}, {"size": 1, "size": 2, "size": 3}]}'
    )
    assert told(document) == ["$.inner[1].size: given 3 times; keep one"]


def test_a_key_given_twice_where_nobody_reads_it_is_none() -> None:
    assert told(parse_json(b'{"name": "a", "notes": 1, "notes": 2}')) == []


@given(
    st.lists(st.sampled_from(["a", "b", ":", "\\u003a", "\\\\u003a", '\\"', "\\\\"]), max_size=5)
)
def test_repeated_keys_are_found_whatever_the_texts_hold(words: list[str]) -> None:
    text = "{" + ", ".join(f'"{word}": ":{word}"' for word in words) + "}"
    pairs = json.loads(text, object_pairs_hook=list)
    document = parse_json(text.encode())
    repeated = {key for key, _ in pairs if [other for other, _ in pairs].count(key) > 1}
    assert isinstance(document, dict)
    assert {key for key, value in document.items() if not isinstance(value, str)} == repeated


def test_single_values_that_no_field_accepts() -> None:
    document = parse_json(b'{"name": "\\ud83d", "inner": [{"size": 1e400}]}')
    assert told(document) == [
        "$.name: the text holds half a character (\\ud83d)",
        "$.inner[0].size: 1e400 is not a finite number",
    ]


def test_a_pair_of_halves_is_a_character() -> None:
    assert parse_json(b'"\\ud83e\\udd80"') == "🦀"


def test_many_digits() -> None:
    assert parse_json(b"1" * 30) == int("1" * 30)
    for sign in ("", "-"):
        raw = parse_json(b'{"name": "x", "inner": [{"size": %s}]}' % (sign + "1" * 5000).encode())
        assert told(raw) == [
            "$.inner[0].size: an integer of 5000 digits is too long to be read; if it is an id or "
            "a text, put it in quotes"
        ]


def test_a_file_that_cannot_be_read(tmp_path) -> None:
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "no.json", "No such file")):
        with pytest.raises(FixtureError) as caught:
            read_json(path)
        assert str(caught.value).startswith(f"{path}: cannot be read: {reason}")


def test_one_of_needs_one() -> None:
    assert Choice(number=1).number == 1
    for wrong in ({}, {"number": 1, "word": "x"}):
        with pytest.raises(ValueError, match="expected exactly one of Number, Word"):
            Choice(**wrong)
    assert msgspec.convert({"Number": 1}, Choice) == Choice(number=1)


def test_a_wrong_word_is_told_with_those_that_are_right():
    class Choice(msgspec.Struct):
        mode: Literal["full", "embedding"] | None = None

    _, (fault,) = decode({"mode": "embeddings"}, Choice, "$")
    assert fault.message == "invalid enum value 'embeddings'; expected one of full, embedding"


def test_what_is_no_regular_file_is_not_waited_for(tmp_path) -> None:
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    for place in (path, Path("/dev/null")):
        with pytest.raises(FixtureError, match="not a regular file"):
            read_json(place)
