"""Everything a run found, as one versioned document."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting import unread
from pytest_soulmem.reporting.gather import COMMON_FIELDS, Record
from pytest_soulmem.reporting.text import each_text
from pytest_soulmem.schemas import json_schema

if TYPE_CHECKING:
    from pytest_soulmem.settings import Settings

SCHEMA: Literal["pytest-soulmem-results-v1"] = "pytest-soulmem-results-v1"


_OF_NO_CONCERN = ("server_url", "insisted", "rows")
"""Settings that tell a reader of results nothing, as paths do: where things are, who asked."""


class CaseFailure(Struct, frozen=True):
    """Why a case failed: one line, and the text that the terminal showed."""

    reason: str
    text: str


class CaseResult(Struct, frozen=True):
    """One case; ``result`` is what its kind found, empty where it could not run."""

    nodeid: str
    file: str
    kind: str
    outcome: Literal["passed", "failed", "skipped", "error"]
    seconds: float
    failure: CaseFailure | None
    result: dict[str, Any]
    figures: dict[str, float]
    """Its metrics by name, such as ``recall@5``."""
    variation: str
    """The label of its weight set; empty where nothing is swept."""
    fingerprint: str
    """Changes when what is asked or expected changes."""


class Mean(Struct, frozen=True):
    """The means of one file and weight set, over the cases that have each figure.

    ``cases`` counts negative cases too, which have no figures, but pass.
    """

    file: str
    variation: str
    cases: int
    passed: int
    figures: dict[str, float]


class CollectionError(Struct, frozen=True):
    """A file that could not be used."""

    nodeid: str
    text: str


class Results(Struct, frozen=True):
    """A run."""

    schema: Literal["pytest-soulmem-results-v1"]
    version: str
    started: str
    """When the run began, in ISO 8601, UTC."""
    seconds: float
    settings: dict[str, Any]
    cases: tuple[CaseResult, ...]
    means: tuple[Mean, ...]
    errors: tuple[CollectionError, ...]


def build_results(
    records: Iterable[Record], errors: Mapping[str, str], started: datetime, settings: Settings
) -> Results:
    """The document of a run that began at ``started`` and ends now."""
    cases = [case_result(record) for record in records]
    return Results(
        schema=SCHEMA,
        version=metadata.version("pytest-soulmem"),
        started=started.isoformat(timespec="seconds"),
        seconds=(datetime.now(timezone.utc) - started).total_seconds(),
        settings={
            name: _plain(value)
            for name, value in settings._asdict().items()
            if value is not None and not isinstance(value, Path) and name not in _OF_NO_CONCERN
        },
        cases=tuple(cases),
        means=tuple(means_of(cases)),
        errors=tuple(CollectionError(nodeid, text) for nodeid, text in errors.items()),
    )


def _plain(value: object) -> object:
    """A setting as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def case_result(record: Record) -> CaseResult:
    """A case's record as the document has it."""
    failure = record.get("failure")
    return CaseResult(
        nodeid=record["nodeid"],
        file=record["nodeid"].split("::")[0],
        kind=record["kind"],
        outcome=record["outcome"],
        seconds=record["seconds"],
        failure=CaseFailure(*failure) if failure else None,
        result={name: value for name, value in record.items() if name not in COMMON_FIELDS},
        figures=record["figures"],
        variation=record["variation"],
        fingerprint=record["fingerprint"],
    )


def means_of(cases: Sequence[CaseResult]) -> list[Mean]:
    """The means per file and weight set, in the order of the cases."""
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in cases:
        if case.figures or case.result.get("negative"):
            groups.setdefault((case.file, case.variation), []).append(case)
    return [
        Mean(
            file,
            variation,
            len(own),
            sum(case.outcome == "passed" for case in own),
            mean_figures(case.figures for case in own),
        )
        for (file, variation), own in groups.items()
    ]


def mean_figures(figures: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure over those that have it."""
    values: dict[str, list[float]] = {}
    for own in figures:
        for name, value in own.items():
            values.setdefault(name, []).append(value)
    return {name: sum(listed) / len(listed) for name, listed in values.items()}


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file in one step: a reader sees the old content or the new, never a part.

    A link stays, and the file it leads to is written; a file keeps its permissions. A pipe, a
    device, or what this process itself prints to (``/dev/stdout``, wherever that leads) cannot be
    replaced: it is written into.

    Raises:
        OSError: it cannot be written.
    """
    there = _status(path)
    printed_to = _own_output(there) if there else None
    if printed_to is not None:
        # Through the descriptor, which knows where what is printed next belongs.
        with os.fdopen(os.dup(printed_to), "wb") as file:
            file.write(data)
        return
    if there and not stat.S_ISREG(there.st_mode):
        path.write_bytes(data)
        return
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".soulmem-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # A temporary file is private; a report is not.
        Path(name).chmod(stat.S_IMODE(there.st_mode) if there else 0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _status(path: Path) -> os.stat_result | None:
    """What stands at a path, behind all links; None if nothing does."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _own_output(there: os.stat_result) -> int | None:
    """The descriptor of this process' standard output or error, if the file is one of them."""
    for descriptor in (1, 2):
        with suppress(OSError):  # It may be closed.
            if os.path.samestat(there, os.fstat(descriptor)):
                return descriptor
    return None


def encode(results: Results) -> bytes:
    """The document as JSON in UTF-8, indented."""
    try:
        encoded = msgspec.json.encode(results)
    except UnicodeEncodeError:  # Rare, and looking for it in every text would take long.
        encoded = msgspec.json.encode(each_text(unread.read(results), _without_halves))
    return msgspec.json.format(encoded, indent=1) + b"\n"


def _without_halves(text: str) -> str:
    r"""The text with half characters, which no UTF-8 can hold, shown as ``\uNNNN``.

    They come from what users' code says, and from file names that are no UTF-8.
    """
    return text.encode("utf-8", "backslashreplace").decode()


def read_results(path: Path) -> Results:
    """Read a results file.

    Raises:
        OSError: it cannot be read.
        msgspec.MsgspecError: it is no results document of this version.
    """
    return msgspec.json.decode(path.read_bytes(), type=Results)


def results_schema() -> dict[str, Any]:
    """The JSON Schema of the document; ``result`` by kind."""
    schema = json_schema(Results)
    found = json_schema(*(kind.load().Result for kind in KINDS))
    schema["$defs"] |= found["$defs"]
    schema["$defs"]["CaseResult"]["properties"]["result"] = {
        "anyOf": [*found["anyOf"], {"maxProperties": 0}]
    }
    return schema
