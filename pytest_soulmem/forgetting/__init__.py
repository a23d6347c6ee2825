"""Forgetting: fixtures, the reference curve, and how forgetting code is judged.

Importing this package costs next to nothing; the reference forgetter lives in
:mod:`pytest_soulmem.forgetting.forgetter`.
"""

from pytest_soulmem.forgetting.protocols import Forgetter, Masks, Reviser, Updates
from pytest_soulmem.forgetting.terms import PLACEHOLDER, Action, CurveSettings, Memory, MemoryKind

__all__ = [
    "PLACEHOLDER",
    "Action",
    "CurveSettings",
    "Forgetter",
    "Masks",
    "Memory",
    "MemoryKind",
    "Reviser",
    "Updates",
]
