"""The part of the terminal report about model events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from pytest_soulmem.events.terms import TERMINAL_STATES
from pytest_soulmem.reporting.passes import passes
from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

Records = Sequence[Mapping[str, Any]]


def section(records: Records) -> Section:
    """A table per file, with the states that the last steps of its scenarios were found in."""
    tables = [_table(name, list(own)) for name, own in groupby(records, _file_of)]
    names = sorted({record["system"]["reducer"] for record in records if record.get("system")})
    notes = [f"reducer: {', '.join(map(visible, names))}"] if names else []
    return Section("model events", tables, notes)


def _file_of(record: Mapping[str, Any]) -> str:
    return str(record["nodeid"]).split("::")[0]


def _table(name: str, records: Records) -> Table:
    scenarios = [record for record in records if "law" not in record]
    groups: dict[str, Records] = {"scenarios": scenarios}
    groups |= {f"  {state}": _found(scenarios, state) for state in (*TERMINAL_STATES, "")}
    groups["  without a verdict"] = groups.pop("  ")
    groups["laws"] = [record for record in records if "law" in record]
    rows = [(label, *passes(group)) for label, group in groups.items() if group]
    header = ("", "judged", "passed", "pass rate")
    return Table(header, rows, title=visible(name), notes=list(_notes(scenarios)))


def _found(scenarios: Records, state: str) -> Records:
    """The scenarios whose last step was found in a state; those without any for the empty one."""
    return [own for own in scenarios if own.get("terminal_state", "") == state]


def _notes(scenarios: Records) -> Iterator[str]:
    unknown: Counter[str] = Counter()
    for scenario in scenarios:
        unknown.update(scenario.get("unknown", {}))
    if unknown:
        kinds = ", ".join(f"{visible(kind)}: {times}" for kind, times in unknown.most_common())
        yield f"unknown events: {unknown.total()} ({kinds})"
    disagreeing = [own["scenario"] for own in scenarios if own.get("disagreements")]
    if disagreeing:
        names = ", ".join(map(visible, disagreeing))
        yield f"chunks whose text is not the message's: {len(disagreeing)} ({names})"
