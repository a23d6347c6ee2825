"""Nonsense from a user's forgetter is told as theirs, in words."""

# Doubles of a forgetter need not read all that they are told.

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
from pytest_soulmem.forgetting.subject import Subject, as_reviser, as_subject
from pytest_soulmem.forgetting.terms import CurveSettings, Memory
from pytest_soulmem.users_code import Misbehaviour, ask_hook

MEMORY = Memory("记忆", 3)
SETTINGS = CurveSettings()


class Answering(EbbinghausForgetter):
    def __init__(self, answer):
        self.answer = answer

    def missing_degree(self, memory, hours, settings):
        return self.answer

    action = missing_degree

    def mask(self, memory, missing_degree):
        return self.answer


def degree_of(answer):
    return Subject(Answering(answer)).missing_degree(MEMORY, 1.5, SETTINGS)


@pytest.mark.parametrize("answer", [0, 0.25, np.float32(0.25), np.array(0.25), 1.5])
def test_numbers_of_any_type_are_taken(answer):
    assert type(degree_of(answer)) is float
    assert degree_of(answer) == answer


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (math.nan, "returned nan"),
        (math.inf, "returned inf"),
        (None, "returned None"),
        (True, "returned True"),
        ("0.5", "returned '0.5'"),
        ([0.5], "returned [0.5]"),
        (np.zeros(3), "returned an array of shape (3,)"),
        (np.zeros((1, 1)), "returned an array of shape (1, 1)"),
        (10**400, "raised OverflowError"),
        ("x" * 100, "returned an object of type str"),
    ],
)
def test_anything_else_is_refused(answer, shown):
    with pytest.raises(Misbehaviour) as caught:
        degree_of(answer)
    assert f"forgetting.test_subject.Answering.missing_degree {shown}" in caught.value.reason
    assert "1.5 h, retrieval_count 3, half-life 24 h, factor 0.1, cap 50" in caught.value.details


@pytest.mark.parametrize("answer", ["Mask", "maskonly", None, 1, np.zeros(2)])
def test_only_the_three_actions_are_taken(answer):
    with pytest.raises(Misbehaviour, match=r"one of NoAction, MaskOnly, Revised"):
        Subject(Answering(answer)).action(MEMORY, 1, SETTINGS)


def test_only_text_is_a_masked_text():
    with pytest.raises(Misbehaviour, match="returned None; expected the masked text"):
        Subject(Answering(None)).mask(MEMORY, 0.5)


class Raising(EbbinghausForgetter):
    def missing_degree(self, memory, hours, settings):
        return self.helper()

    def helper(self):
        raise KeyError("gone")


def test_an_error_comes_with_the_users_traceback_alone():
    with pytest.raises(Misbehaviour) as caught:
        Subject(Raising()).missing_degree(MEMORY, 1, SETTINGS)
    assert "Raising.missing_degree raised KeyError: 'gone'" in caught.value.reason
    frames = [line for line in caught.value.details.splitlines() if line.startswith("  File")]
    assert [frame.rsplit(" ", 1)[1] for frame in frames] == ["missing_degree", "helper"]


def test_a_hook_that_raises_is_told():
    with pytest.raises(Misbehaviour, match="the hook h raised ZeroDivisionError"):
        ask_hook("h", lambda: 1 / 0)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (EbbinghausForgetter, "the class EbbinghausForgetter, not an instance"),
        (3, "which has no method missing_degree and action"),
        (type("Half", (), {"action": lambda: 0})(), "no method missing_degree$"),
    ],
)
def test_what_is_no_forgetter_is_refused(returned, message):
    with pytest.raises(Misbehaviour, match=message):
        as_subject(returned)


def test_what_is_no_reviser_is_refused():
    assert as_reviser(None) is None
    assert as_reviser(str.upper) is str.upper
    with pytest.raises(Misbehaviour, match="expected a function of the masked text"):
        as_reviser("gpt")
