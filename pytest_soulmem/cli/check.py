"""``check``: validate fixtures without running them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from pytest_soulmem.decoding import read_json
from pytest_soulmem.faults import Fault, FixtureError
from pytest_soulmem.files import recognise
from pytest_soulmem.kinds import kind_of_place
from pytest_soulmem.naming import place_faults
from pytest_soulmem.positions import position
from pytest_soulmem.reporting.text import visible


@dataclass(frozen=True)
class Finding:
    """Something in a file that is wrong, or departs from advice."""

    file: str
    line: int
    column: int
    severity: str
    place: str
    owner: str
    message: str

    def __str__(self) -> str:
        fault = Fault(self.place, self.message, self.owner)
        return visible(f"{self.file}:{self.line}:{self.column}: {self.severity}: {fault}")


def add_to(commands: Any) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "check",
        help="validate fixtures without running them",
        description="Validate fixtures. The exit status is 1 if there are errors; warnings about "
        "the wording of queries do not count.",
    )
    parser.add_argument("path", nargs="+", type=Path, help="fixture files, graphs or folders")
    parser.add_argument("--json", action="store_true", help="print findings as JSON, for editors")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print findings; 1 if one of them is an error."""
    missing = [path for path in asked.path if not path.exists()]
    if missing:
        sys.stderr.write(f"there is no {visible(str(missing[0]))}\n")
        return 2
    files = dict(fixtures_in(asked.path))
    findings = [finding for path, named in files.items() for finding in check_file(path, named)]
    errors = sum(finding.severity == "error" for finding in findings)
    if asked.json:
        shown = msgspec.json.encode([asdict(finding) for finding in findings])
        sys.stdout.write(msgspec.json.format(shown, indent=2).decode() + "\n")
    else:
        for finding in findings:
            sys.stdout.write(f"{finding}\n")
        counts = f"{errors} error(s), {len(findings) - errors} warning(s)"
        sys.stdout.write(f"{len(files)} file(s) checked: {counts}\n")
    return int(errors > 0)


def fixtures_in(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """The files named, and in folders those that stand where fixtures and graphs live.

    With each whether it was named: then it is checked even if it does not look like ours.
    """
    for path in paths:
        if path.is_dir():
            yield from (
                (file, False)
                for file in sorted(path.rglob("*.json"))
                if (kind_of_place(file) or file.parent.name == "graphs")
                # A pipe or a folder of such a name is none; a link that leads nowhere is wrong.
                and (file.is_file() or not file.exists())
            )
        else:
            yield path, True


def check_file(path: Path, named: bool) -> list[Finding]:
    """What is wrong in a file, then what departs from advice."""
    faults, warnings = _examine(path, named)
    text = _text(path)
    return [
        Finding(str(path), *position(text, fault.place), severity, *_parts(fault))
        for severity, found in (("error", faults), ("warning", warnings))
        for fault in found
    ]


def _parts(fault: Fault) -> tuple[str, str, str]:
    return fault.place, fault.owner, fault.message


def _examine(path: Path, named: bool) -> tuple[Sequence[Fault], Sequence[Fault]]:
    try:
        if _is_graph(path):
            from pytest_soulmem.retrieval.graph import read_graph

            read_graph(path)
            return (), ()
        found = recognise(path, named=named)
        if found is None:
            # At our places pytest leaves alone what it cannot decode; who checks wants to know.
            read_json(path)
            return (), ()
        kind = found.kind.load()
        faults = [*place_faults(str(path)), *kind.faults(path, found.document)]
        return faults, kind.advice(path, found.document)
    except FixtureError as error:
        return error.faults, ()


def _is_graph(path: Path) -> bool:
    return path.parent.name == "graphs" or (
        kind_of_place(path) is None and isinstance(read_json(path), list)
    )


def _text(path: Path) -> str:
    """The file's text for finding lines; nothing for one that is not text."""
    try:
        return path.read_text("utf-8-sig") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return ""
