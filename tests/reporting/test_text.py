from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import unprintable

from pytest_soulmem.reporting.text import each_text, visible, visible_json, visible_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 记忆 🦀 é", "plain 记忆 🦀 é"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\tb\r\n", "a\\x09b\\x0d\\x0a"),
        ("\x7f\x9b", "\\x7f\\x9b"),
        ("\u202e\u2066\u200b\ufeff", "\\u202e\\u2066\\u200b\\ufeff"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\ud800", "\\ud800"),
        ("\uffff\ufffe", "\\uffff\\ufffe"),
        ("\U000e0001", "\\ue0001"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("\u0646\u200c\u0647", "\u0646\u200c\u0647"),
        ("\ufffd", "\ufffd"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_visible_lines_keeps_only_line_feeds() -> None:
    assert visible_lines("a\x1b\nb\r\n\x0bc") == "a\\x1b\nb\\x0d\n\\x0bc"


@given(st.text())
def test_what_is_visible_is_safe_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    assert [one for one in unprintable(shown) if one not in "\u200c\u200d"] == []
    assert "\n" not in shown
    assert visible(shown) == shown


VALUES = st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())


@given(VALUES)
def test_visible_json_reads_back(value: object) -> None:
    text = visible_json(value)
    assert json.loads(text) == value
    assert [one for one in unprintable(text) if one not in "\u200c\u200d"] == []


def test_visible_json_keeps_chinese() -> None:
    assert (
        visible_json(["记忆", "\u202e\x85\U000e0001"]) == '["记忆", "\\u202e\\u0085\\udb40\\udc01"]'
    )


def test_each_text_of_plain_data_is_changed_and_nothing_else():
    data = {"a": ["b", 1, None, 0.5, True], "c": {"d": ("e",)}}
    assert each_text(data, str.upper) == {"A": ["B", 1, None, 0.5, True], "C": {"D": ["E"]}}
