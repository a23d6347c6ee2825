"""A summary in GitHub-flavoured Markdown, usable as a job summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting.finish import Ending
from pytest_soulmem.reporting.gather import Record
from pytest_soulmem.reporting.results import CaseResult, Results
from pytest_soulmem.reporting.table import Section, Table
from pytest_soulmem.reporting.text import visible

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]()#+!|~<>&"})
_FAILURES = 20


def render_markdown(results: Results, ending: Ending | None = None) -> bytes:
    """The summary: how many passed, what the terminal reports, and the failures.

    Without its ending it says nothing about gates and comparisons.
    """
    return ("\n".join(_lines(results, ending)) + "\n").encode()


def _lines(results: Results, ending: Ending | None) -> Iterator[str]:
    yield "## Memory: " + _counts(results.cases)
    yield ""
    if ending:
        yield from _gates(ending)
    for kind in KINDS:
        own = [case for case in results.cases if case.kind == kind.name]
        if own:
            yield from _section(kind.load_report().section([_record(case) for case in own]))
    for section in ending.sections if ending else ():
        yield from _section(section)
    failed = [case for case in results.cases if case.outcome in ("failed", "error")]
    if failed:
        yield from _failures(failed)
    for error in results.errors:
        yield f"* **could not be used**: {escaped(error.text.splitlines()[0])}"


def _record(case: CaseResult) -> Record:
    """A case as the report of its kind reads it."""
    return {
        "nodeid": case.nodeid,
        "outcome": case.outcome,
        "figures": case.figures,
        **case.result,
    }


def _counts(cases: Sequence[CaseResult]) -> str:
    counts = {
        outcome: sum(case.outcome == outcome for case in cases)
        for outcome in ("passed", "failed", "error", "skipped")
    }
    return (
        ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count) or "no cases"
    )


def _gates(ending: Ending) -> Iterator[str]:
    if ending.problems or ending.reached:
        yield from (f"* ❌ {escaped(problem)}" for problem in ending.problems)
        yield from (f"* ✅ {escaped(gate)}" for gate in ending.reached)
        yield ""


def _section(section: Section) -> Iterator[str]:
    """The tables that the terminal shows, so that the two never tell different things."""
    yield f"### {escaped(section.title)}"
    yield ""
    for table in section.tables:
        yield from _table(table)
    yield from _listed(section.notes)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"**{escaped(table.title)}**"
        yield ""
    yield _row([escaped(name) for name in table.header])
    yield _row([":--" if column in table.left else "--:" for column in range(len(table.header))])
    for cells in table.rows:
        # What the terminal indents is indented here too.
        first = cells[0].lstrip()
        indent = "&emsp;" * ((len(cells[0]) - len(first)) // 2)
        yield _row([indent + escaped(first), *map(escaped, cells[1:])])
    yield ""
    yield from _listed(table.notes)


def _listed(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield from (f"* {escaped(note)}" for note in notes)
        yield ""


def _failures(failed: Sequence[CaseResult]) -> Iterator[str]:
    yield "### Failures"
    yield ""
    for case in failed[:_FAILURES]:
        reason = case.failure.reason if case.failure else case.outcome
        yield f"* {escaped(case.nodeid)}: {escaped(reason)}"
    if len(failed) > _FAILURES:
        yield f"* and {len(failed) - _FAILURES} more"
    yield ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """Text of a fixture with nothing left in it that Markdown or HTML would obey."""
    return visible(text).translate(_SPECIAL)
