"""What the tests of forgetting share.

numpy, hypothesis and the segmenter are imported here, so that runs inside a run need not import
them again: extension modules do not bear that.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis  # noqa: F401
import numpy  # noqa: F401
import rjieba  # noqa: F401

from pytest_soulmem.forgetting.fixture import load_forget_file
from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
from pytest_soulmem.forgetting.inferences import Finding, Trial, examine
from pytest_soulmem.forgetting.subject import Subject

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "forget"

TEXT = "机器学习是人工智能的一个重要分支"

CASES: dict[str, dict[str, Any]] = {
    "time_monotonic": {"time_offsets_hours": [0, 6, 24]},
    "activation": {"activation_counts": [0, 5, 200], "time_offset_hours": 48},
    "magnitude": {"time_offset_hours": 24, "expected_missing_degree": 0.5, "tolerance": 0.01},
    "branch": {"time_offsets_hours": [0, 4, 96]},
    "effect": {
        "mem_kind": "semantic",
        "time_offset_hours": 96,
        "expected": {"should_forget": True, "min_action": "MaskOnly"},
    },
}


def case(kind: str = "magnitude", **changes: Any) -> dict[str, Any]:
    """A case that the built-in forgetter passes, changed; a change to None drops the field."""
    whole = {"kind": kind, "name": kind, "text": TEXT, **CASES.get(kind, {}), **changes}
    return {name: value for name, value in whole.items() if value is not None}


def document(*cases: object, **changes: Any) -> dict[str, Any]:
    """A forget file with these cases, or with one."""
    whole = {"name": "n", "description": "d", "test_cases": list(cases) or [case()], **changes}
    return {name: value for name, value in whole.items() if value is not None}


def found_in(raw: dict[str, Any], forgetter: object = None, **changes: Any) -> Finding:
    """What judging a case finds."""
    file = load_forget_file(Path("x.json"), document(raw))
    subject = Subject(forgetter or EbbinghausForgetter())  # type: ignore[arg-type]
    return examine(file.cases[0], Trial(subject, file.settings, 1e-9, **changes))


def write(path: Path, content: object) -> None:
    """Write a JSON file, and the folder that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
