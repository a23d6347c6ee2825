"""``check``: validate fixtures without running them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from pytest_soulmem.decoding import read_json, unknown_fields
from pytest_soulmem.faults import Fault, FixtureError
from pytest_soulmem.files import all_places, likely_kind, recognise
from pytest_soulmem.kinds import Kind, kind_of_place
from pytest_soulmem.naming import place_faults
from pytest_soulmem.positions import Positions, text_of
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
        description="Validate fixtures. Errors are what pytest would refuse. Warnings are what it "
        "lets pass and may not be meant: fields that are ignored, files that are not collected, "
        "cases that cannot fail, a threshold that nothing reaches, query texts that are no short "
        "statements. The exit status is 1 if there are errors; with --strict, warnings count too.",
    )
    parser.add_argument("path", nargs="+", type=Path, help="fixture files, graphs or folders")
    parser.add_argument("--json", action="store_true", help="print findings as JSON, for editors")
    parser.add_argument("--strict", action="store_true", help="let warnings count as errors do")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print findings; 1 if one of them counts, 2 if there was nothing to check."""
    missing = [path for path in asked.path if not path.exists()]
    if missing:
        sys.stderr.write(f"there is no {visible(str(missing[0]))}\n")
        return 2
    files = dict(fixtures_in(asked.path))
    findings = [finding for path, named in files.items() for finding in check_file(path, named)]
    findings += [_astray(path, kind) for path, kind in strays_in(asked.path, files)]
    errors = sum(finding.severity == "error" for finding in findings)
    if asked.json:
        shown = msgspec.json.encode([asdict(finding) for finding in findings])
        sys.stdout.write(msgspec.json.format(shown, indent=2).decode() + "\n")
    else:
        for finding in findings:
            sys.stdout.write(f"{finding}\n")
        counts = f"{errors} error(s), {len(findings) - errors} warning(s)"
        sys.stdout.write(f"{len(files)} file(s) checked: {counts}\n")
    if not files:
        folders = visible(", ".join(map(str, asked.path)))
        sys.stderr.write(
            f"there is no fixture in {folders}: fixtures live in {all_places()}, "
            "graphs in graphs/*.json\n"
        )
        return 2
    return int(bool(findings if asked.strict else errors))


def fixtures_in(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """The files named, and in folders those that stand where fixtures and graphs live.

    With each whether it was named: then it is checked even if it does not look like ours.
    """
    for path in paths:
        if path.is_dir():
            yield from ((file, False) for file in _json_files(path) if _has_place(file))
        else:
            yield path, True


def strays_in(paths: Sequence[Path], known: Container[Path]) -> Iterator[tuple[Path, Kind]]:
    """The files in folders that look like fixtures and that pytest would not collect."""
    for folder in filter(Path.is_dir, paths):
        for file in _json_files(folder):
            if file in known or _has_place(file) or _passed_over(file.relative_to(folder)):
                continue
            try:
                kind = likely_kind(read_json(file))
            except FixtureError:
                continue
            if kind:
                yield file, kind


def _json_files(folder: Path) -> list[Path]:
    """In their order; a pipe or a folder of such a name is none, a link to nowhere is wrong."""
    found = sorted(folder.rglob("*.json"))
    return [file for file in found if file.is_file() or not file.exists()]


def _has_place(file: Path) -> bool:
    return bool(kind_of_place(file)) or file.parent.name == "graphs"


def _passed_over(file: Path) -> bool:
    """Whether a folder above a file is one where nobody keeps fixtures."""
    return any(part.startswith(".") or part in _OTHERS for part in file.parent.parts)


_OTHERS = ("build", "dist", "node_modules", "venv")


def _astray(path: Path, kind: Kind) -> Finding:
    message = (
        f"looks like {kind.summary}, but is collected only where it is named: pytest finds "
        f"files of this kind as {' and '.join(kind.places)}"
    )
    return Finding(str(path), 1, 1, "warning", "", "", message)


def check_file(path: Path, named: bool) -> list[Finding]:
    """What is wrong in a file, then what departs from advice."""
    faults, warnings = _examine(path, named)
    told = {fault.place for fault in faults}
    warnings = [warning for warning in warnings if warning.place not in told]
    positions = Positions(text_of(path))
    return [
        Finding(str(path), *positions.of(fault.place), severity, *_parts(fault))
        for severity, found in (("error", faults), ("warning", warnings))
        for fault in found
    ]


def _parts(fault: Fault) -> tuple[str, str, str]:
    return fault.place, fault.owner, fault.message


def _examine(path: Path, named: bool) -> tuple[Sequence[Fault], Sequence[Fault]]:
    try:
        if _is_graph(path):
            return _examine_graph(path)
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


def _examine_graph(path: Path) -> tuple[Sequence[Fault], Sequence[Fault]]:
    from pytest_soulmem.retrieval.graph import Node, read_graph

    ignored = unknown_fields(read_json(path), tuple[Node, ...], "$")
    try:
        read_graph(path)
    except FixtureError as error:
        return error.faults, ignored
    return (), ignored


def _is_graph(path: Path) -> bool:
    return path.parent.name == "graphs" or (
        kind_of_place(path) is None and isinstance(read_json(path), list)
    )
