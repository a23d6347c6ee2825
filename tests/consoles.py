"""Console sessions of the documentation: what a reader types after ``$``, and what is printed.

A line ``…`` stands for output that is left out; what stands between two of them is printed in one
piece. Commands run in a folder with this project's fixtures and examples.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from projects import LEAKING

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LEFT_OUT = "…"


def sessions(page: Path) -> list[str]:
    """The console sessions of a page."""
    return re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def commands(session: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a session, and the lines that are shown of its output."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        while command.endswith("\\"):
            command = command[:-1] + shown.pop(0).removeprefix("> ")
        yield command, shown


class Console:
    """A folder with the fixtures and examples of this project, and what ``$`` does in it."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self._folder = folder
        self._status = 0
        for name in ("fixtures", "examples"):
            shutil.copytree(ROOT / name, folder / name)
        (folder / "pytest.ini").write_text("[pytest]\nsoulmem_embedder = e5\n", "utf-8")
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")

    def run(self, command: str) -> list[str]:
        """What a command prints, line by line."""
        program, *arguments = shlex.split(command)
        if program == "cat":
            return (self._folder / arguments[0]).read_text("utf-8").splitlines()
        if program == "echo":
            return [str(self._status)]
        return self._python(["-m", "pytest", *arguments] if program == "pytest" else arguments)

    def _python(self, arguments: Sequence[str]) -> list[str]:
        environment = {name: value for name, value in os.environ.items() if name not in LEAKING}
        # The texts of the fixtures are embedded once for all sessions.
        vectors = ROOT / ".pytest_cache" / "d" / "soulmem" / "vectors.sqlite3"
        environment |= {"COLUMNS": "80", "PYTEST_ADDOPTS": f"--soulmem-vectors={vectors}"}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self._folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self._status = done.returncode
        return [line.rstrip() for line in done.stdout.splitlines()]


def missing(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The first piece of what is shown that was not printed, after the pieces before it."""
    rest = list(printed)
    for piece in _pieces(shown):
        starts = [at for at in range(len(rest)) if rest[at : at + len(piece)] == piece]
        if not starts:
            return piece
        rest = rest[starts[0] + len(piece) :]
    return []


def _pieces(shown: Sequence[str]) -> Iterator[list[str]]:
    piece: list[str] = []
    for line in [*shown, LEFT_OUT]:
        if line != LEFT_OUT:
            piece.append(line)
        elif piece:
            yield piece
            piece = []
