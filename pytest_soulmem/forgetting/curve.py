"""The forgetting curve: exponential decay in real-valued hours, in double precision.

Every function takes numbers or arrays that broadcast against each other, and returns a float64
array of the common shape (a float64 scalar for scalars). NaN gives NaN.

Source: H. Ebbinghaus, *Über das Gedächtnis* (1885), in the half-life form of SoulMem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from pytest_soulmem.forgetting.terms import CurveSettings

Floats: TypeAlias = npt.NDArray[np.float64]


def half_life(retrieval_count: npt.ArrayLike, settings: CurveSettings) -> Floats:
    """The half-life in hours: base · (1 + factor · min(retrieval_count, cap)).

    Infinite where that overflows.
    """
    stretch = np.minimum(retrieval_count, settings.max_activation_cap, dtype=np.float64)
    with np.errstate(over="ignore"):
        stretch = _in_place(np.multiply, stretch, settings.active_factor)
        stretch = _in_place(np.add, stretch, 1.0)
        return _in_place(np.multiply, stretch, settings.base_half_life_hours)


def retention(
    hours: npt.ArrayLike, retrieval_count: npt.ArrayLike, settings: CurveSettings
) -> Floats:
    """The share that is left: R(t) = 2^(−t / h), from 1 down to 0; 1 for t ≤ 0.

    Half an hour counts: t is not truncated to whole hours.
    """
    elapsed = np.maximum(hours, 0.0, dtype=np.float64)
    # The sign goes to the half-life, which is often a single number.
    negative = _in_place(np.negative, half_life(retrieval_count, settings))
    with np.errstate(over="ignore", under="ignore"):
        exponent = _in_place(np.divide, elapsed, negative)
        return _in_place(np.exp2, exponent)


def missing_degree(
    hours: npt.ArrayLike, retrieval_count: npt.ArrayLike, settings: CurveSettings
) -> Floats:
    """The share that is missing: m = 1 − R(t), from 0 up to 1.

    Example:
        >>> float(missing_degree(24, 0, CurveSettings()))
        0.5
    """
    return _complement(retention(hours, retrieval_count, settings))


def updated_degree(
    known_degree: npt.ArrayLike,
    hours: npt.ArrayLike,
    retrieval_count: npt.ArrayLike,
    settings: CurveSettings,
) -> Floats:
    """The missing degree ``hours`` after it was m₀: m = 1 − (1 − m₀) · R(hours).

    So a memory can be aged step by step, without knowing when it was made.
    """
    left = np.subtract(1.0, known_degree, dtype=np.float64)
    return _complement(_in_place(np.multiply, retention(hours, retrieval_count, settings), left))


def link_strength(
    intensity: npt.ArrayLike,
    hours: npt.ArrayLike,
    retrieval_count: npt.ArrayLike,
    settings: CurveSettings,
) -> Floats:
    """The strength of a link, which decays with its source node: intensity · R(t)."""
    left = retention(hours, retrieval_count, settings)
    return _in_place(np.multiply, left, np.asarray(intensity, dtype=np.float64))


def _complement(values: Floats) -> Floats:
    if isinstance(values, np.ndarray):
        return np.subtract(1.0, values, out=values)
    return np.subtract(1.0, values)


def _in_place(operation: np.ufunc, first: Any, *others: Any) -> Floats:
    """An operation in the memory of its first argument, where that has the result's shape.

    On large arrays, fresh memory costs as much as ``exp2`` does.
    """
    result: Floats
    if isinstance(first, np.ndarray) and _shape_of(first, *others) == first.shape:
        result = operation(first, *others, out=first)
    else:
        result = operation(first, *others)
    return result


def _shape_of(*values: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*map(np.shape, values))
