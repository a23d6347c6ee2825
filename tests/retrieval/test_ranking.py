"""Cutting and ordering scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval.ranking import LEAST, best, joined, nothing, rounded, summed
from retrieval.builders import rankings
from retrieval.strategies import lean

score = st.sampled_from(
    [-1.0, 0.0, 0.25, 0.5, 0.5 + 3e-7, 0.5 - 4e-7, 1.0, np.inf, np.nan, -np.inf, 1e305]
)


def listed(found):
    """Each ranking as its positions and scores."""
    return [(one.positions.tolist(), one.scores.tolist()) for one in found]


@lean
@given(
    st.integers(1, 8).flatmap(
        lambda size: st.lists(st.lists(score, min_size=size, max_size=size), min_size=1, max_size=3)
    ),
    st.integers(1, 9),
    st.sampled_from([-np.inf, 0.0, LEAST, 0.5, 2.0]),
)
def test_best_are_the_highest_rounded_scores_with_ties_by_position(rows, limit, least):
    expected = []
    for values in rows:
        plain = {at: round(value, 6) for at, value in enumerate(values) if abs(value) < 1e300}
        allowed = [at for at, value in plain.items() if value >= least]
        order = sorted(allowed, key=lambda at, plain=plain: (-plain[at], at))[:limit]
        expected.append((order, [plain[at] for at in order]))
    assert listed(best(np.array(rows, float), limit, least)) == expected


some_rankings = st.lists(
    st.dictionaries(st.integers(0, 5), st.sampled_from([0.25, 0.5, 1.0]), max_size=5),
    min_size=1,
    max_size=4,
)


def by_score(found, limit=None):
    """Scores by node as a plain ranking."""
    order = sorted(found, key=lambda at: (-found[at], at))[:limit]
    return order, [found[at] for at in order]


@lean
@given(some_rankings, st.integers(1, 4))
def test_each_ranking_is_ordered_and_cut_on_its_own(scores, limit):
    found = rankings(scores)
    assert listed(found) == [by_score(own) for own in scores]
    assert listed(found.cut(limit)) == [by_score(own, limit) for own in scores]


@lean
@given(some_rankings, st.data())
def test_of_two_rankings_each_node_has_its_higher_score(scores, data):
    count = len(scores)
    others = data.draw(some_rankings.map(lambda found: (found * count)[:count]))
    higher = [
        {at: max(one.get(at, 0), other.get(at, 0)) for at in one | other}
        for one, other in zip(scores, others, strict=True)
    ]
    found = rankings(scores).or_higher(rankings(others))
    assert listed(found) == [by_score(own) for own in higher]


@lean
@given(some_rankings, some_rankings)
def test_joined_rankings_follow_each_other(scores, others):
    found = joined([rankings(scores), rankings(others)])
    assert listed(found) == [by_score(own) for own in scores + others]


@lean
@given(some_rankings, some_rankings, st.sampled_from([-np.inf, 0.75]))
def test_what_a_node_was_given_is_summed(scores, others, least):
    count = max(len(scores), len(others))
    parts = rankings(scores + [{}] * (count - len(scores))), rankings(others)
    found = summed(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("owners", "positions", "scores")
        ),
        count,
        least,
    )
    sums = [{} for _ in range(count)]
    for own in (scores, others):
        for total, amounts in zip(sums, own, strict=False):
            for at, score in amounts.items():
                total[at] = total.get(at, 0) + score
    kept = [{at: score for at, score in own.items() if score >= least} for own in sums]
    assert listed(found) == [by_score(own) for own in kept]


def test_there_may_be_nothing():
    assert listed(nothing(2)) == [([], []), ([], [])]
    assert listed(nothing(2).or_higher(nothing(2)).cut(3)) == listed(nothing(2))
    assert listed(summed(*[np.zeros(0, int)] * 3, 1)) == [([], [])]


def test_a_selection_is_numbered_by_its_positions_among_all():
    found = best(np.array([[0.1, 0.3]]), 2).numbered(np.array([7, 9]))
    assert listed(found) == [([9, 7], [0.3, 0.1])]


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
    assert best(noisy[np.newaxis], 3).positions.tolist() == [0, 1, 2]


def test_what_rounding_lifts_to_the_last_of_the_best_is_not_cut_before():
    found = best(np.array([[0.5 - 4e-7, 0.5 + 3e-7, 0.1]]), 1)
    assert listed(found) == [([0], [0.5])]
