"""What helps to write archive files: faults without a run, the schema, an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_soulmem.archive.fixture import ArchiveDocument, RawScenario, load_archive_file
from pytest_soulmem.archive.steps import STEP_TYPES
from pytest_soulmem.cases import faults_of
from pytest_soulmem.decoding import items_of, unknown_fields
from pytest_soulmem.faults import Fault, FixtureError
from pytest_soulmem.schemas import json_schema


def faults(path: Path, document: object) -> Sequence[Fault]:
    """Everything that is wrong in an archive file and its scenarios."""
    try:
        return faults_of(load_archive_file(path, document).cases)
    except FixtureError as error:
        return error.faults


def advice(path: Path, document: object) -> Sequence[Fault]:
    """Fields that are ignored; scenarios may be told as one likes."""
    found = unknown_fields(document, ArchiveDocument, "$")
    for place, raw in items_of(document, "test_cases", "$"):
        found += unknown_fields(raw, RawScenario, place)
        for at, step in items_of(raw, "steps", place):
            found += _unknown_in_step(step, at)
    return found


def _unknown_in_step(raw: Mapping[str, object], place: str) -> list[Fault]:
    kind = STEP_TYPES.get(str(raw.get("step")))
    found = unknown_fields(raw, kind, place) if kind else []
    during = raw.get("during")
    return found + (_unknown_in_step(during, f"{place}.during") if isinstance(during, dict) else [])


def schema() -> dict[str, Any]:
    """The JSON Schema of an archive file."""
    found = json_schema(ArchiveDocument)
    scenarios = json_schema(RawScenario)
    steps = json_schema(*STEP_TYPES.values())
    definitions = found["$defs"]
    definitions |= scenarios["$defs"] | steps["$defs"]
    any_scenario = {"$ref": "#/$defs/RawScenario"}
    any_step = {"anyOf": steps["anyOf"]}
    definitions["ArchiveDocument"]["properties"]["test_cases"]["items"] = any_scenario
    definitions["RawScenario"]["properties"]["steps"]["items"] = any_step
    definitions["CrashAt"]["properties"]["during"] = any_step
    return found


def example(path: Path) -> dict[Path, object]:
    """An archive file of one scenario."""
    return {
        path: {
            "name": path.stem,
            "description": "what these scenarios test",
            "media": [
                {
                    "name": "flag",
                    "mime": "image/png",
                    "text": "stands for the bytes of an image",
                    "description": "a flag of three stripes",
                }
            ],
            "documents": [
                {
                    "name": "notes",
                    "text": "The user sent a picture.\n{marker:flag}",
                    "triples": [{"subject": "user", "relation": "sent", "object": "picture"}],
                }
            ],
            "test_cases": [
                {
                    "name": "the picture can be recalled",
                    "steps": [
                        {"step": "put", "media": "flag", "context": "chat"},
                        {"step": "transfer", "context": "chat", "document": "notes"},
                        {
                            "step": "archive",
                            "document": "notes",
                            "expect": {"document": "gone", "released": ["flag"]},
                        },
                        {
                            "step": "recall",
                            "entity": "{entity:flag}",
                            "expect": {"recalled": ["flag"]},
                        },
                    ],
                }
            ],
        }
    }
