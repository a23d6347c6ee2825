"""What helps to write forget files: faults without a run, the schema, an example."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_soulmem.cases import faults_of
from pytest_soulmem.decoding import items_of, unknown_fields
from pytest_soulmem.faults import Fault, FixtureError
from pytest_soulmem.forgetting.fixture import CASE_TYPES, ForgetDocument, load_forget_file
from pytest_soulmem.schemas import json_schema


def faults(path: Path, document: object) -> Sequence[Fault]:
    """Everything that is wrong in a forget file and its cases."""
    try:
        return faults_of(load_forget_file(path, document).cases)
    except FixtureError as error:
        return error.faults


def advice(path: Path, document: object) -> Sequence[Fault]:
    """Fields that are ignored; the texts of memories may be worded as they like."""
    found = unknown_fields(document, ForgetDocument, "$")
    for place, raw in items_of(document, "test_cases", "$"):
        kind = CASE_TYPES.get(str(raw.get("kind")))
        found += unknown_fields(raw, kind, place) if kind else ()
    return found


def schema() -> dict[str, Any]:
    """The JSON Schema of a forget file."""
    found = json_schema(ForgetDocument)
    cases = json_schema(*CASE_TYPES.values())
    found["$defs"] |= cases["$defs"]
    found["$defs"]["ForgetDocument"]["properties"]["test_cases"]["items"] = {
        "anyOf": cases["anyOf"]
    }
    return found


def example(path: Path) -> dict[Path, object]:
    """A forget file of one case."""
    return {
        path: {
            "name": path.stem,
            "description": "what these cases test",
            "config": {
                "base_half_life_hours": 24.0,
                "active_factor": 0.1,
                "max_activation_cap": 50,
            },
            "test_cases": [
                {
                    "kind": "magnitude",
                    "name": "half of it is gone after a half-life",
                    "text": "We met at the harbour cafe on a rainy afternoon",
                    "time_offset_hours": 24,
                    "expected_missing_degree": 0.5,
                    "tolerance": 0.01,
                    "retrieval_count": 0,
                }
            ],
        }
    }
