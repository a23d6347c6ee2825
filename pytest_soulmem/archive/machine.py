"""The state machine that looks for steps, and places to die, which break a law."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

from pytest_soulmem.archive.crash import LOOKUP
from pytest_soulmem.archive.fixture import Cast, DocumentSpec
from pytest_soulmem.archive.host import Host, Opener
from pytest_soulmem.archive.laws import LAWS, Story, make_move
from pytest_soulmem.archive.play import Play, as_json
from pytest_soulmem.archive.scenario import run_folder
from pytest_soulmem.archive.state import State
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
)
from pytest_soulmem.kinds import Failure
from pytest_soulmem.laws import Broken, broken_law, searched
from pytest_soulmem.users_code import Misbehaviour

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
        """The file's cast, with a document for each media that is only its marker."""
        documents = dict(self.cast.documents)
        for name in self.cast.media:
            document = DocumentSpec(f"marker of {name}", f"{{marker:{name}}}")
            documents.setdefault(document.name, document)
        return replace(self.cast, documents=documents)


class BrokenLaw(Broken):
    """A law of the chain does not hold."""

    def __init__(self, law: str, seen: str, steps: Sequence[str]) -> None:
        super().__init__(seen, steps)
        self.law = law


def try_laws(domain: Domain, names: Sequence[str], key: str) -> dict[str, Failure]:
    """The laws that hypothesis could break, each with the shortest steps found.

    One search tries all laws together. Where it breaks one, another search tries the rest.
    ``key`` keeps the examples and the seed of this file apart from those of every other.

    Raises:
        Misbehaviour: the chain raised or returned nonsense.
    """
    failures: dict[str, Failure] = {}
    while remaining := [name for name in names if name not in failures]:
        found = _search(domain, remaining, key)
        if found is None:
            break
        failures[found[0]] = found[1]
    return failures


def _search(domain: Domain, names: Sequence[str], key: str) -> tuple[str, Failure] | None:
    raised: list[Broken | Misbehaviour] = []
    told: list[str] = []
    with run_folder() as folder:
        numbers = count()
        machine = _machine(domain, names, lambda: Path(folder) / str(next(numbers)), raised, told)
        # As hypothesis' own plugin does for parametrised tests.
        machine._hypothesis_internal_add_digest = key.encode()  # type: ignore[attr-defined]
        found = searched(lambda: run_state_machine_as_test(machine, settings=_budget()), raised)
    if found is None:
        return None
    last = raised[-1]
    assert isinstance(last, BrokenLaw)  # noqa: S101 - a machine raises no other
    system = f"chain {told[-1]}"
    return last.law, broken_law(last.law, LAWS[last.law].statement, system, found)


