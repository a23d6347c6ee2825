"""What a second process gains: ``python benchmarks/workers.py [--small]``.

pytest over generated cases that cost more than 20 ms each, with every vector in the store: alone,
with ``-n 2`` of pytest-xdist, and two whole runs at once, in turn. Each worker reads the graph for
itself. Two runs that have nothing to do with each other show what the machine gives to a second
process: no worker can gain more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from suite import Scene, make, ours, run

SCENES = (
    Scene("one of 5,000 nodes", 1, 5_000, 100, 40, 10, "1.6", runs=3),
    Scene("one of 5,000 nodes", 1, 5_000, 100, 80, 10, "1.6", runs=3),
)
SMALL = (Scene("one small graph", 1, 50, 10, 2, 2, "-", runs=1),)


def two_at_once(folder: Path) -> float:
    """Seconds until two runs that begin together have ended, each on a core of its own."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    begin = time.perf_counter()
    with ThreadPoolExecutor() as pool:
        list(pool.map(ours, [folder, folder]))
    del os.environ["OPENBLAS_NUM_THREADS"]
    return time.perf_counter() - begin


def row(scene: Scene) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(scene, folder)
        ours(folder)  # Fills the store.
        alone, shared, both, empty = [], [], [], []
        for _ in range(scene.runs):
            alone.append(ours(folder).wall)
            shared.append(ours(folder, "-n", "2").wall)
            both.append(two_at_once(folder))
            empty.append(run(folder, "empty", "-p", "no:soulmem").wall)
    one, two, twice = map(statistics.median, (alone, shared, both))
    each = 1000 * (one - statistics.median(empty)) / scene.items
    return (
        f"| {scene.name}, {scene.sub_queries} sub-queries a case | {scene.items:,} | {each:.0f} |"
        f" {one:.1f} | {two:.1f} | {one / two:.2f} | {2 * one / twice:.2f} | {scene.target} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small data, for a quick check")
    scenes = SMALL if parser.parse_args().small else SCENES
    print(
        "| scene | items | ours per item, ms | alone, s | -n 2, s | times faster"
        " | two runs at once | target |"
    )
    print("|---|" + "---:|" * 7)
    for scene in scenes:
        print(row(scene), flush=True)


if __name__ == "__main__":
    main()
