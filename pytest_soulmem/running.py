"""What the kinds of fixture with laws share: their items, and the run that judges them.

A file of such a kind holds cases, each judged on its own, and laws that are tried on what the
cases are about. The run of a kind derives from :class:`LawfulRun` and says only what is its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from pytest_soulmem.cases import BrokenCase, broken_verdict
from pytest_soulmem.kinds import Failure, Verdict
from pytest_soulmem.naming import place_of
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.users_code import Misbehaviour

if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.settings import Settings


class Named(Protocol):
    """What every case has."""

    @property
    def name(self) -> str:
        """What its item is called."""
        ...


File = TypeVar("File")
Case = TypeVar("Case", bound=Named)


@dataclass(frozen=True)
class CaseItem(Generic[File, Case]):
    """A case of a file."""

    name: str
    file: File
    case: Case
    group: str = ""


@dataclass(frozen=True)
class BrokenItem:
    """A case that cannot run."""

    name: str
    path: Path
    case: BrokenCase
    group: str = ""


@dataclass(frozen=True)
class LawItem(Generic[File]):
    """A law that is tried on a file."""

    name: str
    file: File
    place: str
    """Tells the file from all others, on every machine."""
    group: str = "laws"

    @property
    def key(self) -> str:
        """Tells this law of this file from all others, on every machine."""
        return f"{self.place}::{self.name}"


Judged: TypeAlias = CaseItem[File, Case] | LawItem[File]
AnyItem: TypeAlias = Judged[File, Case] | BrokenItem


class LawfulRun(ABC, Generic[File, Case]):
    """A session's run of a kind with laws: a :class:`~pytest_soulmem.kinds.Run`."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings

    @abstractmethod
    def cases(self, path: Path, document: object) -> Sequence[AnyItem[File, Case]]:
        """The :meth:`_items` of a file, once it is read."""

    def _items(
        self, path: Path, file: File, cases: Iterable[Case | BrokenCase], laws: Iterable[str]
    ) -> list[AnyItem[File, Case]]:
        """The cases of a file, then its laws, unless the session goes without laws."""
        items: list[AnyItem[File, Case]] = [
            BrokenItem(visible(case.name), path, case)
            if isinstance(case, BrokenCase)
            else CaseItem(visible(case.name), file, case)
            for case in cases
        ]
        if self._settings.laws:
            place = place_of(path, self._config.rootpath)
            items += [LawItem(law, file, place) for law in laws]
        return items

    def prepare(self, cases: Sequence[AnyItem[File, Case]]) -> None:
        """Nothing: every case is judged on its own."""

    def obstacle(self, case: AnyItem[File, Case]) -> str | None:
        """Nothing keeps a case from being judged."""
        return None

    def judge(self, case: AnyItem[File, Case]) -> Verdict:
        """Judge a case or try a law; what the user's code does wrong is a failure."""
        __tracebackhide__ = True
        if isinstance(case, BrokenItem):
            return broken_verdict(case.path, case.case)
        try:
            if isinstance(case, LawItem):
                return self._judge_law(case)
            return self._judge_case(case)
        except Misbehaviour as error:
            return self._misbehaved(case, error.failure)

    @abstractmethod
    def _judge_case(self, item: CaseItem[File, Case]) -> Verdict:
        """Ask the system under test, and compare."""

    @abstractmethod
    def _judge_law(self, item: LawItem[File]) -> Verdict:
        """Try a law on the system under test."""

    @abstractmethod
    def _misbehaved(self, item: Judged[File, Case], failure: Failure) -> Verdict:
        """The verdict on a user's code that raised or returned nonsense."""
