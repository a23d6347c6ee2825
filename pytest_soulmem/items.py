"""pytest's nodes: a fixture file, a group of its cases, and one item per case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pytest

from pytest_soulmem.faults import FixtureError
from pytest_soulmem.kinds import Case, Failure, Kind, Run, Verdict
from pytest_soulmem.reporting.gather import Record
from pytest_soulmem.reporting.tracebacks import users_traceback


class CaseFailed(Exception):
    """A case did not hold. Never seen by users: the item shows its failure instead."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class FailureText:
    """How pytest shows a failure: our text, our one-line reason, no traceback."""

    def __init__(self, failure: Failure) -> None:
        self.text = failure.text
        self.reprcrash = _Crash(failure.reason)

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: Any) -> None:
        """Write the text; the first line, which says what was violated, in red."""
        first, _, rest = self.text.partition("\n")
        tw.line(first, red=True)
        for line in rest.splitlines():
            tw.line(line)


class _Crash:
    """The part of pytest's crash location that reports read: the message."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __str__(self) -> str:
        return self.message


class _File(pytest.File):
    """A file whose collection errors show their first line in pytest's summary."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The error's text, without a traceback."""
        if isinstance(excinfo.value, self.CollectError):
            text = str(excinfo.value)
            return FailureText(Failure(text.splitlines()[0], text))
        return super().repr_failure(excinfo)


class UnusableFile(_File):
    """A file of ours that could not be decoded."""

    def __init__(self, *, error: FixtureError, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.error = error

    def collect(self) -> Iterator[pytest.Item]:
        """Report the error."""
        raise self.CollectError(str(self.error))


class FixtureFile(_File):
    """A fixture file; collects its cases."""

    def __init__(self, *, kind: Kind, run: Run, document: object, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.kind = kind
        self.run = run
        self.document = document

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The cases, in the file's order; those with a group below a collector of that name."""
        try:
            cases = self.run.cases(self.path, self.document)
        except FixtureError as error:
            raise self.CollectError(str(error)) from None
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
        """Position among the selected cases of the run, for an order that xdist keeps."""
        self.verdict = Verdict(None)
        self.add_marker("soulmem")
        self.add_marker(f"soulmem_{kind.name}")

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

    @property
    def soulmem_record(self) -> Record:
        """What reports are made of; plain data."""
        verdict = self.verdict
        record: Record = {
            "kind": self.kind.name,
            "index": self.index,
            "nodeid": self.nodeid,
            "figures": dict(verdict.figures),
            "variation": verdict.variation,
            "fingerprint": verdict.fingerprint,
            **verdict.record,
        }
        if verdict.failure:
            record["failure"] = [verdict.failure.reason, verdict.failure.text]
        return record

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Our own text for a case that did not hold; of an error in user code their frames."""
        if isinstance(excinfo.value, CaseFailed):
            return FailureText(excinfo.value.failure)
        theirs = users_traceback(excinfo.value) if isinstance(excinfo.value, Exception) else ""
        if theirs:
            return FailureText(Failure(theirs.splitlines()[-1], theirs))
        # A fault of ours: what pytest did before it called us tells nothing.
        excinfo.traceback = excinfo.traceback.cut(path=__file__)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where the case stands. The text must differ from the name, or ``-v`` mangles it."""
        return self.path, None, f"{self.kind.name}: {self.name}"
