"""pytest's nodes: a fixture file, a group of its cases, and one item per case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pytest

from pytest_soulmem.faults import FixtureError
from pytest_soulmem.kinds import Case, Failure, Kind, Run, Verdict
from pytest_soulmem.naming import place_faults
from pytest_soulmem.reporting.failures import failure_text
from pytest_soulmem.reporting.gather import Record
from pytest_soulmem.reporting.tracebacks import one_line, users_traceback


class CaseFailed(Exception):
    """A case did not hold. Never seen by users: the item shows its failure instead."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class Unusable(pytest.Collector.CollectError):
    """A file of ours that cannot be used."""

    def __init__(self, error: FixtureError) -> None:
        super().__init__(str(error))
        self.failure = Failure(error.reason, str(error))


class _File(pytest.File):
    """A file whose collection errors show in pytest's summary what is wrong and where."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The error's text, without a traceback."""
        if isinstance(excinfo.value, Unusable):
            return failure_text(excinfo.value.failure, self.config)
        return super().repr_failure(excinfo)


class UnusableFile(_File):
    """A file of ours that could not be decoded."""

    def __init__(self, *, error: FixtureError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.error = error

    def collect(self) -> Iterator[pytest.Item]:
        """Report the error."""
        raise Unusable(self.error)


class FixtureFile(_File):
    """A fixture file; collects its cases."""

    def __init__(self, *, kind: Kind, run: Run, document: object, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.kind = kind
        self.run = run
        self.document = document

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The cases, in the file's order; those with a group below a collector of that name."""
        unnamable = place_faults(self.nodeid)
        if unnamable:
            raise Unusable(FixtureError(self.path, unnamable))
        try:
            cases = self.run.cases(self.path, self.document)
        except FixtureError as error:
            raise Unusable(error) from None
        for group, members in groupby(cases, key=lambda case: case.group):
            if group:
                yield CaseGroup.from_parent(self, name=group, cases=list(members), fixture=self)
            else:
                for case in members:
                    yield case_item(self, self, case)


class CaseGroup(pytest.Collector):
    """Cases of one file that belong together, such as its laws."""

    def __init__(self, *, cases: Sequence[Case], fixture: FixtureFile, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cases = cases
        self.fixture = fixture

    def collect(self) -> Iterator[pytest.Item]:
        """The cases of the group."""
        for case in self.cases:
            yield case_item(self, self.fixture, case)


def case_item(parent: pytest.Collector, fixture: FixtureFile, case: Case) -> CaseItem:
    """The item of a case.

    The node id is given explicitly: pytest 9.2 otherwise loses the failures of names with
    brackets in ``--lf``.
    """
    item: CaseItem = CaseItem.from_parent(
        parent,
        name=case.name,
        nodeid=f"{parent.nodeid}::{case.name}",
        case=case,
        kind=fixture.kind,
        run=fixture.run,
    )
    return item


class CaseItem(pytest.Item):
    """One case, judged by the run of its kind."""

    def __init__(self, *, case: Case, kind: Kind, run: Run, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.kind = kind
        self.run = run
        self.index = 0
        """Position among all that the run selected, for an order that xdist keeps."""
        self.verdict = Verdict(None)
        self.add_marker("soulmem")
        self.add_marker(f"soulmem_{kind.name}")
        shares = getattr(case, "shares", "")
        # Before collection ends, or xdist does not see the mark; without xdist nobody knows it.
        if shares and self.config.pluginmanager.hasplugin("xdist"):
            self.add_marker(pytest.mark.xdist_group(shares))

    def setup(self) -> None:
        """Fail early, in words, where the case cannot be judged."""
        obstacle = self.run.obstacle(self.case)
        if obstacle is not None:
            pytest.fail(obstacle, pytrace=False)

    def runtest(self) -> None:
        """Judge the case."""
        __tracebackhide__ = True
        self.verdict = verdict = self.run.judge(self.case)
        self.user_properties += [
            (f"soulmem.{name}", value) for name, value in verdict.properties.items()
        ]
        if verdict.failure:
            raise CaseFailed(verdict.failure)
        if verdict.skipped:
            pytest.skip(verdict.skipped)

    def teardown(self) -> None:
        """Let go of what was found: its report has it, and large runs have much of it."""
        self.verdict = Verdict(None)

    @property
    def soulmem_record(self) -> Record:
        """What reports are made of; all that JSON can hold."""
        verdict = self.verdict
        return {
            "kind": self.kind.name,
            "index": self.index,
            "nodeid": self.nodeid,
            "figures": dict(verdict.figures),
            "variation": verdict.variation,
            "fingerprint": verdict.fingerprint,
            **verdict.record,
        }

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Our own text for a case that did not hold; of an error in user code their frames."""
        if isinstance(excinfo.value, CaseFailed):
            return failure_text(excinfo.value.failure, self.config)
        theirs = users_traceback(excinfo.value)
        if theirs:
            return failure_text(Failure(one_line(excinfo.value), theirs), self.config)
        # A fault of ours: what pytest did before it called us tells nothing.
        excinfo.traceback = excinfo.traceback.cut(path=__file__)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where the case stands. The text must differ from the name, or ``-v`` mangles it."""
        return self.path, None, f"{self.kind.name}: {self.name}"
