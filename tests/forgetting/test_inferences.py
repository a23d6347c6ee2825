"""Each inference holds and breaks for its own reason, and says so."""

# Doubles of a forgetter need not read all that they are told.

from __future__ import annotations

import math

import pytest

from forgetting.helpers import TEXT, case, found_in
from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter


class Given(EbbinghausForgetter):
    """Degrees from a table by hours, or by count."""

    def __init__(self, degrees, by="hours", **answers):
        self.degrees = degrees
        self.by = by
        self.answers = answers

    def missing_degree(self, memory, hours, settings):
        return self.degrees[hours if self.by == "hours" else memory.retrieval_count]

    def action(self, memory, hours, settings):
        return self.answers.get("action") or super().action(memory, hours, settings)

    def mask(self, memory, missing_degree):
        return self.answers.get("mask") or super().mask(memory, missing_degree)


@pytest.mark.parametrize("kind", ["time_monotonic", "activation", "magnitude", "branch", "effect"])
def test_the_built_in_forgetter_holds(kind):
    assert found_in(case(kind)).violations == ()


def test_t1_names_the_two_points():
    finding = found_in(case("time_monotonic"), Given({0: 0.0, 6: 0.75, 24: 0.5}))
    assert finding.violations == (
        "the missing degree falls by 0.25 between 6 h (0.75) and 24 h (0.5)",
    )
    assert finding.details == (
        "hours  missing degree",
        "    0               0  |                        |",
        "    6            0.75  |##################      |",
        "   24             0.5  |############            |  <- falls",
    )


def test_t1_does_not_mind_rounding_or_standing_still():
    flat = Given({0: 0.5, 6: 0.5 - 1e-12, 24: 0.5})
    assert found_in(case("time_monotonic"), flat).violations == ()


def test_t2_sorts_before_it_judges():
    shuffled = case("activation", activation_counts=[200, 0, 5])
    assert found_in(shuffled).violations == ()
    assert found_in(shuffled).degrees == pytest.approx(
        (0.75, 0.603149737, 0.206299474, 0.206299474)
    )


def test_t2_names_the_two_counts():
    rising = Given({0: 0.25, 5: 0.5, 50: 0.5, 200: 0.5}, by="count")
    finding = found_in(case("activation"), rising)
    assert finding.violations == (
        "the missing degree rises by 0.25 between 0 activations (0.25) and 5 (0.5)",
    )
    assert finding.details[0] == "after 48 h:"
    assert finding.details[3].endswith("<- breaks the rule")


def test_t2_asks_about_the_cap_to_see_flatness():
    uncapped = Given({0: 0.5, 5: 0.5, 50: 0.5, 200: 0.25}, by="count")
    assert found_in(case("activation"), uncapped).violations == (
        "not flat past the cap: 200 activations give 0.25, the cap of 50 gives 0.5",
    )


@pytest.mark.parametrize(
    ("degree", "holds"), [(0.49, True), (0.51, True), (0.489999, False), (0.510001, False)]
)
def test_t3_allows_the_tolerance_itself(degree, holds):
    assert (found_in(case(), Given({24: degree})).violations == ()) is holds


def test_t3_says_by_how_much_it_missed():
    finding = found_in(case(), Given({24: 0.75}))
    assert finding.violations == (
        "after 24 h the missing degree is 0.75, 0.25 above the expected 0.5 (tolerance 0.01)",
    )
    assert finding.details[-1] == "found                      0.75  |##################      |"


def test_t4_names_the_moment_and_its_branch():
    finding = found_in(case("branch"), Given({0: 0.0, 4: 0.2, 96: 0.9}))
    assert finding.violations == (
        "the moment 4 h (missing degree 0.2) falls in Revised, not in MaskOnly",
    )
    assert finding.actions == ("NoAction", "Revised", "Revised")
    assert finding.details[2] == "    4             0.2  MaskOnly  Revised   <-"


def test_t5_forgets_against_expectation():
    kept = case("effect", expected={"should_forget": False, "min_action": "NoAction"})
    assert found_in(kept).violations == (
        "after 96 h the memory forgets (missing degree 0.9375), but should not",
    )


@pytest.mark.parametrize(("degree", "triggered"), [(0.05, True), (math.nextafter(0.05, 0), False)])
def test_t5_is_triggered_from_the_threshold_on(degree, triggered):
    finding = found_in(case("effect"), Given({96: degree}, action="MaskOnly"))
    assert finding.effect.triggered is triggered
    assert bool(finding.violations) is not triggered


def test_t5_decided_too_weakly():
    finding = found_in(case("effect"), Given({96: 0.9}, action="NoAction"))
    assert finding.violations == ("after 96 h the decision is NoAction, weaker than MaskOnly",)


def test_t5_shows_the_text_before_and_after():
    finding = found_in(case("effect"), Given({96: 0.9}, mask=TEXT))
    assert finding.violations == (
        "after 96 h the memory forgets, but its masked text is as similar as before",
    )
    assert f"before: {TEXT}" in finding.details
    assert f"masked: {TEXT}" in finding.details


def test_t5_reports_the_revision():
    revised = found_in(case("effect"), reviser=lambda _: "机器学习")
    assert revised.effect.revised is True
    assert "revised: 机器学习" in revised.details
    kept = found_in(case("effect"), reviser=lambda _: None)
    assert (kept.effect.revised, kept.effect.fallback) == (False, "the reviser returned nothing")
    assert kept.violations == ()


def test_t5_asks_no_reviser_where_masking_was_decided():
    finding = found_in(case("effect", time_offset_hours=4), reviser=lambda _: 1 / 0)
    assert finding.actions == ("MaskOnly",)
    assert finding.effect.revised is None


def test_t5_without_masking_judges_the_rest():
    class Bare:
        def missing_degree(self, memory, hours, settings):
            return 0.5

        def action(self, memory, hours, settings):
            return "Revised"

    finding = found_in(case("effect"), Bare())
    assert finding.violations == ()
    assert finding.effect.similarity is None


def test_the_forgetter_learns_which_memory_it_is_about():
    seen = []

    class Spy(EbbinghausForgetter):
        def action(self, memory, hours, settings):
            seen.append(memory)
            return super().action(memory, hours, settings)

    found_in(case("effect", mem_kind="situation", retrieval_count=2), Spy())
    assert (seen[0].kind, seen[0].retrieval_count, seen[0].text) == ("situation", 2, TEXT)
