"""What judging a scenario or a law found, as reports and results files keep it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class StepSeen(Struct, frozen=True):
    """One step: what was expected of it, by field, and the outcome that was found."""

    turn: int
    step: int
    expected: dict[str, Any]
    found: dict[str, Any]


class System(Struct, frozen=True):
    """What was judged."""

    reducer: str


class EventsResult(Struct, frozen=True, omit_defaults=True):
    """The record of a scenario or of a law; one of the two is named."""

    scenario: str = ""
    law: str = ""
    system: System | None = None
    terminal_state: str = ""
    """The state that the first judged step was found in."""
    steps: tuple[StepSeen, ...] = ()
    unknown: dict[str, int] = {}
    """How many events there were of each unknown type."""
    disagreements: tuple[tuple[int, int], ...] = ()
    """The steps, as turn and step, whose chunks have another text than a receipt."""
