"""Pausing the garbage collector."""

import gc

import pytest

from pytest_soulmem.collector import collector_paused


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
