from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.forgetting.masking import mask
from pytest_soulmem.forgetting.similarity import similarity, trigrams

RIVER = "张三上个月去杭州出差在西湖边吃了东坡肉和龙井虾仁"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("abcd", "abce", 1 / 3),
        ("ab", "ab", 1),
        ("ab", "abc", 0),
        ("机器学习是重要分支", "机器学习是分支", 1 / 3),
        (RIVER, mask(RIVER, 0.05), 0.625),
        (RIVER, mask(RIVER, 0.5), 1 / 9),
    ],
)
def test_pinned(first, second, expected):
    assert similarity(first, second) == pytest.approx(expected, abs=1e-12)


def test_a_short_text_is_its_own_only_trigram():
    assert trigrams("ab") == {"ab"}
    assert trigrams("abc") == {"abc"}
    assert trigrams("abcd") == {"abc", "bcd"}


@given(st.text(), st.text())
def test_symmetric_and_one_for_equal_texts(first, second):
    assert similarity(first, second) == similarity(second, first)
    assert similarity(first, first) == 1
    assert 0 <= similarity(first, second) <= 1
