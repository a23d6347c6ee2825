"""Pausing the garbage collector."""

import gc

import pytest

from pytest_soulmem.collector import collector_paused, made_so_far_spared


def test_it_is_paused_and_goes_on():
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    with pytest.raises(ValueError, match="wrong"), collector_paused():
        raise ValueError("wrong")
    assert gc.isenabled()


def test_one_that_was_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_was_made_before_is_spared_and_handed_back():
    with made_so_far_spared():
        assert gc.get_freeze_count()
        made_within = []
        assert any(made_within is thing for thing in gc.get_objects())
    assert not gc.get_freeze_count()


def test_what_others_spare_stays_spared():
    gc.freeze()
    try:
        with made_so_far_spared():
            assert gc.get_freeze_count()
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
