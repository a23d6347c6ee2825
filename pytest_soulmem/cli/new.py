"""``new``: start a fixture from a minimal valid file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pytest_soulmem.kinds import KINDS

_KINDS = {kind.file: kind for kind in KINDS}


def add_to(commands: Any) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "new",
        help="write a minimal valid fixture",
        description="Write a minimal valid fixture, and a graph beside it where it needs one. "
        "Nothing is overwritten.",
    )
    parser.add_argument("kind", choices=list(_KINDS))
    parser.add_argument("path", type=Path, help="such as fixtures/queries/pets.json")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Write the files; 2 if one of them is there."""
    files: dict[Path, object] = _KINDS[asked.kind].load().example(asked.path)
    taken = [path for path in files if path.exists()]
    if asked.path in taken:
        sys.stderr.write(f"{asked.path} exists; nothing was written\n")
        return 2
    for path, document in files.items():
        if path in taken:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return 0
