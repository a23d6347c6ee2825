"""Cutting and ordering scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval.ranking import LEAST, best, rounded
from retrieval.strategies import lean

scores = st.lists(
    st.sampled_from(
        [-1.0, 0.0, 0.25, 0.5, 0.5 + 3e-7, 0.5 - 4e-7, 1.0, np.inf, np.nan, -np.inf, 1e305]
    ),
    max_size=12,
)


@lean
@given(scores, st.integers(1, 15), st.sampled_from([-np.inf, 0.0, LEAST, 0.5, 2.0]))
def test_best_are_the_highest_rounded_scores_with_ties_by_position(values, limit, least):
    plain = {at: round(value, 6) for at, value in enumerate(values) if abs(value) < 1e300}
    allowed = [at for at, value in plain.items() if value >= least]
    expected = sorted(allowed, key=lambda at: (-plain[at], at))[:limit]
    found = best(np.array(values, float), limit, least)
    assert found.positions.tolist() == expected
    assert found.scores.tolist() == [plain[at] for at in expected]


def test_a_selection_is_numbered_by_its_positions_among_all():
    found = best(np.array([0.1, 0.3]), 2).numbered(np.array([7, 9]))
    assert (found.positions.tolist(), found.scores.tolist()) == ([9, 7], [0.3, 0.1])


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
    assert best(noisy, 3).positions.tolist() == [0, 1, 2]


def test_what_rounding_lifts_to_the_last_of_the_best_is_not_cut_before():
    found = best(np.array([0.5 - 4e-7, 0.5 + 3e-7, 0.1]), 1)
    assert (found.positions.tolist(), found.scores.tolist()) == ([0], [0.5])
