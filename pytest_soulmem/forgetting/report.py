"""The forgetting section of the terminal report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from pytest_soulmem.forgetting.fixture import CASE_TYPES
from pytest_soulmem.reporting.passes import passes
from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

Records = Sequence[Mapping[str, Any]]

_LABELS = {kind: f"T{number} {kind}" for number, kind in enumerate(CASE_TYPES, start=1)}


def section(records: Records) -> Section:
    """Pass rates and mean missing degrees per kind, and what forgetting did."""
    return Section("forgetting", [_table(records)], list(_notes(records)))


def _table(records: Records) -> Table:
    rows = []
    for kind, label in _LABELS.items():
        group = [record for record in records if record.get("inference") == kind]
        if group:
            rows.append((label, *passes(group), _mean_degree(group)))
    broken = [record for record in records if record.get("broken")]
    laws = [record for record in records if record.get("law")]
    if broken:
        rows.append(("unusable", *passes(broken), "-"))
    if laws:
        rows.append(("laws", *passes(laws), "-"))
    # Such as a case that took its process along.
    keys = ("inference", "broken", "law")
    broken_off = [record for record in records if not any(record.get(key) for key in keys)]
    if broken_off:
        rows.append(("broken off", *passes(broken_off), "-"))
    header = ("", "judged", "passed", "pass rate", "mean missing degree")
    return Table(header, rows)


def _mean_degree(group: Records) -> str:
    """The mean over cases of each case's mean over its moments."""
    figures = [record.get("figures", {}) for record in group]
    means = [own["missing_degree"] for own in figures if "missing_degree" in own]
    return f"{fmean(means):.4f}" if means else "-"


def _notes(records: Records) -> Iterator[str]:
    systems = [record["system"] for record in records if record.get("system")]
    names = sorted({system["forgetter"] for system in systems})
    if names:
        yield f"forgetter: {', '.join(map(visible, names))}"
    effects = [record["effect"] for record in records if record.get("effect")]
    due = [effect for effect in effects if effect["should_forget"]]
    if due:
        triggered = sum(effect["triggered"] for effect in due)
        yield (
            f"trigger rate: {triggered / len(due):.0%} "
            f"({triggered} of {len(due)} that should forget did)"
        )
    attempts = [effect for effect in effects if effect["revised"] is not None]
    if attempts:
        reasons = Counter(effect["fallback"] for effect in attempts if effect["fallback"])
        why = ", ".join(f"{visible(reason)}: {times}" for reason, times in reasons.most_common())
        kept = f"{reasons.total()} of {len(attempts)} revisions fell back to masking"
        yield f"{kept} ({why})" if why else kept
    unmasked = [
        effect for effect in effects if effect["triggered"] and effect["similarity"] is None
    ]
    if unmasked:
        yield f"similarity not judged for {len(unmasked)}: the forgetter does not mask"
    skipped = sum(bool(record.get("law")) and record["outcome"] == "skipped" for record in records)
    if skipped:
        yield f"laws skipped: {skipped} (the forgetter does not offer what they are about)"
