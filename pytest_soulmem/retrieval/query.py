"""The query file: retrieval cases against one graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_soulmem.cases import BrokenCase, faults_of, read_cases
from pytest_soulmem.decoding import OneOf, decode
from pytest_soulmem.faults import Fault, FixtureError, suggestion
from pytest_soulmem.retrieval.graph import Graph, Location
from pytest_soulmem.retrieval.weights import BlendSweep, WeightSet, expand
from pytest_soulmem.settings import Check, Mode

Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]


class Concept(Struct, frozen=True):
    """A unit of a Semantic sub-query: a name, a description, or both."""

    concept_identifier: str | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        if self.concept_identifier is None and self.description is None:
            raise ValueError("expected `concept_identifier`, `description` or both")


class Person(Struct, frozen=True):
    """Somebody asked for."""

    name: str | None = None
    role: str | None = None


class Period(Struct, frozen=True):
    """A span of time; read, not scored."""

    start: str | None = None
    end: str | None = None


class Mood(Struct, frozen=True):
    """An environment asked for."""

    atmosphere: str | None = None
    tone: str | None = None


class Deed(Struct, frozen=True):
    """An event asked for."""

    action: str
    initiator: str | None = None
    target: str | None = None


class Scene(Struct, frozen=True):
    """A unit of a Situation sub-query; every field may be absent."""

    narrative: str | None = None
    location: tuple[Location, ...] | None = None
    participants: tuple[Person, ...] | None = None
    time_span: tuple[Period, ...] | None = None
    environment: Mood | None = None
    event: tuple[Deed, ...] | None = None


class Variant(OneOf, frozen=True, rename="pascal"):
    """What kind of memory a sub-query asks for."""

    semantic: tuple[Concept, ...] | UnsetType = UNSET
    situation: tuple[Scene, ...] | UnsetType = UNSET


class SubQuery(Struct, frozen=True):
    """One retrieval request; a larger ``priority`` matters more when requests are merged."""

    priority: Count
    tag: tuple[str, ...]
    variant: Variant

    @property
    def concepts(self) -> tuple[Concept, ...]:
        """The units of a Semantic sub-query."""
        return self.variant.semantic or ()

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The units of a Situation sub-query."""
        return self.variant.situation or ()


class Expectation(Struct, frozen=True):
    """What one sub-query should find."""

    q: Count
    ranking: tuple[str, ...]
    bonus_ranking: tuple[str, ...] = ()


class RetrievalCase(Struct, frozen=True):
    """One case as it stands in the file."""

    name: str
    sub_queries: Annotated[tuple[SubQuery, ...], Meta(min_length=1)]
    description: str | None = None
    expected_per_query: tuple[Expectation, ...] = ()
    expected_combined_ranking: tuple[str, ...] = ()
    bonus_combined_ranking: tuple[str, ...] = ()
    expected_actions: tuple[str, ...] = ()
    mode: Mode | None = None
    check: Check | None = None

    @property
    def negative(self) -> bool:
        """Whether nothing is expected; such a case never fails."""
        return not self.expected_combined_ranking

    @property
    def bonus(self) -> tuple[str, ...]:
        """Ids that count as relevant but are not demanded; those that must come are not among."""
        must = set(self.expected_combined_ranking)
        return tuple(name for name in self.bonus_combined_ranking if name not in must)


class Config(Struct, frozen=True):
    """How retrieval runs for every case of a file."""

    similarity_threshold: float
    max_results: Positive
    test_k_values: tuple[Positive, ...]
    mode: Mode | None = None
    check: Check | None = None


class _Header(Struct, frozen=True, kw_only=True):
    name: str
    description: str
    graph_path: str
    config: Config
    blend_sweep: BlendSweep | None = None


class _File(_Header, frozen=True, kw_only=True):
    """A file whose cases are still to be looked at, one by one."""

    test_cases: Annotated[tuple[object, ...], Meta(min_length=1)]


class QueryDocument(_Header, frozen=True, kw_only=True):
    """A whole file, for its schema."""

    test_cases: Annotated[tuple[RetrievalCase, ...], Meta(min_length=1)]


@dataclass(frozen=True)
class QueryFile:
    """A query file that was checked against its graph."""

    path: Path
    graph: Graph
    config: Config
    weight_sets: tuple[WeightSet, ...]
    cases: tuple[RetrievalCase | BrokenCase, ...]


