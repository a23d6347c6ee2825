"""What reports cost: ``python benchmarks/reporting.py [--small]``.

pytest over 1,000 generated cases, with every vector in the store: with the terminal report alone,
with each kind of file, and with all. The share is that of gathering details and writing reports in
all the processor time of the same run (``clock.py``); the median of several runs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from suite import Scene, make, ours

SCENES = (
    Scene("25 small graphs", 25, 50, 40, 2, 1, "10 %", runs=3),
    Scene("one of 5,000 nodes", 1, 5_000, 200, 5, 5, "10 %", runs=3),
)
SMALL = (Scene("one small graph", 1, 50, 20, 2, 1, "-", runs=1),)

FILES = {
    "terminal": [],
    "JSON": ["--soulmem-json=out.json"],
    "Markdown": ["--soulmem-md=out.md"],
    "HTML": ["--soulmem-html=out.html"],
    "all": ["--soulmem-json=out.json", "--soulmem-html=out.html", "--soulmem-md=out.md"],
}


def share(folder: Path, options: list[str]) -> tuple[float, float]:
    """Reporting in percent of a run, and the seconds of the whole."""
    said = ours(folder, "-p", "clock", *options).output.split()
    spent, whole = float(said[-3]), float(said[-1])
    return 100 * spent / whole, whole


def row(scene: Scene) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(scene, folder)
        ours(folder)  # Fills the store.
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in FILES}
        for _ in range(scene.runs):
            for name, own in runs.items():
                own.append(share(folder, FILES[name]))
    shares = [f"{statistics.median(one for one, _ in own):.1f}" for own in runs.values()]
    whole = statistics.median(seconds for _, seconds in runs["all"])
    return (
        f"| {scene.name} | {scene.items:,} | {whole:.1f} | {' | '.join(shares)} | {scene.target} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small data, for a quick check")
    scenes = SMALL if parser.parse_args().small else SCENES
    print(f"| scene | items | with all, s | {', % | '.join(FILES)}, % | target |")
    print("|---|" + "---:|" * (3 + len(FILES)))
    for scene in scenes:
        print(row(scene), flush=True)


if __name__ == "__main__":
    main()
