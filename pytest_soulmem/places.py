"""Where the files of each kind live, in one list.

Apart from :mod:`pytest_soulmem.kinds`, because every project that has the plugin installed imports
this much, and no more, of the kinds. For that reason a named tuple: it costs a fifth of a dataclass
to define.
"""

from __future__ import annotations

import importlib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from pytest_soulmem.kinds import KindModule, ReportModule


class Kind(NamedTuple):
    """A kind of fixture: where its files live and which package judges them."""

    name: str
    summary: str
    file: str
    """What a file of this kind is called on the command line."""
    places: tuple[str, ...]
    package: str
    mark: str = "`test_cases`"
    """What tells a file of this kind from other JSON, in words."""
    hints: frozenset[str] = frozenset()
    """Fields by which a file that lies elsewhere is told from those of other kinds."""
    figures: tuple[str, ...] = ()
    """What its cases are measured by; K stands for a cut-off."""

    def claims(self, path: Path) -> bool:
        """Whether a file stands where files of this kind live."""
        place = f"{path.parent.name}/{path.name}"
        return any(fnmatchcase(place, pattern) for pattern in self.places)

    def load(self) -> KindModule:
        """Import what judges; nothing of it is imported before a file of its kind is met."""
        return cast("KindModule", importlib.import_module(f"{self.package}.kind"))

    def load_report(self) -> ReportModule:
        """Import what reports; apart, because xdist's controller reports and never judges."""
        return cast("ReportModule", importlib.import_module(f"{self.package}.report"))


KINDS = (
    Kind(
        "retrieval",
        "a retrieval case",
        "query",
        ("queries/*.json", "*/question*.json"),
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
        "a forgetting case, or a law of the forgetting curve",
        "forget",
        ("forget/*.json",),
        "pytest_soulmem.forgetting",
        hints=frozenset({"kind", "law_tolerance", "text", "time_offset_hours"}),
        figures=("missing_degree", "triggered"),
    ),
    Kind(
        "events",
        "a scenario of model events, or a law of reducing them",
        "events",
        ("events/*.json",),
        "pytest_soulmem.events",
        mark="the `schema_version` of model events",
        hints=frozenset({"schema_version", "scenarios", "scenario_id"}),
    ),
    Kind(
        "archive",
        "a scenario of the archive chain, or a law of it",
        "archive",
        ("archive/*.json",),
        "pytest_soulmem.archive",
        hints=frozenset({"media", "documents", "steps"}),
    ),
)


def kind_of_place(path: Path) -> Kind | None:
    """The kind whose files live where this one does."""
    return next((kind for kind in KINDS if kind.claims(path)), None)
