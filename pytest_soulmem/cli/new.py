"""``new``: start a fixture from a minimal valid file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting.text import visible

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
    """Write the files; 2 if one of them is there or cannot be written."""
    kind = _KINDS[asked.kind]
    files: dict[Path, object] = kind.load().example(asked.path)
    taken = [path for path in files if path.exists()]
    if asked.path in taken:
        sys.stderr.write(f"{_shown(asked.path)} exists; nothing was written\n")
        return 2
    for path in [path for path in files if path not in taken]:
        try:
            _write(path, files[path])
        except OSError as error:
            reason = error.strerror or type(error).__name__
            sys.stderr.write(f"{_shown(path)} could not be written: {reason}\n")
            return 2
        sys.stdout.write(f"wrote {_shown(path)}\n")
    if not kind.claims(asked.path.resolve()):
        sys.stderr.write(
            f"pytest finds files of this kind as {' and '.join(kind.places)}; "
            f"this one runs only where it is named: pytest {_shown(asked.path)}\n"
        )
    return 0


def _write(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _shown(path: Path) -> str:
    return visible(str(path))
