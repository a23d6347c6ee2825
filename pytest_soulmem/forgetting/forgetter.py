"""The reference forgetter, judged where a user gives none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_soulmem.forgetting import curve, masking, process

if TYPE_CHECKING:
    from pytest_soulmem.forgetting.terms import Action, CurveSettings, Memory


class EbbinghausForgetter:
    """Exponential decay with a half-life, three branches, and masking by words.

    Forgets both kinds of memory alike. Derive from it to change one thing only.
    """

    def missing_degree(self, memory: Memory, hours: float, settings: CurveSettings) -> float:
        """1 − 2^(−hours / half-life)."""
        return float(curve.missing_degree(hours, memory.retrieval_count, settings))

    def action(self, memory: Memory, hours: float, settings: CurveSettings) -> Action:
        """What :func:`~pytest_soulmem.forgetting.process.decide` says about the degree."""
        return process.decide(self.missing_degree(memory, hours, settings))

    def mask(self, memory: Memory, missing_degree: float) -> str:
        """The memory's text after :func:`~pytest_soulmem.forgetting.masking.mask`."""
        return masking.mask(memory.text, missing_degree)

    def update(
        self, memory: Memory, missing_degree: float, hours: float, settings: CurveSettings
    ) -> float:
        """The degree some hours after a known one."""
        count = memory.retrieval_count
        return float(curve.updated_degree(missing_degree, hours, count, settings))
