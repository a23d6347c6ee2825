"""The state machine that looks for steps, and places to die, which break a law."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

from pytest_soulmem.archive.crash import CRASH_POINTS, LOOKUP
from pytest_soulmem.archive.fixture import Cast, DocumentSpec
from pytest_soulmem.archive.host import Host, Opener
from pytest_soulmem.archive.laws import CRASH_LAW, LAWS, Story, make_move
from pytest_soulmem.archive.play import Play
from pytest_soulmem.archive.scenario import run_folder
from pytest_soulmem.archive.steps import (
    AdvanceHours,
    Archive,
    CrashAt,
    Describe,
    Gc,
    Put,
    Recover,
    Step,
    Transfer,
    TripleSpec,
    as_json,
)
from pytest_soulmem.kinds import Failure
from pytest_soulmem.laws import Broken, Counterexample, broken_law, search_settings, searched
from pytest_soulmem.users_code import Misbehaviour

T = TypeVar("T")

SHARE = 5
"""One example of a machine is many steps: it gets this part of the profile's examples."""
STEPS = 20
"""Steps of one example at most; fewer if the profile says so."""

_CONTEXT = "chat"
_UNUSABLE = (
    TripleSpec("水平", "分割", "成"),
    TripleSpec("图", "有", "颜色"),
    TripleSpec("颜色", "是", "色" * 51),
)
_USABLE = (TripleSpec("旗子", "挂在", "阳台"), TripleSpec("旗子", "来自", "旅行"))
_DESCRIPTIONS = ("", "**条纹**旗", "一面旗子，三种颜色", "图")


@dataclass(frozen=True)
class Domain:
    """What the laws of a file are tried on: a chain, and the file's media and documents."""

    open_chain: Opener
    cast: Cast

    @property
    def extended(self) -> Cast:
        """The file's cast, with a document for each media that no document has a marker of."""
        documents = dict(self.cast.documents)
        texts = "".join(document.text for document in documents.values())
        for name in self.cast.media:
            marker = f"{{marker:{name}}}"
            if marker not in texts:
                document = DocumentSpec(f"marker of {name}", marker)
                documents.setdefault(document.name, document)
        return replace(self.cast, documents=documents)


class BrokenLaw(Broken):
    """A law of the chain does not hold."""

    def __init__(self, law: str, seen: str, steps: Sequence[Step]) -> None:
        super().__init__(seen, _told(steps))
        self.law = law
        self.steps = tuple(steps)


def _told(steps: Sequence[Step]) -> list[str]:
    """Steps as a fixture would write them."""
    return [json.dumps(as_json(step), ensure_ascii=False) for step in steps]


@dataclass
class Findings:
    """What trying the laws of a file found."""

    chain: str = ""
    dies: bool = False
    """Whether the chain can be made to die at all."""
    failures: dict[str, Failure] = field(default_factory=dict)
    """The laws that could be broken, each with the shortest steps found."""

    def lacking(self, law: str) -> str:
        """Why a law could not be tried; empty if it was."""
        if law == CRASH_LAW and not self.dies:
            return f"{self.chain} has no crash points"
        return ""


def try_laws(domain: Domain, names: Sequence[str], key: str) -> Findings:
    """Let hypothesis look for steps that break a law.

    One search tries all laws together. Where it breaks one, another search tries the rest.
    ``key`` keeps the examples and the seed of this file apart from those of every other.

    Raises:
        Misbehaviour: the chain raised or returned nonsense.
    """
    findings = Findings()
    while remaining := [name for name in names if name not in findings.failures]:
        if not _search(domain, remaining, key, findings):
            break
    return findings


def _search(domain: Domain, names: Sequence[str], key: str, findings: Findings) -> bool:
    """Search once; whether a law was broken."""
    with run_folder() as folder:
        search = Search(domain, names, Path(folder), findings)

        def machine() -> RuleBasedStateMachine:
            return ChainMachine(search)

        # As hypothesis' own plugin does for parametrised tests.
        machine._hypothesis_internal_add_digest = key.encode()  # type: ignore[attr-defined]
        found = searched(lambda: _run(machine), search.raised)
        if found is None:
            return False
        broken = search.raised[-1]
        assert isinstance(broken, BrokenLaw)  # noqa: S101 - a machine raises no other
        if Phase.shrink in settings().phases and not found.note:
            broken = _trimmed(search, broken)
            found = Counterexample(broken.seen, broken.values)
    chain = f"chain {findings.chain}"
    statement = LAWS[broken.law].statement
    findings.failures[broken.law] = broken_law(broken.law, statement, chain, found)
    return True