def load_query_file(path: Path, document: object, load_graph: Callable[[Path], Graph]) -> QueryFile:
    """Check a decoded query file, its graph and every case.

    Raises:
        FixtureError: the file cannot be used; lists every fault of it, those of its cases too.
            Faults of single cases alone raise nothing: they come back as broken cases.
    """
    file, faults = decode(document, _File, "$")
    raw_cases = document.get("test_cases") if isinstance(document, dict) else None
    raw_cases = raw_cases if isinstance(raw_cases, list) else []
    sweep, config, graph_path = _own_fields(document)
    weight_sets, found = expand(sweep, "$.blend_sweep")
    faults += found
    graph = None
    if graph_path is not None:
        try:
            graph = load_graph(_resolve(path, graph_path))
        except _GraphPathError as error:
            faults.append(Fault("$.graph_path", str(error)))
        except FixtureError as error:
            faults.append(error.at("$.graph_path"))
    cases = list(read_cases(raw_cases, lambda raw, place: _read_case(raw, place, graph, config)))
    if faults or file is None or graph is None:
        raise FixtureError(path, [*faults, *faults_of(cases)])
    return QueryFile(path, graph, file.config, tuple(weight_sets), tuple(cases))


def _own_fields(document: object) -> tuple[BlendSweep | None, Config | None, str | None]:
    """The file's fields that decode, so that a fault in one does not hide those in others."""
    if not isinstance(document, dict):
        return None, None, None
    sweep, _ = decode(document.get("blend_sweep"), BlendSweep, "")
    config, _ = decode(document.get("config"), Config, "")
    graph_path = document.get("graph_path")
    return sweep, config, graph_path if isinstance(graph_path, str) else None


class _GraphPathError(Exception):
    pass


def _resolve(path: Path, graph_path: str) -> Path:
    if PurePosixPath(graph_path).is_absolute() or PureWindowsPath(graph_path).anchor:
        raise _GraphPathError(
            f'"{graph_path}" is absolute; write it relative to the folder of the query file'
        )
    if not graph_path or "\0" in graph_path:
        raise _GraphPathError("not a path; write it relative to the folder of the query file")
    target = _tidy(path.parent / graph_path)
    try:
        is_dir, is_file = target.is_dir(), target.is_file()
    except OSError as error:  # Too long, or in a folder that may not be entered.
        raise _GraphPathError(f'"{graph_path}" cannot be read: {error.strerror}') from None
    if is_dir:
        raise _GraphPathError(f'"{graph_path}" is a folder, not a graph file')
    if not is_file:
        raise _GraphPathError(
            f'there is no file "{graph_path}" (looked for {target}); '
            "the path is relative to the folder of the query file"
        )
    return target


def _tidy(path: Path) -> Path:
    """The path without ``..``, unless symbolic links make that another file."""
    tidy = os.path.normpath(path)
    return Path(tidy) if os.path.realpath(tidy) == os.path.realpath(path) else path


def _read_case(
    raw: object, place: str, graph: Graph | None, config: Config | None
) -> tuple[RetrievalCase | None, list[Fault]]:
    case, faults = decode(raw, RetrievalCase, place)
    if case:
        faults += _semantic_faults(case, place, graph, config)
    return case, faults


def _semantic_faults(
    case: RetrievalCase, place: str, graph: Graph | None, config: Config | None
) -> Iterator[Fault]:
    """What is wrong with a case that decodes: against itself, its graph and its file's config."""
    seen: set[int] = set()
    rankings = [
        (f"{place}.expected_combined_ranking", case.expected_combined_ranking, True),
        (f"{place}.bonus_combined_ranking", case.bonus_combined_ranking, False),
    ]
    for position, expectation in enumerate(case.expected_per_query):
        where = f"{place}.expected_per_query[{position}]"
        if expectation.q >= len(case.sub_queries):
            count = len(case.sub_queries)
            message = (
                f"there is no sub-query {expectation.q}; the case has {count} (0 is the first)"
            )
            yield Fault(f"{where}.q", message)
        if expectation.q in seen:
            yield Fault(f"{where}.q", f"sub-query {expectation.q} has an expectation already")
        seen.add(expectation.q)
        rankings.append((f"{where}.ranking", expectation.ranking, True))
        rankings.append((f"{where}.bonus_ranking", expectation.bonus_ranking, False))
    for where, ids, must in rankings:
        yield from _id_faults(ids, where, graph)
        if must and config and len(ids) > config.max_results:
            message = f"{len(ids)} ids, but `max_results` lets only {config.max_results} come back"
            yield Fault(where, message)
    yield from _action_faults(case, place, graph)


def _id_faults(ids: Sequence[str], place: str, graph: Graph | None) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for position, name in enumerate(ids):
        if name in first:
            yield Fault(f"{place}[{position}]", f'"{name}" is listed twice')
        first.setdefault(name, position)
        if graph and name not in graph:
            hint = suggestion(name, graph.index)
            yield Fault(f"{place}[{position}]", f'no node of the graph has the id "{name}"{hint}')


def _action_faults(case: RetrievalCase, place: str, graph: Graph | None) -> Iterator[Fault]:
    where = f"{place}.expected_actions"
    yield from _id_faults(case.expected_actions, where, graph)
    for position, name in enumerate(case.expected_actions):
        if graph and name in graph and graph[name].procedure is None:
            yield Fault(f"{where}[{position}]", f'"{name}" is no Procedure node, so no action')