def _budget() -> settings:
    profile = settings()
    return settings(
        max_examples=max(1, profile.max_examples // SHARE),
        stateful_step_count=min(STEPS, profile.stateful_step_count),
        deadline=None,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        # The laws judge what a chain does, not its speed.
        suppress_health_check=[*profile.suppress_health_check, HealthCheck.too_slow],
    )


def _machine(
    domain: Domain,
    names: Sequence[str],
    folder: Callable[[], Path],
    raised: list[Broken | Misbehaviour],
    told: list[str],
) -> type[RuleBasedStateMachine]:
    """The state machine for a file's cast."""
    cast = domain.extended
    media = st.sampled_from(sorted(cast.media))
    documents = st.sampled_from(sorted(cast.documents))

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.host = Host(domain.open_chain, folder())
            told.append(self.host.chain.name)
            self.play = Play(self.host, cast)
            self.story = Story(self.play)
            self.steps: list[Step] = []
            self.made: set[str] = set()
            self.state: State | None = None

        @rule(step=_puts(media))
        def put(self, step: Step) -> None:
            self.take(step)

        @rule(step=st.builds(_describe, media, st.sampled_from(_DESCRIPTIONS)))
        def describe(self, step: Step) -> None:
            self.take(step)

        @rule(step=st.builds(_transfer, documents))
        def transfer(self, step: Step) -> None:
            self.take(step)

        @rule(data=st.data())
        def archive(self, data: st.DataObject) -> None:
            if self.there():
                self.take(data.draw(self.archivings()))

        @rule(step=_collectings())
        def gc(self, step: Step) -> None:
            self.take(step)

        @rule(hours=st.sampled_from([1.0, 100.0]))
        def advance_hours(self, hours: float) -> None:
            self.take(AdvanceHours(step="advance_hours", hours=hours))

        @rule()
        def recover(self) -> None:
            self.take(Recover(step="recover"))

        @rule(data=st.data())
        def crash_at(self, data: st.DataObject) -> None:
            points = sorted(self.host.chain.crash_points - {LOOKUP})
            kinds: dict[str, SearchStrategy[Step]] = {
                "put": _puts(media),
                "transfer": st.builds(_transfer, documents),
                "gc": _collectings(),
                "recover": st.just(Recover(step="recover")),
            }
            if self.there():
                kinds["archive"] = self.archivings()
            possible = [point for point in points if point.partition(".")[0] in kinds]
            if possible:
                point = data.draw(st.sampled_from(possible))
                during = data.draw(kinds[point.partition(".")[0]])
                self.take(CrashAt(step="crash_at", point=point, during=during))

        def there(self) -> list[str]:
            """The documents that are there."""
            return sorted(self.now().documents & cast.documents.keys())

        def archivings(self) -> SearchStrategy[Step]:
            fails = st.just(False)
            if LOOKUP in self.host.chain.crash_points:
                fails |= st.booleans()
            return st.builds(_archive, st.sampled_from(self.there()), _extractions(), fails)

        def now(self) -> State:
            if self.state is None:
                self.state = self._careful(self.play.state)
            return self.state

        def take(self, step: Step) -> None:
            """Do a step and hold it to the laws."""
            before = self.now()
            self.steps.append(step)
            self._careful(lambda: self._hold(step, before))

        def _hold(self, step: Step, before: State) -> None:
            finished = None
            if isinstance(step, CrashAt) and "crash-all-or-nothing" in names:
                finished = self.play.finished(step.during)
            answer = self.play.do(step)
            self.state = after = self.play.state()
            if isinstance(step, CrashAt) and answer.problem:
                # The point was not passed, so nothing died: the step was simply done.
                self.steps[-1] = step = step.during
            move = make_move(self.story, step, answer, before, after, finished)
            for name in names:
                for seen in LAWS[name].check(move):
                    raise BrokenLaw(name, seen, self.told())

        def _careful(self, call: Callable[[], Any]) -> Any:
            try:
                return call()
            except Broken as error:
                raised.append(error)
                raise
            except Misbehaviour as error:
                steps = "\n".join(["after these steps:", *self.told()])
                told_error = Misbehaviour(error.reason, f"{error.details}\n\n{steps}".strip())
                raised.append(told_error)
                raise told_error from None

        def told(self) -> list[str]:
            """The steps so far, as a fixture would write them."""
            return [json.dumps(as_json(step), ensure_ascii=False) for step in self.steps]

        def teardown(self) -> None:
            self.host.__exit__(None, None, None)

    return Machine


def _puts(media: SearchStrategy[str]) -> SearchStrategy[Step]:
    return st.builds(_put, media, st.sampled_from([_CONTEXT, None]))


def _put(media: str, context: str | None) -> Step:
    return Put(step="put", media=media, context=context)


def _describe(media: str, description: str) -> Step:
    return Describe(step="describe", media=media, description=description)


def _transfer(document: str) -> Step:
    return Transfer(step="transfer", context=_CONTEXT, document=document)


def _archive(document: str, triples: tuple[TripleSpec, ...] | None, lookup_fails: bool) -> Step:
    return Archive(step="archive", document=document, triples=triples, lookup_fails=lookup_fails)


def _collectings() -> SearchStrategy[Step]:
    return st.builds(_gc, st.sampled_from([0.0, 48.0]), st.sampled_from([None, 0]))


def _gc(min_age_hours: float, capacity_bytes: int | None) -> Step:
    return Gc(step="gc", min_age_hours=min_age_hours, capacity_bytes=capacity_bytes)


def _extractions() -> SearchStrategy[tuple[TripleSpec, ...] | None]:
    """What an extractor may find: nothing, things that no graph takes, or what the file says."""
    some = st.lists(st.sampled_from([*_UNUSABLE, *_USABLE]), max_size=2, unique=True).map(tuple)
    return some | st.none()
