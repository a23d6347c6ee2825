"""The words that forgetting is described in: plain data, shared by fixtures and forgetters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

Action: TypeAlias = Literal["NoAction", "MaskOnly", "Revised"]
"""What is decided about a memory, from the weakest to the strongest."""

ACTIONS: tuple[Action, ...] = ("NoAction", "MaskOnly", "Revised")

MemoryKind: TypeAlias = Literal["semantic", "situation"]
"""The memories that forget: a semantic memory's content, a specific situation's narrative."""

PLACEHOLDER = " [masked] "
"""What a masked word is replaced by."""

TRIGGER = 0.05
"""The missing degree from which a memory counts as forgetting."""

LARGEST_COUNT = 2**53
"""Counts up to here are exact as floating-point numbers."""

Hours = Annotated[float, Meta(ge=0)]
"""Hours since the memory was last touched; fractions count."""

Count = Annotated[int, Meta(ge=0, le=LARGEST_COUNT)]
"""How often a memory was retrieved."""


class CurveSettings(Struct, frozen=True):
    """The parameters of the forgetting curve, as the ``config`` of a forget file gives them.

    Args:
        base_half_life_hours: after so many hours half of a never retrieved memory is missing; > 0.
        active_factor: by what share of the base each retrieval lengthens the half-life; ≥ 0.
        max_activation_cap: retrievals beyond this number no longer count; ≥ 0.

    Raises:
        ValueError: a parameter is outside its range.

    Example:
        >>> CurveSettings(base_half_life_hours=12).active_factor
        0.1
    """

    base_half_life_hours: Annotated[float, Meta(gt=0)] = 24.0
    active_factor: Annotated[float, Meta(ge=0)] = 0.1
    max_activation_cap: Count = 50

    def __post_init__(self) -> None:
        numbers = (self.base_half_life_hours, self.active_factor, self.max_activation_cap)
        if not (all(map(math.isfinite, numbers)) and numbers[0] > 0 and min(numbers) >= 0):
            raise ValueError(f"expected a half-life > 0, a factor ≥ 0 and a cap ≥ 0: {numbers}")


@dataclass(frozen=True)
class Memory:
    """A memory that may be forgotten.

    Cases that do not name a kind of memory are about semantic ones.
    """

    text: str
    retrieval_count: int = 0
    kind: MemoryKind = "semantic"
