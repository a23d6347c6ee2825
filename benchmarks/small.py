"""Every benchmark once, on little data, so that none rots: ``python benchmarks/small.py``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    ["pagerank.py", "--small"],
    ["suite.py", "--small"],
    ["reporting.py", "--small"],
    ["workers.py", "--small"],
    ["startup.py", "--small"],
    ["forgetting.py"],
)


def main() -> None:
    """Run them; the first that fails ends the run."""
    for name, *flags in SCRIPTS:
        print(f"\n{name}", flush=True)
        subprocess.run([sys.executable, Path(__file__).with_name(name), *flags], check=True)


if __name__ == "__main__":
    main()
