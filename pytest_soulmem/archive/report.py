"""The archive section of the terminal report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pytest_soulmem.archive.result import Counts, total
from pytest_soulmem.reporting.passes import passes
from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

Records = Sequence[Mapping[str, Any]]

_GROUPS = {"scenario": "scenarios", "broken": "unusable", "law": "laws"}


def section(records: Records) -> Section:
    """Pass rates, and what became of documents and media."""
    return Section("archive chain", [_table(records)], list(_notes(records)))


def _table(records: Records) -> Table:
    groups = {
        label: [record for record in records if record.get(key)] for key, label in _GROUPS.items()
    }
    # Such as a case that took its process along.
    groups["broken off"] = [
        record for record in records if not any(record.get(key) for key in _GROUPS)
    ]
    rows = [(label, *passes(group)) for label, group in groups.items() if group]
    return Table(("", "judged", "passed", "pass rate"), rows)


def _notes(records: Records) -> Iterator[str]:
    names = sorted({record["system"]["chain"] for record in records if record.get("system")})
    if names:
        yield f"chain: {', '.join(map(visible, names))}"
    counted = [record["counts"] for record in records if record.get("counts")]
    if counted:
        sums = total([msgspec.convert(counts, Counts) for counts in counted])
        yield (
            f"documents: {sums.documents_archived} archived, {sums.documents_kept} kept for later;"
            f" triples: {sums.triples_written} written, {sums.triples_skipped} skipped"
        )
        yield (
            f"media: {sums.media_bound} bound, {sums.media_collected} collected;"
            f" references: {sums.references_released} released, {sums.references_kept} kept"
        )
    unsupported = sum(bool(record.get("unsupported")) for record in records)
    if unsupported:
        yield f"not judged to the end: {unsupported} (the chain cannot be made to crash there)"
