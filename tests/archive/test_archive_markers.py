from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.archive import Triple, entity_name, first_clause, marker_text, parse_markers
from pytest_soulmem.archive.terms import valid_name

DIGEST = "a1b2c3d4e5f6" + "0" * 52


def test_a_marker_has_a_description_to_the_end_of_its_line():
    text = "之前\n[image/png a1b2c3d4e5f6] 一面旗子，三色  \n之后"
    (marker,) = parse_markers(text)
    assert (marker.mime, marker.digest) == ("image/png", "a1b2c3d4e5f6")
    assert marker.description == "一面旗子，三色"
    assert marker.text == "[image/png a1b2c3d4e5f6] 一面旗子，三色"


def test_its_triples_come_from_it_alone():
    (marker,) = parse_markers("[image/png a1b2c3d4e5f6] 一面旗子，三色")
    assert marker.triples() == [
        Triple("图片 a1b2c3d4e5f6", "类型", "图片", marker.text),
        Triple("图片 a1b2c3d4e5f6", "描述", "一面旗子", marker.text),
    ]


@pytest.mark.parametrize("tail", ["", " ", " 图", " **"])
def test_without_a_usable_description_the_type_remains(tail):
    (marker,) = parse_markers(f"[audio/ogg a1b2c3d4e5f6]{tail}")
    assert [triple.relation for triple in marker.triples()] == ["类型"]


@pytest.mark.parametrize(
    "text",
    [
        "[image/png a1b2c3d4e5f]",
        "[image/png A1B2C3D4E5F6]",
        "[image a1b2c3d4e5f6]",
        "[image/png a1b2c3d4e5f6 x]",
        "image/png a1b2c3d4e5f6",
        f"[image/png {'a' * 65}]",
    ],
)
def test_what_only_looks_like_a_marker_is_none(text):
    assert parse_markers(text) == []


def test_two_markers_on_a_line_are_two():
    found = parse_markers("[image/png a1b2c3d4e5f6] 甲 [video/mp4 b1b2c3d4e5f6] 乙")
    assert [(marker.entity, marker.description) for marker in found] == [
        ("图片 a1b2c3d4e5f6", "甲"),
        ("视频 b1b2c3d4e5f6", "乙"),
    ]


@pytest.mark.parametrize(
    ("mime", "word"),
    [
        ("image/png", "图片"),
        ("IMAGE/PNG", "图片"),
        ("audio/ogg", "音频"),
        ("video/mp4", "视频"),
        ("application/pdf", "媒体"),
    ],
)
def test_the_kind_names_the_entity(mime, word):
    assert entity_name(mime, DIGEST) == f"{word} a1b2c3d4e5f6"


@pytest.mark.parametrize(
    ("description", "clause"),
    [
        ("**三条横条纹**的旗子，自上而下", "三条横条纹的旗子"),
        ("_一面_ `旗子`。第二句", "一面 旗子"),
        ("# 标题：内容；其余", "标题：内容"),
        ("~~旧~~新旗", "旧新旗"),
        ("snake_case 保留", "snake_case 保留"),
        ("3.14 是数", "3.14 是数"),
        ("End. More", "End"),
        ("，先是标点", "先是标点"),
        ("图，很短", ""),
        ("", ""),
        ("**", ""),
        ("字" * 50, "字" * 40),
        ("😀" * 41, "😀" * 40),
    ],
)
def test_the_first_clause(description, clause):
    assert first_clause(description) == clause


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_description_gives_usable_triples(description):
    """Whatever a vision model says, the media gets in, and the way back to it is in the text."""
    text = marker_text("image/png", DIGEST, description)
    first = parse_markers(text)[0]
    assert DIGEST.startswith(first.digest)
    assert all(triple.usable for triple in first.triples())
    assert all(parse_markers(triple.sentence) == [first] for triple in first.triples())


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_a_clause_is_whole_characters_of_the_right_number(description):
    clause = first_clause(description)
    assert clause == "" or 2 <= len(clause) <= 40
    clause.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "valid"),
    [("成", False), ("一二", True), ("字" * 50, True), ("字" * 51, False), (" 成 ", False)],
)
def test_names_are_measured_in_characters(name, valid):
    assert valid_name(name) is valid
