from __future__ import annotations

import pytest

from pytest_soulmem.forgetting.process import decide, revise

MASKED = "机器 [masked] 是"


@pytest.mark.parametrize(
    ("degree", "action"),
    [
        (0.0, "NoAction"),
        (0.049999, "NoAction"),
        (0.05, "MaskOnly"),
        (0.149999, "MaskOnly"),
        (0.15, "Revised"),
        (1.0, "Revised"),
    ],
)
def test_decision(degree, action):
    assert decide(degree) == action


def test_a_revision_completes_the_text():
    revision = revise(MASKED, lambda masked: masked.replace(" [masked] ", "学习"))
    assert (revision.text, revision.fallback) == ("机器学习是", "")


def _raises(_masked):
    raise RuntimeError("no model")


@pytest.mark.parametrize(
    ("reviser", "reason"),
    [
        (None, "no reviser"),
        (_raises, "the reviser raised RuntimeError"),
        (lambda _: None, "the reviser returned nothing"),
        (lambda _: "  ", "the reviser returned nothing"),
        (lambda _: 3, "the reviser returned int, not text"),
        (lambda masked: masked.strip() + "!", "the reviser left a placeholder in"),
        (lambda _: "机器[masked]是", "the reviser left a placeholder in"),
    ],
)
def test_without_a_usable_revision_the_text_stays_masked(reviser, reason):
    revision = revise(MASKED, reviser)
    assert (revision.text, revision.fallback) == (MASKED, reason)
