"""The kinds of fixture, in one list, and what each of them provides.

Adding a kind means writing a package with a module ``kind``, which has the functions of
:class:`KindModule`, and a module ``report``, and naming it in ``KINDS`` here and in
:mod:`pytest_soulmem.places`. Collection, reporting and JUnit know kinds only through
these two pages.

What the kinds whose files have laws share beyond that is in :mod:`pytest_soulmem.running`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from pytest_soulmem.places import PLACES, SUMMARIES, place_of

if TYPE_CHECKING:
    import pytest
    from msgspec import Struct

    from pytest_soulmem.faults import Fault
    from pytest_soulmem.reporting.table import Section
    from pytest_soulmem.settings import Settings


@dataclass(frozen=True)
class Failure:
    """Why a case failed: one line, and the whole text that the user sees."""

    reason: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """What judging a case found.

    ``properties`` go into JUnit, under the prefix ``soulmem.``. ``record`` is what JSON
    can hold, as plain data or in structs, for the report; it crosses processes. ``skipped`` says
    why there was nothing to judge; empty if there was.
    """

    failure: Failure | None
    properties: Mapping[str, str | int | float] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    skipped: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Metrics by name, for means, gates and comparisons with a baseline."""
    variation: str = ""
    """Which of several settings the case ran with: the label of its weight set."""
    fingerprint: str = ""
    """Changes when what is asked or expected changes: other cases are not compared."""


class Case(Protocol):
    """One test item. A kind's cases carry more, which only that kind reads.

    A case may also have a text ``shares``: what it shares with others that is costly to load,
    such as a graph. ``--dist loadgroup`` of pytest-xdist then keeps them in one process.
    """

    @property
    def name(self) -> str:
        """Unique within its file and group; free of ``::`` and control characters."""
        ...

    @property
    def group(self) -> str:
        """The collector between file and item, or nothing."""
        ...


class Run(Protocol):
    """A kind's state for one pytest session: caches, the system under test."""

    def cases(self, path: Path, document: object) -> Sequence[Case]:
        """The cases of a file.

        Raises:
            FixtureError: the file cannot be used at all.
        """
        ...

    def prepare(self, cases: Sequence[Any]) -> None:
        """Do once, before the first case, what all selected cases need."""
        ...

    def obstacle(self, case: Any) -> str | None:
        """Why a case cannot be judged, told after :meth:`prepare`; None if it can.

        What keeps many from being judged is told in full by one of them. The text of the others
        ends in ``: see "<case>" in <file>``.
        """
        ...

    def judge(self, case: Any) -> Verdict:
        """Run a case against the system under test."""
        ...


class KindModule(Protocol):
    """What the module of a kind has at its top level."""

    def recognises(self, document: object) -> bool:
        """Whether a document, wherever it lies, has the shape of this kind."""
        ...

    def open_run(self, config: pytest.Config, settings: Settings, progress: Progress) -> Run:
        """Start a session's run."""
        ...

    Result: type[Struct]
    """The record of a judged case."""

    def faults(self, path: Path, document: object) -> Sequence[Fault]:
        """Everything that is wrong in a file of this kind, in its cases too."""
        ...

    def advice(self, path: Path, document: object) -> Sequence[Fault]:
        """What pytest lets pass and may not be meant, such as a field that is ignored."""
        ...

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a file."""
        ...

    def example(self, path: Path) -> dict[Path, object]:
        """A minimal valid file for a path, and what it needs beside it."""
        ...


class ReportModule(Protocol):
    """What a kind's module ``report`` provides."""

    def section(self, records: Sequence[Mapping[str, Any]]) -> Section:
        """The part of the terminal report about these records."""
        ...


Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done and how much there is.

Of what cannot be counted both are 0: it is told once, as a line that stays.
"""


@dataclass(frozen=True)
class Kind:
    """A kind of fixture: where its files live and which package judges them."""

    name: str
    file: str
    """What a file of this kind is called on the command line."""
    package: str
    mark: str = "`test_cases`"
    """What tells a file of this kind from other JSON, in words."""
    hints: frozenset[str] = frozenset()
    """Fields by which a file that lies elsewhere is told from those of other kinds."""
    figures: tuple[str, ...] = ()
    """What its cases are measured by; K stands for a cut-off."""

    @property
    def summary(self) -> str:
        """What an item of this kind is."""
        return SUMMARIES[self.name]

    @property
    def places(self) -> tuple[str, ...]:
        """Patterns of the places where files of this kind live."""
        return PLACES[self.name]

    def claims(self, path: Path) -> bool:
        """Whether a file stands where files of this kind live."""
        return place_of(path) == self.name

    def load(self) -> KindModule:
        """Import what judges; nothing of it is imported before a file of its kind is met."""
        return cast("KindModule", importlib.import_module(f"{self.package}.kind"))

    def load_report(self) -> ReportModule:
        """Import what reports; apart, because xdist's controller reports and never judges."""
        return cast("ReportModule", importlib.import_module(f"{self.package}.report"))


KINDS = (
    Kind(
        "retrieval",
        "query",
        "pytest_soulmem.retrieval",
        hints=frozenset({"graph_path", "blend_sweep", "sub_queries"}),
        figures=(
            "recall@K",
            "precision@K",
            "ndcg@K",
            "success@K",
            "rr",
            "action hit",
            "action recall@K",
            "abstract",
            "direct",
        ),
    ),
    Kind(
        "forgetting",
        "forget",
        "pytest_soulmem.forgetting",
        hints=frozenset({"kind", "law_tolerance", "text", "time_offset_hours"}),
        figures=("missing_degree", "triggered"),
    ),
    Kind(
        "events",
        "events",
        "pytest_soulmem.events",
        mark="the `schema_version` of model events",
        hints=frozenset({"schema_version", "scenarios", "scenario_id"}),
    ),
    Kind(
        "archive",
        "archive",
        "pytest_soulmem.archive",
        hints=frozenset({"media", "documents", "steps"}),
    ),
)


def kind_of_place(path: Path) -> Kind | None:
    """The kind whose files live where this one does."""
    return next((kind for kind in KINDS if kind.claims(path)), None)
