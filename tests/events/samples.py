"""Short ways to write events and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "events"
DOCUMENT = FIXTURES / "model_events.json"
EDGES = FIXTURES / "model_events_edges.json"


def _event(kind: str, at: tuple[int, int], **fields: Any) -> dict[str, Any]:
    return {"type": kind, "data": {"turn": at[0], "step": at[1], **fields}}


def text(words: str, at: tuple[int, int] = (1, 1)) -> dict[str, Any]:
    return _event("assistant/chunk", at, chunk={"type": "text", "text": words})


def finish(kind: str, at: tuple[int, int] = (1, 1)) -> dict[str, Any]:
    return _event("assistant/chunk", at, chunk={"type": "finish", "reason": {"kind": kind}})


def message(words: str, at: tuple[int, int] = (1, 1), **data: Any) -> dict[str, Any]:
    source = {"provider": "synthetic", "model": "fixture-model"}
    own = {"source": source, "content": [{"type": "text", "text": words}]}
    return _event("assistant/message", at, message=own, **data)


def error(code: str, at: tuple[int, int] = (1, 1)) -> dict[str, Any]:
    return _event("assistant/error", at, error={"code": code, "message": "上游不可用"})


def scenario(*events: Any, name: str = "one", **fields: Any) -> dict[str, Any]:
    fields.setdefault("expected", {"terminal_state": "completed"})
    return {"scenario_id": name, "events": list(events), **fields}


def file(*scenarios: Any, **fields: Any) -> dict[str, Any]:
    return {
        "schema_version": "muse-fixture-model-events-v1",
        "scenarios": list(scenarios),
        **fields,
    }


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
