"""What reports cost: ``python benchmarks/reporting.py [--small]``.

pytest over 1,000 generated cases, with every vector in the store: without a file, and with each
kind of file, in turn. The share of reporting is what a run takes longer, to gather the details of
every case and to write them, in all that it takes; by processor time.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from suite import Run, Scene, least, make, ours

SCENES = (
    Scene("25 small graphs", 25, 50, 40, 2, 1, "10 %", runs=3),
    Scene("one of 5,000 nodes", 1, 5_000, 200, 5, 5, "10 %", runs=3),
)
SMALL = (Scene("one small graph", 1, 50, 20, 2, 1, "-", runs=1),)

FILES = {
    "JSON": ["--soulmem-json=out.json"],
    "HTML": ["--soulmem-html=out.html"],
    "Markdown": ["--soulmem-md=out.md"],
    "all": ["--soulmem-json=out.json", "--soulmem-html=out.html", "--soulmem-md=out.md"],
}


def row(scene: Scene) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(scene, folder)
        ours(folder)  # Fills the store.
        runs: dict[str, list[Run]] = {name: [] for name in ("none", *FILES)}
        for _ in range(scene.runs):
            for name, own in runs.items():
                own.append(ours(folder, *FILES.get(name, ())))
    spent = {name: least(own).processor for name, own in runs.items()}
    shares = (f"{100 * (1 - spent['none'] / spent[name]):.1f}" for name in FILES)
    return f"| {scene.name} | {scene.items:,} | {spent['none']:.2f} | {' | '.join(shares)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small data, for a quick check")
    scenes = SMALL if parser.parse_args().small else SCENES
    print(f"| scene | items | without, s | {', % | '.join(FILES)}, % |")
    print("|---|" + "---:|" * (2 + len(FILES)))
    for scene in scenes:
        print(row(scene), flush=True)


if __name__ == "__main__":
    main()
