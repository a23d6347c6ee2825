"""What the tests of the archive chain share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis  # noqa: F401 - extension modules do not bear a second import in inner runs
import numpy  # noqa: F401

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.fixture import ArchiveFile, Scenario, load_archive_file
from pytest_soulmem.archive.host import Opener
from pytest_soulmem.archive.scenario import Outcome, run_scenario
from pytest_soulmem.archive.subject import Subject, as_subject

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "archive"
FILES = sorted(path.stem for path in FIXTURES.glob("*.json"))

FLAG = {
    "name": "flag",
    "mime": "image/png",
    "text": "三色旗",
    "description": "**三色旗**，自上而下",
}
NOTES = {"name": "notes", "text": "看到了：\n{marker:flag}"}
PUT = {"step": "put", "media": "flag", "context": "chat"}
TRANSFER = {"step": "transfer", "context": "chat", "document": "notes"}
ARCHIVE = {"step": "archive", "document": "notes"}


def opener(chain: Callable[..., Any] = SqliteChain) -> Opener:
    """Opens chains of a class."""
    return lambda path, clock: as_subject(chain(path, clock))


def subject(path: Path, clock: Callable[[], float], chain: Any = SqliteChain) -> Subject:
    """A chain, asked with care."""
    return Subject(chain(path, clock))


def load(name: str) -> ArchiveFile:
    """One of our own fixtures."""
    path = FIXTURES / f"{name}.json"
    return load_archive_file(path, json.loads(path.read_text(encoding="utf-8")))


def document(*steps: object, **changes: Any) -> dict[str, Any]:
    """An archive file with one scenario; a change to None drops the field."""
    whole = {
        "name": "n",
        "description": "d",
        "media": [FLAG],
        "documents": [NOTES],
        "test_cases": [{"name": "case", "steps": list(steps) or [PUT, TRANSFER, ARCHIVE]}],
        **changes,
    }
    return {name: value for name, value in whole.items() if value is not None}


def outcome(*steps: object, chain: Any = SqliteChain, **changes: Any) -> Outcome:
    """What running a scenario finds."""
    file = load_archive_file(Path("x.json"), document(*steps, **changes))
    scenario = file.cases[0]
    assert isinstance(scenario, Scenario), scenario
    return run_scenario(scenario, file.cast, opener(chain))


def failing(name: str, chain: Any) -> list[str]:
    """The scenarios of a file of ours that a chain fails."""
    file = load(name)
    return [
        case.name
        for case in file.cases
        if isinstance(case, Scenario) and run_scenario(case, file.cast, opener(chain)).failure
    ]


def write(path: Path, content: object) -> None:
    """Write a JSON file, and the folder that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
