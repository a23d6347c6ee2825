"""Does the steps of a scenario to a chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_soulmem.archive.crash import LOOKUP
from pytest_soulmem.archive.fixture import Cast
from pytest_soulmem.archive.host import Host
from pytest_soulmem.archive.rendering import render
from pytest_soulmem.archive.state import State, observe
from pytest_soulmem.archive.steps import (
    AdvanceHours,
    Archive,
    CrashAt,
    Describe,
    Gc,
    Put,
    Recall,
    Step,
    Transfer,
    TripleSpec,
)
from pytest_soulmem.archive.terms import Archived, Triple


@dataclass(frozen=True)
class Answer:
    """What a chain answered to a step."""

    archived: Archived | None = None
    collected: Sequence[str] | None = None
    recalled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The digests, by the method that gave them."""
    problem: str = ""
    """What kept the step from being what it says."""


class Unsupported(Exception):
    """The chain does not offer what a step needs; says what."""


class Play:
    """A chain on its host, with what the fixture knows of the story so far."""

    def __init__(self, host: Host, cast: Cast) -> None:
        self.host = host
        self.cast = cast
        self._descriptions: dict[str, str] = {}
        self._rendered_with: dict[str, dict[str, str]] = {}

    def state(self) -> State:
        """What the chain holds now."""
        return observe(self.host.chain, [media.digest for media in self.cast.media.values()])

    def finished(self, step: Step) -> State:
        """What the chain would hold if it did a step undisturbed; it does not."""
        with self.host.twin() as host:
            twin = Play(host, self.cast)
            twin._descriptions = dict(self._descriptions)
            twin._rendered_with = dict(self._rendered_with)
            twin.do(step)
            return twin.state()

    def text_of(self, document: str) -> str:
        """The text of a document, with the descriptions of the moment when it was made."""
        return self._filled(document, self.cast.documents[document].text)

    def triples_of(self, step: Archive) -> list[Triple]:
        """What the extractor finds in a document."""
        own = self.cast.documents[step.document].triples
        found = own if step.triples is None else step.triples
        return [self._triple(step.document, spec) for spec in found]

    def _triple(self, document: str, spec: TripleSpec) -> Triple:
        told = spec.sentence
        sentence = f"{spec.subject} {spec.relation} {spec.object}" if told is None else told
        parts = (spec.subject, spec.relation, spec.object, sentence)
        return Triple(*(self._filled(document, part) for part in parts))

    def _filled(self, document: str, text: str) -> str:
        return render(text, self.cast.media, self._rendered_with.get(document, self._descriptions))

    def do(self, step: Step) -> Answer:
        """Do one step.

        Raises:
            Misbehaviour: the chain raised or returned nonsense.
            Unsupported: the chain does not offer what the step needs.
        """
        chain = self.host.chain
        if isinstance(step, CrashAt):
            return self._crash(step)
        if isinstance(step, Put):
            return self._put(step)
        if isinstance(step, Describe):
            self._descriptions[step.media] = step.description
            chain.describe(self.cast.media[step.media].digest, step.description)
        elif isinstance(step, Transfer):
            self._rendered_with[step.document] = dict(self._descriptions)
            chain.transfer(step.context, step.document, self.text_of(step.document))
        elif isinstance(step, Archive):
            return self._archive(step)
        elif isinstance(step, Gc):
            return Answer(collected=self._collect(step))
        elif isinstance(step, Recall):
            return Answer(recalled=self._recall(step))
        elif isinstance(step, AdvanceHours):
            self.host.clock.advance(step.hours)
        else:
            chain.recover()
        return Answer()

    def _put(self, step: Put) -> Answer:
        media = self.cast.media[step.media]
        description = self._descriptions.get(step.media, media.description)
        digest = self.host.chain.put(media.data, media.mime, description, step.context)
        if digest != media.digest:
            return Answer(problem=f"the digest is {digest!r}, not the SHA-256 {media.digest}")
        return Answer()

    def _archive(self, step: Archive) -> Answer:
        chain = self.host.chain
        triples = self.triples_of(step)

        def archive() -> Archived:
            return chain.archive(step.document, lambda _: list(triples))

        if not step.lookup_fails:
            return Answer(archive())
        if LOOKUP not in chain.crash_points:
            raise Unsupported(f"lets a look-up fail; {chain.name} has no point {LOOKUP}")
        archived, failed = self.host.fails_to_look_up(archive)
        return Answer(archived, problem="" if failed else f"the point {LOOKUP} was not passed")

    def _collect(self, step: Gc) -> list[str]:
        config = self.cast.config
        age = config.min_age_hours if step.min_age_hours is None else step.min_age_hours
        own = step.capacity_bytes
        return self.host.chain.gc(age, config.capacity_bytes if own is None else own)

    def _recall(self, step: Recall) -> dict[str, Sequence[str]]:
        entity = render(step.entity, self.cast.media, self._descriptions)
        message = render(step.message or step.entity, self.cast.media, self._descriptions)
        chain = self.host.chain
        return {"recall": chain.recall(entity), "context_for": chain.context_for(message)}

    def _crash(self, step: CrashAt) -> Answer:
        chain = self.host.chain
        if step.point not in chain.crash_points:
            raise Unsupported(f"crashes at {step.point}; {chain.name} has no such crash point")
        died = self.host.dies(step.point, lambda: self.do(step.during))
        return Answer(problem="" if died else f"the point {step.point} was not passed")
