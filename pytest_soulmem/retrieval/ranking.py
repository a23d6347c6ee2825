"""Cutting and ordering scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DECIMALS = 6
"""Scores are rounded before they are compared: without it, noise in the last bits of a matrix
product decides real ties, of which real data has many."""


def rounded(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores as they are compared, cut and ranked."""
    # As float64 first: six decimals of a float32 are no round numbers. Adding zero turns -0.0
    # into 0.0.
    return np.add(np.round(np.asarray(scores, np.float64), DECIMALS), 0.0)


def best(scores: NDArray[np.float64], limit: int, eligible: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The positions of the ``limit`` highest eligible scores, best first; ties by position."""
    positions = np.flatnonzero(eligible)
    values = scores[positions]
    if limit < len(values):
        last = np.partition(values, len(values) - limit)[len(values) - limit]
        keep = values >= last
        positions, values = positions[keep], values[keep]
    return positions[np.argsort(-values, kind="stable")][:limit]
