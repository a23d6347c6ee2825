"""Cutting and ordering scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval.ranking import best, rounded
from retrieval.strategies import lean

scores = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, np.inf]), max_size=12)


@lean
@given(scores, st.integers(1, 15), st.data())
def test_best_are_the_highest_with_ties_by_position(values, limit, data):
    count = len(values)
    eligible = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    allowed = [position for position, fits in enumerate(eligible) if fits]
    expected = sorted(allowed, key=lambda at: (-values[at], at))[:limit]
    assert best(np.array(values), limit, np.array(eligible, bool)).tolist() == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.12345649, 0.123456),
        (0.1234567, 0.123457),
        (1 / 3, 0.333333),
        (-0.0000001, 0.0),
        (np.float32(0.1), 0.1),
    ],
)
def test_rounded_to_six_decimals(value, expected):
    (found,) = rounded(np.array([value]))
    assert found == expected
    assert found.dtype == np.float64


def test_no_negative_zero():
    assert not np.signbit(rounded(np.array([-1e-9, -0.0]))).any()


def test_noise_in_the_last_bits_is_no_difference():
    noisy = np.array([0.1 + 0.2, 0.3, 0.3 - 1e-9])
    assert best(rounded(noisy), 3, np.ones(3, bool)).tolist() == [0, 1, 2]
