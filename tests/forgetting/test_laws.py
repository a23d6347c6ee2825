"""A forgetter that breaks a law is caught by that law, with a small counterexample."""

# Doubles of a forgetter need not read all that they are told.

from __future__ import annotations

import math
import random

import hypothesis
import pytest

from forgetting.helpers import TEXT
from pytest_soulmem.forgetting.fixture import LAW_NAMES
from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
from pytest_soulmem.forgetting.laws import LAWS, Domain, still_masked, try_law
from pytest_soulmem.forgetting.subject import Subject
from pytest_soulmem.forgetting.terms import PLACEHOLDER, CurveSettings, Memory
from pytest_soulmem.users_code import Misbehaviour


@pytest.fixture(autouse=True)
def _no_database():
    """Counterexamples of one test must not reach another."""
    current = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile("laws", database=None, derandomize=True)
    hypothesis.settings.load_profile("laws")
    yield
    hypothesis.settings.load_profile(current)


def domain_of(forgetter, tolerance=1e-9, settings=None, text=TEXT):
    return Domain(Subject(forgetter), settings or CurveSettings(), [Memory(text)], tolerance)


def test_every_law_is_there():
    assert tuple(LAWS) == LAW_NAMES


@pytest.mark.parametrize("name", LAW_NAMES)
@pytest.mark.parametrize(
    "settings",
    [
        CurveSettings(),
        CurveSettings(1e-9, 0, 0),
        CurveSettings(5e-324, 0, 1),
        CurveSettings(1e308, 1e308, 2**53),
    ],
    ids=str,
)
def test_the_built_in_forgetter_obeys(name, settings):
    assert try_law(name, domain_of(EbbinghausForgetter(), settings=settings), "k") is None


class Shifted(EbbinghausForgetter):
    """Changes what it is asked before it answers."""

    def __init__(self, change):
        self.change = change

    def missing_degree(self, memory, hours, settings):
        return self.change(super().missing_degree, memory, hours, settings)


def _power_law(_ask, memory, hours, settings):
    capped = min(memory.retrieval_count, settings.max_activation_cap)
    half = settings.base_half_life_hours * (1 + settings.active_factor * capped)
    return 1 - 1 / (1 + hours / half)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("bounds", lambda ask, *args: ask(*args) * 1.5),
        ("bounds", lambda ask, *args: 0.1 + 0.9 * ask(*args)),
        ("monotone-in-time", lambda ask, memory, hours, s: ask(memory, hours % 24, s)),
        ("half-life", lambda ask, memory, hours, s: ask(memory, hours * 1.01, s)),
        ("composition", _power_law),
        ("scale", lambda ask, memory, hours, _: ask(memory, hours, CurveSettings())),
        ("incremental", _power_law),
    ],
)
def test_a_change_is_caught_by_its_law(name, change):
    failure = try_law(name, domain_of(Shifted(change)), "k")
    assert failure is not None
    assert failure.text.startswith(f"law {name} is broken: ")
    assert f'"laws": {{"{name}": false}}' in failure.text


def test_a_power_law_obeys_all_but_the_exponential_laws():
    broken = {name for name in LAW_NAMES if try_law(name, domain_of(Shifted(_power_law)), "k")}
    assert broken == {"composition", "incremental"}


def test_the_tolerance_of_the_file_counts_for_equalities():
    nearly = Shifted(lambda ask, *args: round(ask(*args), 4))
    assert try_law("composition", domain_of(nearly), "k") is not None
    assert try_law("composition", domain_of(nearly, tolerance=1e-3), "k") is None


def test_a_counterexample_is_shrunk():
    truncating = Shifted(lambda ask, memory, hours, s: ask(memory, math.floor(hours), s))
    text = try_law("composition", domain_of(truncating), "k").text
    assert "retrieval_count 0" in text
    assert "  a = " in text
    assert "  b = " in text
    assert len(text.splitlines()) < 15
    assert "hypothesis" not in text.lower()


def test_a_forgetter_of_moods_is_told_to_be_one():
    answers = iter([0.0, 2.0] + [0.0] * 10**6)
    moody = Shifted(lambda *_: next(answers))
    failure = try_law("bounds", domain_of(moody), "k")
    assert "the same arguments must always give the same result" in failure.text


def test_masks_that_differ_from_time_to_time_are_caught():
    class Dice(EbbinghausForgetter):
        def mask(self, memory, missing_degree):
            dice = (random.random() < missing_degree for _ in memory.text)  # noqa: S311
            pairs = zip(memory.text, dice, strict=True)
            return "".join(PLACEHOLDER if masked else word for word, masked in pairs)

    assert try_law("mask-nested", domain_of(Dice()), "k") is not None


def test_nonsense_is_raised_not_reported_as_a_broken_law():
    with pytest.raises(Misbehaviour, match="returned nan"):
        try_law("bounds", domain_of(Shifted(lambda *_: math.nan)), "k")


@pytest.mark.parametrize(
    ("less", "more", "expected"),
    [
        ("abc", "abc", True),
        ("abc", "a [masked] c", True),
        ("a [masked] c", "a [masked]  [masked] ", True),
        ("a [masked] c", " [masked]  [masked] c", True),
        ("a [masked] c", "abc", False),
        ("a [masked] c", " [masked] bc", False),
        ("a [masked] c", " [masked] c", False),
        (" [masked]  [masked] ", " [masked] ", False),
        ("abc", "ab", False),
        ("", "", True),
    ],
)
def test_still_masked(less, more, expected):
    assert still_masked(less, more) is expected


def test_seeds_and_profiles_are_heard():
    def asked(key, max_examples):
        seen = []
        spy = Shifted(lambda ask, memory, hours, s: seen.append(hours) or ask(memory, hours, s))
        hypothesis.settings.register_profile(
            "few", database=None, derandomize=True, max_examples=max_examples
        )
        hypothesis.settings.load_profile("few")
        try_law("composition", domain_of(spy), key)
        return seen

    assert len(asked("k", 5)) <= 15 < len(asked("k", 50))
    assert asked("k", 20) == asked("k", 20)
    assert asked("k", 20) != asked("other file", 20)
