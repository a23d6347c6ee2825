"""Retrieval as a kind of fixture: from a query file to verdicts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_soulmem.cases import BrokenCase
from pytest_soulmem.cores import take_a_share
from pytest_soulmem.embedders.choose import Chosen, choose
from pytest_soulmem.embedders.embedding import embed_missing
from pytest_soulmem.embedders.errors import EmbeddingError
from pytest_soulmem.embedders.store import VectorStore
from pytest_soulmem.faults import FixtureError, listing, summary
from pytest_soulmem.kinds import Failure, Progress, Verdict
from pytest_soulmem.reporting.text import visible, visible_json
from pytest_soulmem.reporting.tracebacks import one_line, users_traceback
from pytest_soulmem.retrieval.answer import answer_faults
from pytest_soulmem.retrieval.authoring import advice, example, faults, schema
from pytest_soulmem.retrieval.checks import violations
from pytest_soulmem.retrieval.columns import Column, Embed
from pytest_soulmem.retrieval.details import combined_ids, comparisons, own_ids
from pytest_soulmem.retrieval.failure import explain_failure
from pytest_soulmem.retrieval.graph import Graph, read_graph
from pytest_soulmem.retrieval.outcome import (
    Outcome,
    System,
    figures,
    ids_of,
    measure,
    measure_abstract,
    measure_actions,
    sub_query_results,
)
from pytest_soulmem.retrieval.query import QueryFile, RetrievalCase, SubQuery, load_query_file
from pytest_soulmem.retrieval.reference import ReferenceRetriever
from pytest_soulmem.retrieval.retriever import (
    Explained,
    Explainer,
    Query,
    Retrieval,
    Retriever,
    plain,
    plain_text,
)
from pytest_soulmem.retrieval.similarity import graph_columns, texts_of
from pytest_soulmem.retrieval.weights import WeightSet, changed, sweep_faults
from pytest_soulmem.settings import Check, Mode, Settings

__all__ = [
    "Result",
    "advice",
    "example",
    "faults",
    "open_run",
    "recognises",
    "schema",
]

Result = Outcome

_TOLD = (Exception, SystemExit, pytest.skip.Exception, pytest.fail.Exception)
"""What a hook may raise; anything else, such as an interrupt, ends the run."""


class NoRetriever(Exception):
    """A hook returned something that is no retriever."""


def recognises(document: object) -> bool:
    """Whether a document is a query file, whole or faulty."""
    return isinstance(document, dict) and "test_cases" in document


def open_run(config: pytest.Config, settings: Settings, progress: Progress) -> RetrievalRun:
    """Start a session's run."""
    return RetrievalRun(config, settings, progress)


@dataclass(frozen=True)
class SweptCase:
    """A case with one weight set of its file."""

    name: str
    file: QueryFile
    case: RetrievalCase
    weight_set: WeightSet
    mode: Mode
    check: Check
    group: str = ""

    @property
    def shares(self) -> str:
        """The graph, whose vectors a process should load once."""
        return self.file.graph.digest[:16]

    @property
    def fingerprint(self) -> str:
        """A digest of what is asked, of whom, and what is expected."""
        case = msgspec.structs.replace(self.case, name="", description=None, mode=None, check=None)
        content = self.file.graph.digest.encode() + msgspec.json.encode(case)
        return hashlib.sha256(content).hexdigest()[:16]

    @property
    def query(self) -> Query:
        """What the retriever is asked."""
        config = self.file.config
        return Query(
            self.case.sub_queries,
            self.weight_set.weights,
            self.mode,
            config.similarity_threshold,
            config.max_results,
        )


@dataclass(frozen=True)
class UnusableCase:
    """A case with faults."""

    path: Path
    case: BrokenCase
    group: str = ""

    @property
    def name(self) -> str:
        """The item's name."""
        return visible(self.case.name)


