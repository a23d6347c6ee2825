"""How sure a mean is: percentile bootstrap over cases.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), through scipy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CONFIDENCE = 0.95
_RESAMPLES = 2000
_SEED = 20240229
"""The same cases give the same interval in every run."""


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval that holds the mean of further such cases with 95 % confidence.

    For paired differences it is the paired bootstrap. One case, or equal values, tell nothing
    about spread: then both ends are the mean.
    """
    if len(values) < 2 or min(values) == max(values):
        mean = sum(values) / len(values)
        return mean, mean
    # Imported here: it costs most of a second.
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.array(values),),
        np.mean,
        n_resamples=_RESAMPLES,
        batch=max(1, 10_000_000 // len(values)),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return float(found.low), float(found.high)