def _trimmed(search: Search, broken: BrokenLaw) -> BrokenLaw:
    """Leave out steps, and deaths, that the story does not need.

    What can be drawn depends on the steps before, so hypothesis cannot drop every one of them.
    """
    while simpler := _first_that_breaks(search, broken.law, _simpler(broken.steps)):
        broken = simpler
    return broken


def _simpler(steps: Sequence[Step]) -> Iterator[list[Step]]:
    for at, step in enumerate(steps):
        before, after = steps[:at], steps[at + 1 :]
        yield [*before, *after]
        if isinstance(step, CrashAt):
            yield [*before, step.during, *after]


def _first_that_breaks(
    search: Search, law: str, stories: Iterable[Sequence[Step]]
) -> BrokenLaw | None:
    for steps in stories:
        try:
            ChainMachine(search).replay(steps)
        except BrokenLaw as error:
            if error.law == law:
                return error
        except Misbehaviour:
            pass  # the steps that remain are no story any more
    return None


def _run(machine: Callable[[], RuleBasedStateMachine]) -> None:
    # Any callable will do, whatever the annotation says.
    run_state_machine_as_test(machine, settings=_budget())  # type: ignore[arg-type]


def _budget() -> settings:
    profile = settings()
    return search_settings(
        max_examples=max(1, profile.max_examples // SHARE),
        stateful_step_count=min(STEPS, profile.stateful_step_count),
        verbosity=Verbosity.quiet,
        suppress_health_check=[*profile.suppress_health_check, HealthCheck.too_slow],
    )


class Search:
    """What the machines of one search share."""

    def __init__(
        self, domain: Domain, laws: Sequence[str], folder: Path, findings: Findings
    ) -> None:
        self.domain = domain
        self.laws = laws
        self.raised: list[Broken | Misbehaviour] = []
        self.strategies: dict[tuple[str, ...], SearchStrategy[Step]] = {}
        """What can be done next, by the documents that are there. Making them costs more than
        the steps do."""
        self._findings = findings
        self._folder = folder
        self._numbers = count()

    def host(self) -> Host:
        """A fresh chain."""
        host = Host(self.domain.open_chain, self._folder / str(next(self._numbers)))
        self._findings.chain = host.chain.name
        self._findings.dies = bool(host.chain.crash_points & CRASH_POINTS.keys())
        return host


class ChainMachine(RuleBasedStateMachine):
    """Does random steps to a chain, lets it die at random points, and holds it to the laws."""

    def __init__(self, search: Search) -> None:
        super().__init__()
        self._search = search
        self._host = search.host()
        self._play = Play(self._host, search.domain.extended)
        self._story = Story(self._play)
        self._steps: list[Step] = []
        self._sound = True
        self._state = self._careful(self._play.state)

    # What can be done next

    def puts(self) -> SearchStrategy[Step]:
        """Storing a media of the file."""
        return st.builds(_put, self._media(), st.sampled_from([_CONTEXT, None]))

    def describings(self) -> SearchStrategy[Step]:
        """Describing one again."""
        return st.builds(_describe, self._media(), st.sampled_from(_DESCRIPTIONS))

    def transfers(self) -> SearchStrategy[Step]:
        """Making a document."""
        return st.builds(_transfer, st.sampled_from(sorted(self._play.cast.documents)))

    def archivings(self) -> SearchStrategy[Step]:
        """Archiving a document that is there."""
        fails = st.just(False)
        if LOOKUP in self._host.chain.crash_points:
            fails |= st.booleans()
        return st.builds(_archive, st.sampled_from(self._there), _extractions(), fails)

    @property
    def _there(self) -> list[str]:
        """The documents that can be archived now."""
        return sorted(self._state.documents & self._play.cast.documents.keys())

    def _media(self) -> SearchStrategy[str]:
        return st.sampled_from(sorted(self._play.cast.media))

    @cached_property
    def _points(self) -> dict[str, list[str]]:
        """The points at which this chain can die, by the step that passes them."""
        own = sorted(self._host.chain.crash_points & CRASH_POINTS.keys())
        return {
            kind: [point for point in own if point.startswith(f"{kind}.")]
            for kind in ("put", "transfer", "archive", "gc", "recover")
        }

    def steps(self) -> SearchStrategy[Step]:
        """Anything that can be done now; what moves media on comes more often."""
        there = tuple(self._there)
        known = self._search.strategies
        if there not in known:
            known[there] = st.one_of(self._possible())
        return known[there]

    def _possible(self) -> list[SearchStrategy[Step]]:
        possible = [*[self.puts()] * 2, *[self.transfers()] * 2]
        if self._there:
            possible += [self.archivings()] * 3
        possible += [
            self.describings(),
            _collectings(),
            st.sampled_from([_LATER, _RECOVER]),
            *self._deaths(),
        ]
        return possible

    def _deaths(self) -> list[SearchStrategy[Step]]:
        """Dying at any point of any step; half of the time while archiving, where that can be."""
        kinds: dict[str, SearchStrategy[Step]] = {
            "put": self.puts(),
            "transfer": self.transfers(),
            "gc": _collectings(),
            "recover": st.just(_RECOVER),
        }
        possible = [
            st.builds(_crash_at, st.sampled_from(self._points[kind]), during)
            for kind, during in kinds.items()
            if self._points[kind]
        ]
        deaths = [st.one_of(possible)] if possible else []
        if self._there and self._points["archive"]:
            points = st.sampled_from(self._points["archive"])
            deaths.append(st.builds(_crash_at, points, self.archivings()))
        return deaths

    # Doing it

    # One rule, not one for each step: hypothesis leaves rules out of whole examples, and of few
    # examples none would be left that has all it takes to lose a media.
    @rule(step=st.runner().flatmap(lambda machine: machine.steps()))
    def act(self, step: Step) -> None:
        """Do something, or die in the middle of it."""
        self._take(step)

    def _take(self, step: Step) -> None:
        """Do a step and hold it to the laws."""
        self._steps.append(step)
        self._careful(lambda: self._hold(step))

    def _hold(self, step: Step) -> None:
        before = self._state
        finished = None
        if isinstance(step, CrashAt) and CRASH_LAW in self._search.laws:
            finished = self._play.finished(step.during)
        answer = self._play.do(step)
        self._state = self._play.state()
        if isinstance(step, CrashAt) and answer.problem:
            # The point was not passed, so nothing died: the step was simply done.
            self._steps[-1] = step = step.during
        move = make_move(self._story, step, before, self._state, finished)
        for law in self._search.laws:
            for seen in LAWS[law].check(move):
                raise BrokenLaw(law, seen, self._steps)

    def _careful(self, call: Callable[[], T]) -> T:
        """Keep what is raised; errors of the chain say after which steps they came."""
        try:
            return call()
        except Broken as error:
            self._sound = False
            self._search.raised.append(error)
            raise
        except Misbehaviour as error:
            self._sound = False
            steps = "\n".join(["after these steps:", *_told(self._steps)])
            told = Misbehaviour(error.reason, f"{error.details}\n\n{steps}".strip())
            self._search.raised.append(told)
            raise told from None

    def replay(self, steps: Sequence[Step]) -> None:
        """Do given steps, and end."""
        try:
            for step in steps:
                self._take(step)
        finally:
            self._host.close()

    def teardown(self) -> None:
        """End with a recovery, and give the chain's files back."""
        try:
            if self._sound:
                self._take(_RECOVER)
        finally:
            self._host.close()


_LATER = AdvanceHours(step="advance_hours", hours=100.0)
_RECOVER = Recover(step="recover")


def _put(media: str, context: str | None) -> Step:
    return Put(step="put", media=media, context=context)


def _describe(media: str, description: str) -> Step:
    return Describe(step="describe", media=media, description=description)


def _transfer(document: str) -> Step:
    return Transfer(step="transfer", context=_CONTEXT, document=document)


def _archive(document: str, triples: tuple[TripleSpec, ...] | None, lookup_fails: bool) -> Step:
    return Archive(step="archive", document=document, triples=triples, lookup_fails=lookup_fails)


def _crash_at(point: str, during: Step) -> Step:
    return CrashAt(step="crash_at", point=point, during=during)


def _collectings() -> SearchStrategy[Step]:
    return st.builds(_gc, st.sampled_from([0.0, 48.0]), st.sampled_from([None, 0]))


def _gc(min_age_hours: float, capacity_bytes: int | None) -> Step:
    return Gc(step="gc", min_age_hours=min_age_hours, capacity_bytes=capacity_bytes)


def _extractions() -> SearchStrategy[tuple[TripleSpec, ...] | None]:
    """What an extractor may find: nothing, things that no graph takes, or what the file says."""
    some = st.lists(st.sampled_from([*_UNUSABLE, *_USABLE]), max_size=2, unique=True).map(tuple)
    return st.none() | some
