"""What judging a forgetting case or law gives, as plain data for reports."""

from __future__ import annotations

from msgspec import Struct

from pytest_soulmem.forgetting.inferences import EffectSeen


class ForgettingResult(Struct, frozen=True, omit_defaults=True):
    """A judged case (``inference`` is its kind) or law, or a case with faults (``broken``)."""

    inference: str = ""
    law: str = ""
    broken: bool = False
    forgetter: str = ""
    degrees: tuple[float, ...] = ()
    """The missing degrees that were seen, in the order of the case's moments or counts."""
    actions: tuple[str, ...] = ()
    effect: EffectSeen | None = None
