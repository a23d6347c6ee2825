"""What helps to write event files: faults without a run, the schema, an example."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_soulmem.cases import faults_of
from pytest_soulmem.decoding import items_of, unknown_fields
from pytest_soulmem.events.fixture import (
    SCHEMA_VERSION,
    EventDocument,
    ScenarioDocument,
    load_event_file,
)
from pytest_soulmem.events.stream import (
    CHUNK,
    ERROR,
    MESSAGE,
    ErrorEvent,
    FinishEvent,
    MessageEvent,
    TextEvent,
)
from pytest_soulmem.faults import Fault, FixtureError
from pytest_soulmem.schemas import json_schema


def faults(path: Path, document: object) -> Sequence[Fault]:
    """Everything that is wrong in an event file and its scenarios."""
    try:
        return faults_of(load_event_file(path, document).scenarios)
    except FixtureError as error:
        return error.faults


def advice(path: Path, document: object) -> Sequence[Fault]:
    """Fields that are ignored; a stream itself may hold what it likes."""
    found = unknown_fields(document, EventDocument, "$")
    for place, raw in items_of(document, "scenarios", "$"):
        found += unknown_fields(raw, ScenarioDocument, place)
    return found


def schema() -> dict[str, Any]:
    """The JSON Schema of an event file; events of unknown types may have any shape."""
    found = json_schema(EventDocument)
    parts = json_schema(ScenarioDocument, TextEvent, FinishEvent, MessageEvent, ErrorEvent)
    found["$defs"] |= parts["$defs"]
    own = found["$defs"]["EventDocument"]["properties"]
    own["schema_version"] = {"const": SCHEMA_VERSION}
    own["scenarios"]["items"] = {"$ref": "#/$defs/ScenarioDocument"}
    found["$defs"]["ScenarioDocument"]["properties"]["events"]["items"] = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string"}},
        "allOf": [
            _where(TextEvent, type=CHUNK, chunk="text"),
            _where(FinishEvent, type=CHUNK, chunk="finish"),
            _where(MessageEvent, type=MESSAGE),
            _where(ErrorEvent, type=ERROR),
        ],
    }
    return found


def _where(event: type, *, type: str, chunk: str = "") -> dict[str, Any]:  # noqa: A002
    """The rule that events of a type, and of a type of chunk, are written in one way."""
    condition: dict[str, Any] = {"properties": {"type": {"const": type}}}
    if chunk:
        tagged = {"properties": {"type": {"const": chunk}}, "required": ["type"]}
        condition["properties"]["data"] = {"properties": {"chunk": tagged}, "required": ["chunk"]}
        condition["required"] = ["data"]
    return {"if": condition, "then": {"$ref": f"#/$defs/{event.__name__}"}}


def example(path: Path) -> dict[Path, object]:
    """An event file of one scenario."""
    here = {"turn": 1, "step": 1}
    source = {"provider": "synthetic", "model": "fixture-model"}
    answer = {"type": "text", "text": "Good evening."}
    return {
        path: {
            "schema_version": SCHEMA_VERSION,
            "scenarios": [
                {
                    "scenario_id": "a finish and a message complete an answer",
                    "events": [
                        {"type": CHUNK, "data": {**here, "chunk": answer}},
                        {
                            "type": CHUNK,
                            "data": {
                                **here,
                                "chunk": {"type": "finish", "reason": {"kind": "stop"}},
                            },
                        },
                        {
                            "type": MESSAGE,
                            "data": {**here, "message": {"source": source, "content": [answer]}},
                        },
                    ],
                    "expected": {
                        "terminal_state": "completed",
                        "finish_reason": "stop",
                        "usage_state": "unknown",
                        "final_text": "Good evening.",
                    },
                }
            ],
        }
    }
