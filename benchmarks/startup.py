"""What an unrelated project feels of the plugin: ``python benchmarks/startup.py [--small]``.

A project of 200 tests runs with the plugin installed, and with ``-p no:soulmem``, in turn; the
order changes from pair to pair. pytest's other plugins stay out of both, since they are no part of
the question and cost more than it. The figure is the median of the differences within pairs, over
the median of the runs without: what slows a machine for a while slows both halves of a pair.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = 200


def make(folder: Path) -> None:
    """Ten files of twenty tests, and a JSON file that is nobody's fixture."""
    for number in range(10):
        tests = "\n\n".join(
            f"def test_{one}():\n    assert {one} + 1 == {one + 1}\n" for one in range(TESTS // 10)
        )
        (folder / f"test_part_{number}.py").write_text(tests)
    (folder / "data.json").write_text('{"unrelated": true}')
    (folder / "pytest.ini").write_text("[pytest]\n")


def processor_seconds(folder: Path, *arguments: str) -> float:
    """One run's processor time: of the wall clock, others on the machine have their share."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:hypothesispytest"]
    process = subprocess.Popen(
        [*command, *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("the project's tests did not pass")
    return used.ru_utime + used.ru_stime


def pairs(folder: Path, count: int) -> list[tuple[float, float]]:
    """Seconds with and without the plugin."""
    found = []
    for number in range(count):
        if number % 2:
            without = processor_seconds(folder, "-p", "no:soulmem")
            found.append((processor_seconds(folder), without))
        else:
            with_it = processor_seconds(folder)
            found.append((with_it, processor_seconds(folder, "-p", "no:soulmem")))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="few runs, for a quick check")
    count = 2 if parser.parse_args().small else 40
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder)
        pairs(folder, 1)  # Compiles what is imported.
        found = pairs(folder, count)
    without = statistics.median(own for _, own in found)
    difference = statistics.median(with_it - own for with_it, own in found)
    print("| tests | pairs of runs | without, ms | the plugin adds, ms | in % | target |")
    print("|---:|---:|---:|---:|---:|---|")
    print(
        f"| {TESTS} | {count} | {without * 1e3:.0f} | {difference * 1e3:.1f} |"
        f" {100 * difference / without:.1f} | below 1 |"
    )


if __name__ == "__main__":
    main()
