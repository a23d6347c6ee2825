"""How many of some cases passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def passes(records: Sequence[Mapping[str, Any]]) -> tuple[str, str, str]:
    """How many were judged, how many of them passed, and the share; skipped ones do not count."""
    judged = [record for record in records if record["outcome"] != "skipped"]
    passed = sum(record["outcome"] == "passed" for record in judged)
    rate = f"{passed / len(judged):.0%}" if judged else "-"
    return str(len(judged)), str(passed), rate
