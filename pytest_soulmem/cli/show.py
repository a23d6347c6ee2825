"""``show``: run cases and explain what they found, whether they pass or not."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from pytest_soulmem.cli.facts import facts
from pytest_soulmem.faults import suggestion
from pytest_soulmem.items import CaseItem
from pytest_soulmem.reporting.results import CaseResult, read_results
from pytest_soulmem.reporting.text import visible, visible_lines

if TYPE_CHECKING:
    from pytest_soulmem.kinds import Case
    from pytest_soulmem.retrieval.kind import SweptCase
    from pytest_soulmem.retrieval.outcome import Outcome


def add_to(commands: Any) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "show",
        help="explain the cases of a fixture file",
        description="Run cases as pytest does, with its ini file and your conftest.py, and show "
        "what was asked, what was expected, what came back, and the scores behind both; of "
        "forgetting, event and archive cases what was observed. Options that start with --soulmem- "
        "are passed on.",
    )
    parser.add_argument("file", type=Path, help="a fixture file")
    parser.add_argument("--case", help="only the case of this name")
    parser.set_defaults(run=run)


_WEIGHT_SET = re.compile(r"\[tag:[^\]]*\]$")
_LISTED = 10


class _Only:
    """A pytest plugin that keeps the items of one case."""

    def __init__(self, case: str | None) -> None:
        self._case = case
        self.names: list[str] = []
        """The names of all cases, whether they are kept or not."""
        self.cases: dict[str, Case] = {}
        """The cases that are kept, by node id."""

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> Generator[None, Any, Any]:
        """Collect here, not in processes of pytest-xdist that the ini file may ask for."""
        config.option.numprocesses, config.option.dist = 0, "no"
        return (yield)

    # After a conftest's, which may drop items too.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the case of this name, with every weight set."""
        names = [_WEIGHT_SET.sub("", item.name) for item in items]
        self.names = list(dict.fromkeys(names))
        if self._case is not None:
            items[:] = [
                item
                for item, name in zip(items, names, strict=True)
                if self._case in (name, item.name)
            ]
        self.cases = {item.nodeid: item.case for item in items if isinstance(item, CaseItem)}

    def missing(self) -> str:
        """That there is no such case, with the name that may be meant, or those there are."""
        if self._case is None or not self.names:
            return "there is no case"
        hint = suggestion(self._case, self.names)
        if not hint:
            more = len(self.names) - _LISTED
            listed = ", ".join(f'"{name}"' for name in self.names[:_LISTED])
            hint = f"; there are {listed}" + (f" and {more} more" if more > 0 else "")
        return visible(f'there is no case "{self._case}"{hint}')


def run(asked: argparse.Namespace) -> int:
    """Explain the cases; pytest's exit status if it could not run them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        # What pytest would print is about passing; this is about why.
        options = ["-p", "no:terminal", f"--soulmem-json={path}", *asked.rest]
        only = _Only(asked.case)
        status = pytest.main([str(asked.file), *options], plugins=[only])
        if status == pytest.ExitCode.NO_TESTS_COLLECTED:
            sys.stderr.write(f"{only.missing()}\n")
        if status == pytest.ExitCode.NO_TESTS_COLLECTED or not path.exists():
            return int(status)
        results = read_results(path)
    for error in results.errors:
        sys.stdout.write(f"{visible_lines(error.text)}\n")
    for case in results.cases:
        sys.stdout.write(f"{explained(case, only.cases[case.nodeid])}\n\n")
    return int(bool(results.errors))


def explained(result: CaseResult, case: Case) -> str:
    """A case as text: its outcome, then every ranking, or what else was found."""
    from pytest_soulmem.retrieval.kind import SweptCase

    lines = [f"{result.nodeid}: {result.outcome}"]
    if result.failure:
        lines += result.failure.text.splitlines()
    elif isinstance(case, SweptCase) and "rankings" in result.result:
        lines += _rankings(result, case)
    else:
        lines += [f"  {visible(fact)}" for fact in facts(result.result)]
    return visible_lines("\n".join(lines))


def _rankings(result: CaseResult, case: SweptCase) -> list[str]:
    """What was asked, and every ranking."""
    from pytest_soulmem.retrieval.excerpts import asked
    from pytest_soulmem.retrieval.failure import ranking_tables
    from pytest_soulmem.retrieval.outcome import Outcome

    outcome = msgspec.convert(result.result, Outcome)
    lines = ["", *asked(case.case.sub_queries)]
    for comparison in outcome.rankings or ():
        lines += ranking_tables(comparison, case.file.graph)
    return lines + _sub_queries(outcome)


def _sub_queries(outcome: Outcome) -> list[str]:
    """What the sub-queries found that have no table, where there are several."""
    found = outcome.sub_queries or ()
    shown = {comparison.title for comparison in outcome.rankings or ()}
    return [
        f"sub-query {own.q}: "
        + (", ".join(f"{hit.id} {hit.score:.4f}" for hit in own.retrieved) or "nothing came back")
        for own in found
        if len(found) > 1 and f"sub-query {own.q}" not in shown
    ]
