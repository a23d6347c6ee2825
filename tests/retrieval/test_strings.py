"""String similarity of exact identifiers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval.strings import similarities
from retrieval import oracle
from retrieval.strategies import lean

words = st.text(min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("酒馆", "小酒馆", 2 / 3),
        ("图书", "图书馆", 0.911111),
        ("Rust", "铁锈", 0.0),
        ("战斗", "战斗", 1.0),
        ("Rust", "rust", 5 / 6),  # case-sensitive
        ("😀", "😁", 0.0),  # by code point: the UTF-8 and UTF-16 forms share units
        ("MARTHA", "MARHTA", 0.961111),  # the textbook example of Jaro-Winkler
    ],
)
def test_pinned(left, right, expected):
    assert similarities([left], [right])[0, 0] == pytest.approx(expected, abs=1e-6)


@lean
@given(st.lists(words, max_size=3), st.lists(words, max_size=3))
def test_every_pair_and_only_it(queries, choices):
    found = similarities(queries, choices)
    assert found.shape == (len(queries), len(choices))
    expected = [[oracle.string_similarity(left, right) for right in choices] for left in queries]
    assert found == pytest.approx(np.array(expected).reshape(found.shape), abs=1e-12)
    assert ((found >= 0) & (found <= 1)).all()


@lean
@given(words, words)
def test_symmetric_and_one_only_for_equal_texts(left, right):
    there, back = similarities([left], [right])[0, 0], similarities([right], [left])[0, 0]
    assert there == pytest.approx(back, abs=1e-12)
    assert (there == 1) == (left == right)
