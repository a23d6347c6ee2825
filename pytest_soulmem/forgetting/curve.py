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
    counted = np.minimum(_floats(retrieval_count), settings.max_activation_cap)
    with np.errstate(over="ignore"):
        stretch = 1 + settings.active_factor * counted
        return _same(settings.base_half_life_hours * stretch)


def retention(
    hours: npt.ArrayLike, retrieval_count: npt.ArrayLike, settings: CurveSettings
) -> Floats:
    """The share that is left: R(t) = 2^(−t / h), from 1 down to 0; 1 for t ≤ 0.

    Half an hour counts: t is not truncated to whole hours.
    """
    exponent = np.maximum(_floats(hours), 0.0)
    # In place where it can be: on large arrays, memory traffic costs as much as exp2 does.
    with np.errstate(over="ignore", under="ignore"):
        exponent = exponent / half_life(retrieval_count, settings)
        return _same(_exp2_of_negative(exponent))


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
    left = 1 - _floats(known_degree)
    return _complement(_same(left * retention(hours, retrieval_count, settings)))


def link_strength(
    intensity: npt.ArrayLike,
    hours: npt.ArrayLike,
    retrieval_count: npt.ArrayLike,
    settings: CurveSettings,
) -> Floats:
    """The strength of a link, which decays with its source node: intensity · R(t)."""
    return _same(_floats(intensity) * retention(hours, retrieval_count, settings))


def _floats(values: npt.ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _same(values: Any) -> Floats:
    """A float64 array or scalar, named so: numpy's own types cannot tell the two apart."""
    return values  # type: ignore[no-any-return]


def _exp2_of_negative(exponent: Any) -> Any:
    if isinstance(exponent, np.ndarray):
        np.negative(exponent, out=exponent)
        return np.exp2(exponent, out=exponent)
    return np.exp2(-exponent)


def _complement(values: Floats) -> Floats:
    if isinstance(values, np.ndarray):
        return np.subtract(1.0, values, out=values)
    return _same(1.0 - values)
