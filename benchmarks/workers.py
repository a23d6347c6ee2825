"""What a second process gains: ``python benchmarks/workers.py [--small]``.

pytest over generated cases that cost more than 20 ms each, with every vector in the store: alone,
and with ``-n 2`` of pytest-xdist, in turn. Each worker reads the graph for itself.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from suite import Scene, make, ours, run

SCENE = Scene("one of 5,000 nodes", 1, 5_000, 100, 30, 10, "1.6", runs=3)
SMALL = Scene("one small graph", 1, 50, 10, 2, 2, "-", runs=1)


def row(scene: Scene) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(scene, folder)
        ours(folder)  # Fills the store.
        alone, shared, empty = [], [], []
        for _ in range(scene.runs):
            alone.append(ours(folder).wall)
            shared.append(ours(folder, "-n", "2").wall)
            empty.append(run(folder, "empty", "-p", "no:soulmem").wall)
    one, two = statistics.median(alone), statistics.median(shared)
    each = 1000 * (one - statistics.median(empty)) / scene.items
    return (
        f"| {scene.name}, {scene.sub_queries} sub-queries a case | {scene.items:,} | {each:.0f} |"
        f" {one:.1f} | {two:.1f} | {one / two:.2f} | {scene.target} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small data, for a quick check")
    scene = SMALL if parser.parse_args().small else SCENE
    print("| scene | items | ours per item, ms | alone, s | -n 2, s | times faster | target |")
    print("|---|" + "---:|" * 6)
    print(row(scene), flush=True)


if __name__ == "__main__":
    main()
