import numpy as np
import pytest

from pytest_soulmem.reporting.bootstrap import grouped_interval, mean_interval


def test_one_value_or_equal_values_have_no_spread():
    assert mean_interval([0.25]) == (0.25, 0.25)
    assert mean_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)


def test_the_interval_is_the_same_every_time():
    values = [0.1, 0.4, 0.9, 0.2]
    assert mean_interval(values) == mean_interval(values)


def test_the_interval_is_near_the_normal_one_for_many_values():
    values = np.random.default_rng(1).normal(2.0, 1.0, 400)
    low, high = mean_interval(list(values))
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.02)
    assert high == pytest.approx(values.mean() + half, abs=0.02)


def test_the_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(60):
        low, high = mean_interval(list(rng.random(40)))
        covered += low <= 0.5 <= high
    assert covered >= 50


def test_more_weight_sets_of_the_same_cases_tell_nothing_new():
    values = {"a": 0.0, "b": 0.5, "c": 0.0, "d": 0.25}
    once = grouped_interval({name: [value] for name, value in values.items()})
    assert once == mean_interval(list(values.values()))
    assert grouped_interval({name: [value] * 10 for name, value in values.items()}) == once


def test_groups_of_unlike_sizes_are_drawn_whole():
    values = np.random.default_rng(3).normal(1.0, 1.0, 100)
    sizes = np.random.default_rng(4).integers(1, 6, 100)
    groups = {
        str(at): [value] * int(size)
        for at, (value, size) in enumerate(zip(values, sizes, strict=True))
    }
    low, high = grouped_interval(groups)
    mean = (values * sizes).sum() / sizes.sum()
    half = 1.96 * np.sqrt((sizes**2 * (values - mean) ** 2).sum()) / sizes.sum()
    assert low == pytest.approx(mean - half, abs=0.05)
    assert high == pytest.approx(mean + half, abs=0.05)
