"""The end of a run: files, gates, the comparison with a baseline, and the exit status."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pytest_soulmem.reporting.baseline import (
    BaselineError,
    Comparison,
    baseline_path,
    compare,
    comparison_section,
    find_baseline,
    load_baseline,
    of_one_system,
    regressions,
)
from pytest_soulmem.reporting.gates import judged
from pytest_soulmem.reporting.results import Results, encode, write_atomically
from pytest_soulmem.reporting.table import Section
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.reporting.tracebacks import one_line
from pytest_soulmem.reporting.tuning import ranking_section
from pytest_soulmem.settings import Settings

EXIT_SHORTFALL = 20
"""Every case passed, but a mean does not reach its gate."""
EXIT_REGRESSION = 21
"""Every case passed, but a mean fell by more than is allowed, or could not be compared."""
EXIT_NOT_WRITTEN = 22
"""A file that was asked for could not be written."""


@dataclass(frozen=True)
class Ending:
    """What a page shows besides the results: problems, gates that are reached, the comparison."""

    problems: Sequence[str] = ()
    reached: Sequence[str] = ()
    sections: Sequence[Section] = ()


@dataclass
class Conclusion:
    """What the end of a run adds to the terminal report and to the exit status."""

    exit_status: int = 0
    sections: list[Section] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """What was written where."""
    problems: list[str] = field(default_factory=list)

    def fail(self, status: int, problems: Sequence[str]) -> None:
        """Note problems; the first kind of problem decides the exit status."""
        if problems:
            self.problems += problems
            self.exit_status = self.exit_status or status


def conclude(
    results: Results,
    settings: Settings,
    root: Path,
    start: Path,
    held: Collection[str],
    broken_off: bool = False,
) -> Conclusion:
    """Write what was asked for, then check gates and compare.

    ``root`` is where baselines are kept, ``start`` where pytest was started; ``held`` has the node
    ids in all files that were collected. A run that was ``broken_off`` is not kept as a baseline.
    """
    conclusion = Conclusion()
    nothing = not (results.cases or results.errors)
    if nothing:
        conclusion.lines.append("soulmem: no fixture ran")
    if settings.save and (nothing or broken_off):
        # A part of a run would replace one that has all to compare with.
        why = "no fixture ran" if nothing else "the run was broken off"
        conclusion.fail(EXIT_NOT_WRITTEN, [f"not saved as {settings.save}: {why}"])
        settings = settings._replace(save=None)
    if settings.rank:
        conclusion.sections.append(ranking_section(settings.rank, results.cases))
    if settings.compare:
        try:
            baseline = load_baseline(find_baseline(root, settings.compare, start))
        except BaselineError as error:
            conclusion.fail(EXIT_REGRESSION, [str(error)])
        else:
            found = compare(baseline, results, held)
            found = found if settings.compare_systems else of_one_system(found)
            _compare(found, settings, conclusion)
    gates = [judged(gate, results.cases) for gate in settings.fail_under]
    short = [gate.text for gate in gates if not gate.reached]
    ending = Ending(
        problems=(*conclusion.problems, *short),
        reached=[gate.text for gate in gates if gate.reached],
        sections=tuple(conclusion.sections),
    )
    for path, render in _files(settings, root, ending):
        problem = _write(path, render, results)
        conclusion.fail(EXIT_NOT_WRITTEN, [problem] if problem else [])
        if not problem:
            conclusion.lines.append(f"soulmem: wrote {visible(str(path))}")
    conclusion.fail(EXIT_SHORTFALL, short)
    return conclusion


def _write(path: Path, render: Callable[[Results], bytes], results: Results) -> str | None:
    """Write a file; what kept it from being written, if anything did."""
    try:
        write_atomically(path, render(results))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return visible(f"{path} could not be written: {reason}")
    except Exception as error:  # Ours, in all likelihood: the other files are wanted all the same.
        return visible(f"{path} could not be made: {one_line(error)}")
    return None


def _files(
    settings: Settings, root: Path, ending: Ending
) -> Iterator[tuple[Path, Callable[[Results], bytes]]]:
    """The files that were asked for, and what renders each."""
    if settings.json:
        yield settings.json, encode
    if settings.save:
        yield baseline_path(root, settings.save), encode
    if settings.markdown:
        from pytest_soulmem.reporting.markdown import render_markdown

        yield settings.markdown, partial(render_markdown, ending=ending)
    if settings.html:
        from pytest_soulmem.reporting.html import render_html

        yield settings.html, partial(render_html, ending=ending)


def _compare(comparison: Comparison, settings: Settings, conclusion: Conclusion) -> None:
    conclusion.sections.append(comparison_section(settings.compare or "", comparison))
    conclusion.fail(EXIT_REGRESSION, regressions(comparison, settings.compare_fail))