def swept_cases(file: QueryFile, settings: Settings) -> list[SweptCase | UnusableCase]:
    """The items of a file: each case with each weight set; a broken case once.

    Raises:
        FixtureError: the file sweeps a weight that the mode of a case does not have.
    """
    cases: list[SweptCase | UnusableCase] = []
    for case in file.cases:
        if isinstance(case, BrokenCase):
            cases.append(UnusableCase(file.path, case))
            continue
        mode = settings.mode or case.mode or file.config.mode or settings.ini_mode or "full"
        faults = sweep_faults(file.weight_sets, mode)
        if faults:
            raise FixtureError(file.path, faults)
        check = settings.check or case.check or file.config.check or settings.ini_check or "order"
        cases += [
            SweptCase(
                visible(case.name) + (f"[{weight_set.label}]" if weight_set.label else ""),
                file,
                case,
                weight_set,
                mode,
                check,
            )
            for weight_set in file.weight_sets
        ]
    return cases


class RetrievalRun:
    """A session's graphs, vectors and retrievers."""

    def __init__(self, config: pytest.Config, settings: Settings, progress: Progress) -> None:
        self._config = config
        self._settings = settings
        self._progress = progress
        self._graphs: dict[Path, Graph | FixtureError] = {}
        self._retrievers: dict[Graph, Retriever | BaseException] = {}
        self._unopened: dict[Graph, Callable[[], Retriever]] = {}
        """What makes the built-in retriever of each graph that no case has asked yet."""
        self._store: VectorStore | None = None
        self._chosen: Chosen | None = None
        self._firsts: dict[Graph, SweptCase] = {}
        """Of all selected cases, also of other processes, the first of each graph."""

    def cases(self, path: Path, document: object) -> Sequence[SweptCase | UnusableCase]:
        """The cases of a query file."""
        return swept_cases(load_query_file(path, document, self._graph), self._settings)

    def _graph(self, path: Path) -> Graph:
        """Each graph is read once, however many query files name it."""
        resolved = path.resolve()
        if resolved not in self._graphs:
            try:
                self._graphs[resolved] = read_graph(path)
            except FixtureError as error:
                self._graphs[resolved] = error
        found = self._graphs[resolved]
        if isinstance(found, FixtureError):
            raise found
        return found

    def prepare(self, cases: Sequence[SweptCase | UnusableCase]) -> None:
        """Ask the hooks for retrievers and embed, once, what the built-in one needs."""
        usable = [case for case in cases if isinstance(case, SweptCase)]
        asked: dict[Graph, list[SweptCase]] = {}
        for case in usable:
            asked.setdefault(case.file.graph, []).append(case)
        ours = []
        for graph in asked:
            retriever: Retriever | BaseException | None
            try:
                retriever = self._ask_hook(graph)
            except _TOLD as error:
                # Told by the items: an error raised here would lose its message under xdist.
                retriever = error
            if retriever is None:
                ours.append(graph)
            else:
                self._retrievers[graph] = retriever
        if ours:
            self._embed({graph: asked[graph] for graph in ours})
        self._firsts = {graph: cases[0] for graph, cases in asked.items()}

    def _ask_hook(self, graph: Graph) -> Retriever | None:
        found = self._config.hook.pytest_soulmem_retriever(config=self._config, graph=graph)
        if found is None:
            return None
        what = "the hook pytest_soulmem_retriever returned"
        if isinstance(found, type):
            raise NoRetriever(f"{what} the class {found.__name__}, not an instance of it")
        if not callable(getattr(found, "retrieve", None)):
            raise NoRetriever(f"{what} {type(found).__name__}, which has no method retrieve")
        retriever: Retriever = found
        return retriever

    def _embed(self, asked: Mapping[Graph, Sequence[SweptCase]]) -> None:
        try:
            self._store = VectorStore(self._settings.vectors)
            self._config.add_cleanup(self._store.close)
            hooked = self._config.hook.pytest_soulmem_embedder(config=self._config)
            self._chosen = choose(self._settings, hooked, self._store)
            memories = {graph: graph_columns(graph) for graph in asked}
            subs = {
                graph: dict.fromkeys(sub for case in cases for sub in case.case.sub_queries)
                for graph, cases in asked.items()
            }
            texts: dict[Any, dict[str, None]] = {"passage": {}, "query": {}}
            for graph, own_subs in subs.items():
                for side, own in texts_of(memories[graph], own_subs).items():
                    texts[side].update(dict.fromkeys(own))
            embed_missing(
                self._store,
                self._chosen,
                {side: list(own) for side, own in texts.items()},
                self._progress,
            )
            # Not before: only one process embeds, and all cores are its own.
            self._config.add_cleanup(take_a_share())
            read = partial(self._store.vectors, self._chosen.identity)
            self._unopened = {
                graph: partial(_reference, graph, read, memories[graph], own)
                for graph, own in subs.items()
            }
        except _TOLD as error:
            # By the items, as above.
            self._retrievers.update(dict.fromkeys(asked, error))

    def _retriever(self, graph: Graph) -> Retriever | BaseException:
        """That of a graph, or why there is none.

        Made for its first case: of several processes, few judge cases of every graph.
        """
        if graph in self._unopened:
            open_ = self._unopened.pop(graph)
            try:
                self._retrievers[graph] = open_()
            except _TOLD as error:
                self._retrievers[graph] = error
        return self._retrievers[graph]

    def obstacle(self, case: SweptCase | UnusableCase) -> str | None:
        """Why there is no retriever: told in full by one case, in a line by the others."""
        problem = None if isinstance(case, UnusableCase) else self._retriever(case.file.graph)
        if not isinstance(problem, (Exception, SystemExit)):
            return None
        # Always the first case of all, so that of several processes one tells.
        teller = next(
            first for graph, first in self._firsts.items() if self._retrievers.get(graph) is problem
        )
        if teller is not case:
            return f'nothing to retrieve with: see "{teller.name}" in {teller.file.path.name}'
        if isinstance(problem, NoRetriever):
            return visible(str(problem))
        if isinstance(problem, EmbeddingError):
            return f"{problem}\n\n{users_traceback(problem.__cause__)}".rstrip()
        # An error in the user's own hook: judging raises it, with its traceback.
        return None

    def judge(self, case: SweptCase | UnusableCase) -> Verdict:
        """Retrieve and check."""
        __tracebackhide__ = True
        if isinstance(case, UnusableCase):
            faults = case.case.faults
            return Verdict(Failure(summary(faults), listing(case.path, faults)))
        retriever = self._retriever(case.file.graph)
        if isinstance(retriever, BaseException):
            raise retriever
        query = case.query
        retrieval: Any = retriever.retrieve(query)
        # Ours has tests of its own; looking again would be a tenth of a case on a small graph.
        if isinstance(retriever, ReferenceRetriever):
            faults_found = []
        else:
            retrieval = plain(retrieval)
            faults_found = answer_faults(retrieval, query, case.file.graph)
        if faults_found:
            name = type(retriever).__name__
            lines = [f"the retriever's answer cannot be judged: {faults_found[0]}"]
            lines += [f"  {name}: {fault}" for fault in faults_found]
            return Verdict(Failure(visible(lines[0]), "\n".join(map(visible, lines))))
        outcome = self._outcome(case, retriever, retrieval)
        found = violations(case.case, retrieval, case.mode, case.check)
        failure = None
        if found or self._settings.details:
            explanation, lacking = _explanation(retriever, query, case.case, retrieval)
            details = comparisons(case.case, retrieval, explanation)
            outcome = msgspec.structs.replace(
                outcome, rankings=details, sub_queries=sub_query_results(retrieval)
            )
            graph = case.file.graph
            failure = explain_failure(query, outcome, found, details, graph) if found else None
            if failure and lacking:
                failure = Failure(failure.reason, f"{failure.text}\n\n{lacking}")
        return Verdict(
            failure,
            _properties(outcome),
            msgspec.structs.asdict(outcome),
            figures=figures(outcome),
            variation=case.weight_set.label,
            fingerprint=case.fingerprint,
        )

    def _outcome(self, case: SweptCase, retriever: Retriever, retrieval: Retrieval) -> Outcome:
        own = self._settings.k or case.file.config.test_k_values
        cutoffs = sorted({*own, *self._settings.cutoffs})
        weights = case.weight_set.weights
        actions = measure_actions(case.case, retrieval.actions, cutoffs)
        return Outcome(
            case=case.case.name,
            weights=case.weight_set.label,
            tag=weights.tag,
            variant=weights.variant,
            mode=case.mode,
            check=case.check,
            system=self._system(retriever),
            negative=case.case.negative,
            retrieved=tuple(ids_of(retrieval.combined)),
            expected=case.case.expected_combined_ranking,
            metrics=measure(case.case, retrieval.combined, cutoffs),
            actions=actions,
            abstract=measure_abstract(case.case, retrieval, case.file.graph),
            actions_unjudged=bool(case.case.expected_actions) and actions is None,
            sub_queries_unjudged=retrieval.per_query is None
            and any(own.ranking for own in case.case.expected_per_query),
            similarity_threshold=case.file.config.similarity_threshold,
            max_results=case.file.config.max_results,
            changed_weights=changed(weights),
            graph=case.shares,
        )

    def _system(self, retriever: Retriever) -> System:
        if isinstance(retriever, ReferenceRetriever) and self._chosen:
            identity = self._chosen.identity
            return System(identity.embedder, identity.model, identity.fingerprint)
        return System(type(retriever).__name__)


