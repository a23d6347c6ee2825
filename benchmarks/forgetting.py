"""How fast the forgetting curve is, against numpy's own ``exp2`` on as many points.

Run it as ``python benchmarks/forgetting.py``; it prints one table. The curve is judged by its
ratio to ``exp2`` in the same run, so the machine does not matter much; the target is 5.
"""

from __future__ import annotations

import platform
import timeit

import numpy as np

from pytest_soulmem.forgetting.curve import link_strength, missing_degree, updated_degree
from pytest_soulmem.forgetting.masking import mask
from pytest_soulmem.forgetting.terms import CurveSettings
from pytest_soulmem.reporting.table import Table, lines

POINTS = 1_000_000
TARGET = 5.0


def best(work, repeat=15):
    """The fastest of several runs, in milliseconds: the others were disturbed."""
    return min(timeit.repeat(work, number=1, repeat=repeat)) * 1e3


def main():
    generator = np.random.default_rng(7)
    hours = generator.random(POINTS) * 1000
    counts = generator.integers(0, 200, POINTS)
    floats = counts.astype(np.float64)
    known = generator.random(POINTS)
    exponents = -hours / 24
    settings = CurveSettings()
    work = {
        "numpy exp2": lambda: np.exp2(exponents),
        "missing degree, one count": lambda: missing_degree(hours, 3, settings),
        "missing degree, counts (int64)": lambda: missing_degree(hours, counts, settings),
        "missing degree, counts (float64)": lambda: missing_degree(hours, floats, settings),
        "step-by-step update": lambda: updated_degree(known, hours, counts, settings),
        "link strength": lambda: link_strength(known, hours, counts, settings),
    }
    # In turns, so that whatever else the machine does disturbs all of them alike.
    rounds = [{name: best(call, 1) for name, call in work.items()} for _ in range(20)]
    fastest = {name: min(took[name] for took in rounds) for name in work}
    base = fastest["numpy exp2"]
    rows = [
        (name, f"{took:.2f}", f"{took / base:.2f}", "" if took <= TARGET * base else "too slow")
        for name, took in fastest.items()
    ]
    print(f"{POINTS:,} points; numpy {np.__version__}, Python {platform.python_version()}")
    print("\n".join(lines(Table(("", "ms", "times exp2", ""), rows))))
    text = "张三上个月去杭州出差在西湖边吃了东坡肉和龙井虾仁" * 10
    mask(text, 0.5)  # loads the dictionary
    print(f"masking a text of {len(text)} characters: {best(lambda: mask(text, 0.5)):.3f} ms")


if __name__ == "__main__":
    main()
