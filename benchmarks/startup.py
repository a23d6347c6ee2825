"""What an unrelated project feels of the plugin: ``python benchmarks/startup.py [--small]``.

A project of 200 tests runs with the plugin installed, and with ``-p no:soulmem``, in turn; the
order changes from pair to pair. The figure is the median of the differences within pairs, over the
median of the runs without: what slows a machine for a while slows both halves of a pair. Single
runs differ by a fifth, so that it takes many pairs to see one in a hundred; the interval says what
was seen. ``--instructions`` counts the processor's instructions instead, which no neighbour
changes; it needs valgrind, and only one run of each.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = 200
WITHOUT = ("-p", "no:soulmem")


def make(folder: Path) -> None:
    """Ten files of twenty tests, and a JSON file that is nobody's fixture."""
    for number in range(10):
        tests = "\n\n".join(
            f"def test_{one}():\n    assert {one} + 1 == {one + 1}\n" for one in range(TESTS // 10)
        )
        (folder / f"test_part_{number}.py").write_text(tests)
    (folder / "data.json").write_text('{"unrelated": true}')
    (folder / "pytest.ini").write_text("[pytest]\n")


def environment() -> dict[str, str]:
    """Bytecode is kept, and sets have one order in all runs."""
    kept = {**os.environ, "PYTHONHASHSEED": "0"}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept


def processor_seconds(folder: Path, *arguments: str) -> float:
    """One run's processor time: of the wall clock, others on the machine have their share."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("the project's tests did not pass")
    return used.ru_utime + used.ru_stime


def instructions(folder: Path, *arguments: str) -> int:
    """How many instructions a run executes."""
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    done = subprocess.run(
        [*valgrind, sys.executable, "-m", "pytest", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None:
        raise SystemExit(f"valgrind did not say how many:\n{done.stderr}")
    return int(counted[1])


def pairs(folder: Path, count: int) -> list[tuple[float, float]]:
    """Seconds with and without the plugin."""
    found = []
    for number in range(count):
        if number % 2:
            without = processor_seconds(folder, *WITHOUT)
            found.append((processor_seconds(folder), without))
        else:
            with_it = processor_seconds(folder)
            found.append((with_it, processor_seconds(folder, *WITHOUT)))
    return found


def median_and_interval(values: list[float]) -> tuple[float, float, float]:
    """The median, and between which ranks it lies in 95 of 100 such samples."""
    ranked = sorted(values)
    reach = math.ceil(0.98 * math.sqrt(len(ranked)))
    middle = len(ranked) // 2
    low, high = max(0, middle - reach), min(len(ranked) - 1, middle + reach)
    return statistics.median(ranked), ranked[low], ranked[high]


def by_time(folder: Path, count: int) -> None:
    """Print the table of processor time."""
    found = pairs(folder, count)
    base = statistics.median(without for _, without in found)
    added, low, high = median_and_interval([with_it - without for with_it, without in found])
    print("| tests | pairs of runs | without, ms | the plugin adds, ms | in % | 95 % | target |")
    print("|---:|---:|---:|---:|---:|---|---|")
    print(
        f"| {TESTS} | {count} | {base * 1e3:.0f} | {added * 1e3:.1f} | {100 * added / base:.1f} |"
        f" {100 * low / base:.1f} to {100 * high / base:.1f} | below 1 |"
    )


def by_instructions(folder: Path) -> None:
    """Print the table of instructions."""
    base = instructions(folder, *WITHOUT)
    added = instructions(folder) - base
    print("| tests | without, million instructions | the plugin adds | in % | target |")
    print("|---:|---:|---:|---:|---|")
    print(
        f"| {TESTS} | {base / 1e6:.0f} | {added / 1e6:.1f} | {100 * added / base:.2f} | below 1 |"
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="few runs, for a quick check")
    parser.add_argument("--instructions", action="store_true", help="count instructions instead")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder)
        pairs(folder, 1)  # Compiles what is imported.
        if asked.instructions:
            by_instructions(folder)
        else:
            by_time(folder, 2 if asked.small else 150)


if __name__ == "__main__":
    main()