def _reference(
    graph: Graph, read: Embed, memories: Mapping[str, Column], sub_queries: Collection[SubQuery]
) -> ReferenceRetriever:
    """The built-in retriever, with all its vectors: a damaged one is told before any case."""
    retriever = ReferenceRetriever(graph, read, memories)
    for side, texts in texts_of({}, sub_queries).items():
        read(side, texts)
    retriever.expect(sub_queries)
    return retriever


def _explanation(
    retriever: Retriever, query: Query, case: RetrievalCase, retrieval: Retrieval
) -> tuple[Explained, str]:
    """Where the scores of a case come from, or a line that says why that is not known."""
    combined, own_by_query = combined_ids(case, retrieval), own_ids(case, retrieval)
    if isinstance(retriever, ReferenceRetriever):
        return retriever.explain_shown(query, combined, own_by_query), ""
    if not isinstance(retriever, Explainer):
        return (), ""
    lacking = f"no scores by channel: explain() of {type(retriever).__name__} gave"
    try:
        explained = retriever.explain(
            query, list(dict.fromkeys([*combined, *chain(*own_by_query.values())]))
        )
        told = [
            {plain_text(name): _scores(channels) for name, channels in own.items()}
            for own in explained
        ]
    except Exception as error:  # Whatever a user's code raises or returns: the failure counts.
        return (), visible(f"{lacking} {one_line(error)}")
    return told, ""


def _scores(channels: Mapping[str, float]) -> dict[str, float]:
    scores = {plain_text(channel): float(score) for channel, score in channels.items()}
    for channel, score in scores.items():
        if not math.isfinite(score):
            raise ValueError(f"{channel} is {score}, no finite number")
    return scores


def _properties(outcome: Outcome) -> dict[str, str | int | float]:
    """The figures of a case for JUnit."""
    shown = {"tag": float(outcome.tag), "variant": float(outcome.variant)}
    return {
        "mode": outcome.mode,
        "check": outcome.check,
        "embedder": outcome.system.name,
        **(shown | outcome.changed_weights),
        **{name.replace(" ", "_"): value for name, value in figures(outcome).items()},
        "retrieved": visible_json(outcome.retrieved),
        "expected": visible_json(outcome.expected),
    }
