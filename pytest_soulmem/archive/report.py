"""The archive section of the terminal report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

Records = Sequence[Mapping[str, Any]]

_GROUPS = {"scenario": "scenarios", "broken": "unusable", "law": "laws"}


def archive_section(records: Records) -> Section:
    """Pass rates, and what became of documents and media."""
    return Section("archive chain", [_table(records)], list(_notes(records)))


def _table(records: Records) -> Table:
    rows = []
    for key, label in _GROUPS.items():
        group = [record for record in records if record.get(key)]
        if group:
            rows.append((label, *_passes(group)))
    return Table(("", "judged", "passed", "pass rate"), rows)


def _passes(group: Records) -> tuple[str, str, str]:
    judged = [record for record in group if record["outcome"] != "skipped"]
    passed = sum(record["outcome"] == "passed" for record in judged)
    rate = f"{passed / len(judged):.0%}" if judged else "-"
    return str(len(judged)), str(passed), rate


def _notes(records: Records) -> Iterator[str]:
    names = sorted({record["chain"] for record in records if record.get("chain")})
    if names:
        yield f"chain: {', '.join(map(visible, names))}"
    counts = [record["counts"] for record in records if record.get("counts")]

    def total(name: str) -> int:
        return sum(count.get(name, 0) for count in counts)

    if counts:
        yield (
            f"documents: {total('archived')} archived, {total('kept documents')} kept for later; "
            f"triples: {total('written')} written, {total('skipped')} skipped"
        )
        yield (
            f"media: {total('bound')} bound, {total('collected')} collected; references: "
            f"{total('released')} released, {total('kept')} kept"
        )
    unsupported = sum(bool(record.get("unsupported")) for record in records)
    if unsupported:
        yield f"not run to their end: {unsupported} (the chain cannot be made to crash there)"
