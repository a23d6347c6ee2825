"""The curve against pinned values and, on arbitrary configs, against its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem import strategies
from pytest_soulmem.forgetting.curve import (
    half_life,
    link_strength,
    missing_degree,
    retention,
    updated_degree,
)
from pytest_soulmem.forgetting.fixture import LAW_NAMES
from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
from pytest_soulmem.forgetting.laws import LAWS, Domain
from pytest_soulmem.forgetting.subject import Subject
from pytest_soulmem.forgetting.terms import CurveSettings, Memory

DEFAULT = CurveSettings()


@pytest.mark.parametrize(
    ("hours", "count", "expected"),
    [
        (0, 0, 0.0),
        (24, 0, 0.5),
        (4, 0, 0.109101282),
        (96, 0, 0.9375),
        (48, 0, 0.75),
        (48, 20, 0.370039475),
        (48, 50, 0.206299474),
        (48, 200, 0.206299474),
        (0.5, 0, 0.014336801),
        (-3, 0, 0.0),
    ],
)
def test_pinned_missing_degrees(hours, count, expected):
    assert missing_degree(hours, count, DEFAULT) == pytest.approx(expected, abs=1e-9)


def test_arrays_broadcast_to_one_shape():
    hours = np.array([[0.0], [24.0], [48.0]])
    counts = np.array([0, 10])
    degrees = missing_degree(hours, counts, DEFAULT)
    assert degrees.shape == (3, 2)
    assert degrees.dtype == np.float64
    assert degrees[2] == pytest.approx([0.75, 0.5])


def test_arguments_are_left_as_they_were():
    hours, counts, known = np.array([24.0]), np.array([1.0]), np.array([0.25])
    missing_degree(hours, counts, DEFAULT)
    updated_degree(known, hours, counts, DEFAULT)
    assert (hours[0], counts[0], known[0]) == (24.0, 1.0, 0.25)


def test_a_whole_number_array_does_not_truncate():
    assert retention(np.array([1, 2]), 0, DEFAULT) == pytest.approx(
        [2 ** (-1 / 24), 2 ** (-2 / 24)]
    )


def test_the_half_life_stretches_up_to_the_cap():
    assert half_life([0, 10, 50, 51], DEFAULT) == pytest.approx([24, 48, 144, 144])


def test_a_half_life_beyond_all_numbers_forgets_nothing():
    endless = CurveSettings(1e300, 1e300, 50)
    assert missing_degree(1e6, 50, endless) == 0


def test_links_decay_with_their_source():
    assert link_strength([0.8, 0.4], 24, 0, DEFAULT) == pytest.approx([0.4, 0.2])


def test_an_update_goes_on_from_a_known_degree():
    assert updated_degree(0.5, 24, 0, DEFAULT) == pytest.approx(0.75)
    assert updated_degree(0.3, 0, 0, DEFAULT) == pytest.approx(0.3)


def test_nan_stays_nan():
    assert np.isnan(missing_degree(np.nan, 0, DEFAULT))


@pytest.mark.parametrize("wrong", [(0, 0.1, 50), (-1, 0.1, 50), (24, -0.1, 50), (24, 0.1, -1)])
def test_settings_outside_their_range_are_refused(wrong):
    with pytest.raises(ValueError, match="half-life > 0"):
        CurveSettings(*wrong)


@pytest.mark.parametrize("name", [name for name in LAW_NAMES if not name.startswith("mask")])
@given(data=st.data(), settings=strategies.curve_settings())
def test_laws_hold_for_every_config(name, data, settings):
    domain = Domain(Subject(EbbinghausForgetter()), settings, [Memory("记忆")], 1e-9)
    law = LAWS[name]
    law.check(domain, **data.draw(st.fixed_dictionaries(dict(law.draw(domain)))))
