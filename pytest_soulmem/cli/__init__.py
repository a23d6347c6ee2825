"""The command line beside pytest: check fixtures, print schemas, explain a case, start a file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from pytest_soulmem.cli import check, new, schema, show

COMMANDS = (check, schema, show, new)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 for what was found wrong, 2 for wrong usage."""
    parser = argparse.ArgumentParser(
        prog="python -m pytest_soulmem", description="Work with SoulMem fixtures."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    asked, rest = parser.parse_known_args(arguments)
    asked.rest = rest
    others = [word for word in rest if not word.startswith("--soulmem-")]
    if others or (rest and asked.run is not show.run):
        parser.error(f"unrecognized arguments: {' '.join(others or rest)}")
    try:
        status: int = asked.run(asked)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads, such as head, has had enough; Python must not try again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status
