"""What judging a case or a law found, as reports and results files keep it."""

from __future__ import annotations

from statistics import fmean

from msgspec import Struct

from pytest_soulmem.forgetting.terms import Action, CurveSettings


class Point(Struct, frozen=True):
    """What the forgetter said about a memory at one moment."""

    hours: float
    retrieval_count: int
    degree: float
    action: Action | None = None
    """None where the case does not ask for the decision."""


class Expected(Struct, frozen=True, omit_defaults=True):
    """What a case itself says should be found, beyond what its inference demands."""

    degree: float | None = None
    tolerance: float | None = None
    should_forget: bool | None = None
    min_action: Action | None = None


class EffectSeen(Struct, frozen=True):
    """What a T5 case saw happen; None where nothing was masked or revised."""

    should_forget: bool
    triggered: bool
    similarity: float | None = None
    revised: bool | None = None
    fallback: str = ""
    masked_text: str | None = None
    revised_text: str | None = None


class System(Struct, frozen=True):
    """What was judged."""

    forgetter: str


class ForgettingResult(Struct, frozen=True, omit_defaults=True):
    """The record of a case (which has an inference) or of a law."""

    inference: str = ""
    law: str = ""
    system: System | None = None
    text: str = ""
    curve: CurveSettings | None = None
    points: tuple[Point, ...] = ()
    """One for each moment or count that the case asked about."""
    expected: Expected | None = None
    effect: EffectSeen | None = None

    @property
    def figures(self) -> dict[str, float]:
        """What means and gates are made of.

        The mean missing degree, and for a T5 case that should forget whether it did: their mean
        is the trigger rate.
        """
        degrees = [point.degree for point in self.points]
        figures = {"missing_degree": fmean(degrees)} if degrees else {}
        if self.effect and self.effect.should_forget:
            figures["triggered"] = float(self.effect.triggered)
        return figures
