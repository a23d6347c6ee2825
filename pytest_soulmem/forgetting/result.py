"""What judging a case or a law found, as reports and results files keep it."""

from __future__ import annotations

from statistics import fmean

from msgspec import Struct

from pytest_soulmem.forgetting.terms import Action


class EffectSeen(Struct, frozen=True):
    """What a T5 case saw happen; None where nothing was masked or revised."""

    should_forget: bool
    triggered: bool
    similarity: float | None = None
    revised: bool | None = None
    fallback: str = ""


class System(Struct, frozen=True):
    """What was judged."""

    forgetter: str


class ForgettingResult(Struct, frozen=True, omit_defaults=True):
    """The record of a case (which has an inference) or of a law."""

    inference: str = ""
    law: str = ""
    system: System | None = None
    degrees: tuple[float, ...] = ()
    """The missing degree at each moment or count that the case asked about."""
    actions: tuple[Action, ...] = ()
    effect: EffectSeen | None = None

    @property
    def figures(self) -> dict[str, float]:
        """What means and gates are made of.

        The mean missing degree, and for a T5 case that should forget whether it did: their mean
        is the trigger rate.
        """
        figures = {"missing_degree": fmean(self.degrees)} if self.degrees else {}
        if self.effect and self.effect.should_forget:
            figures["triggered"] = float(self.effect.triggered)
        return figures
