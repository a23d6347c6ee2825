"""How sure a mean is: percentile bootstrap over cases.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), through scipy; for groups,
Davison and Hinkley, Bootstrap Methods and their Application (1997), section 3.8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
_RESAMPLES = 2000
_SEED = 20240229
"""The same cases give the same interval in every run."""


def grouped_interval(groups: Mapping[str, Sequence[float]]) -> tuple[float, float]:
    """As :func:`mean_interval`, where the values of a group are no news of each other.

    Such are those of one case with several weight sets: whole groups are drawn, for as many sets
    as one likes make no more cases. The mean is that of all values.
    """
    sums = np.array([sum(values) for values in groups.values()], float)
    sizes = np.array([len(values) for values in groups.values()], float)
    if (sizes == sizes[0]).all():
        return mean_interval((sums / sizes).tolist())
    return _interval(
        sums, sizes, statistic=lambda total, size, axis: total.sum(axis) / size.sum(axis)
    )


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval that holds the mean of further such cases with 95 % confidence.

    For paired differences it is the paired bootstrap. One case, or equal values, tell nothing
    about spread: then both ends are the mean.
    """
    if len(values) < 2 or min(values) == max(values):
        mean = sum(values) / len(values)
        return mean, mean
    return _interval(np.array(values), statistic=np.mean)


def _interval(*samples: NDArray[np.float64], statistic: Callable[..., Any]) -> tuple[float, float]:
    """Of several samples the same places are drawn from each."""
    # Imported here: it costs most of a second.
    from scipy.stats import bootstrap

    found = bootstrap(
        samples,
        statistic,
        paired=len(samples) > 1,
        n_resamples=_RESAMPLES,
        batch=max(1, 10_000_000 // len(samples[0])),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return float(found.low), float(found.high)
