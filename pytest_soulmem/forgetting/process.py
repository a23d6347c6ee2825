"""The steps of forgetting after the curve: deciding, and revising what was masked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_soulmem.forgetting.terms import PLACEHOLDER, TRIGGER, Action

if TYPE_CHECKING:
    from pytest_soulmem.forgetting.protocols import Reviser

REVISION_TRIGGER = 0.15
"""The missing degree from which masking alone no longer does."""

NO_REVISER = "no reviser"


def decide(missing_degree: float) -> Action:
    """NoAction below 0.05, MaskOnly below 0.15, else Revised."""
    if missing_degree < TRIGGER:
        return "NoAction"
    return "MaskOnly" if missing_degree < REVISION_TRIGGER else "Revised"


@dataclass(frozen=True)
class Revision:
    """A revised text, or the masked one and the reason why it stayed masked."""

    text: str
    fallback: str = ""


def revise(masked: str, reviser: Reviser | None) -> Revision:
    """Let a reviser complete a masked text; with none, or if it fails, the text stays masked.

    A reviser fails when it raises, returns nothing, or leaves a placeholder in.
    """
    if reviser is None:
        return Revision(masked, NO_REVISER)
    try:
        text: object = reviser(masked)
    except Exception as error:
        return Revision(masked, f"the reviser raised {type(error).__name__}")
    if text is None or (isinstance(text, str) and not text.strip()):
        return Revision(masked, "the reviser returned nothing")
    if not isinstance(text, str):
        return Revision(masked, f"the reviser returned {type(text).__name__}, not text")
    if PLACEHOLDER.strip() in text:
        return Revision(masked, "the reviser left a placeholder in")
    return Revision(text)
