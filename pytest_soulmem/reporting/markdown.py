"""A summary in GitHub-flavoured Markdown, usable as a job summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_soulmem.reporting.results import CaseResult, Mean, Results
from pytest_soulmem.reporting.text import visible

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]()#+!|~<>&"})
_FAILURES = 20


def render_markdown(results: Results) -> bytes:
    """The summary: how many passed, the means, and the failures."""
    return ("\n".join(_lines(results)) + "\n").encode()


def _lines(results: Results) -> Iterator[str]:
    yield "## Memory: " + _counts(results.cases)
    yield ""
    for file in dict.fromkeys(mean.file for mean in results.means):
        yield from _table(file, [mean for mean in results.means if mean.file == file])
    failed = [case for case in results.cases if case.outcome in ("failed", "error")]
    if failed:
        yield from _failures(failed)
    for error in results.errors:
        yield f"* **could not be used**: {escaped(error.text.splitlines()[0])}"


def _counts(cases: Sequence[CaseResult]) -> str:
    counts = {
        outcome: sum(case.outcome == outcome for case in cases)
        for outcome in ("passed", "failed", "error", "skipped")
    }
    return (
        ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count) or "no cases"
    )


def _table(file: str, means: Sequence[Mean]) -> Iterator[str]:
    columns = list(dict.fromkeys(name for mean in means for name in mean.figures))
    yield f"### {escaped(file)}"
    yield ""
    yield _row(["weights", "passed", *map(escaped, columns)])
    yield _row([":--", *["--:"] * (1 + len(columns))])
    for mean in means:
        figures = [mean.figures.get(name) for name in columns]
        shown = ["" if value is None else f"{value:.3f}" for value in figures]
        label = escaped(mean.variation) or "default"
        yield _row([label, f"{mean.passed}/{mean.cases}", *shown])
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
