"""What must hold of any chain, whatever is done to it and wherever it dies.

Each law looks at one move, the step and the chain before and after it, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pytest_soulmem.archive.judging import owner_text
from pytest_soulmem.archive.markers import parse_markers
from pytest_soulmem.archive.play import Play
from pytest_soulmem.archive.rendering import Media
from pytest_soulmem.archive.state import State
from pytest_soulmem.archive.steps import Archive, CrashAt, Describe, Recover, Step
from pytest_soulmem.archive.terms import Triple


@dataclass
class Story:
    """What has happened to a chain so far, as far as the laws must remember it."""

    play: Play
    archived: set[str] = field(default_factory=set)
    """Digests of media that an archived document referred to."""
    marked: set[str] = field(default_factory=set)
    """Digests of stored media that an archived document had a marker of."""
    extracted: set[Triple] = field(default_factory=set)
    """What the extractor ever found."""

    def media(self, digests: Iterable[str]) -> list[Media]:
        """The media with these digests."""
        wanted = set(digests)
        return [media for media in self.play.cast.media.values() if media.digest in wanted]


@dataclass(frozen=True)
class Move:
    """A step that was done to a chain, or during which it died."""

    story: Story
    step: Step
    crashed: bool
    before: State
    after: State
    finished: State | None
    """What there would be if the step had not been cut short."""
    marked: frozenset[str] = frozenset()
    """Of an archived document: the stored media that it has markers of."""

    @property
    def gone(self) -> frozenset[str]:
        """Documents that were there before and are not now."""
        return self.before.documents - self.after.documents


Check = Callable[[Move], Iterator[str]]


@dataclass(frozen=True)
class Law:
    """A law: what it says, and what a move does that breaks it."""

    statement: str
    check: Check


def make_move(
    story: Story, step: Step, before: State, after: State, finished: State | None
) -> Move:
    """The move, with what it adds to the story."""
    crashed = isinstance(step, CrashAt)
    inner: Step = step.during if isinstance(step, CrashAt) else step
    marked: frozenset[str] = frozenset()
    if isinstance(inner, Archive):
        story.extracted.update(story.play.triples_of(inner))
        marked = _stored_and_marked(story.play.text_of(inner.document), before)
    move = Move(story, inner, crashed, before, after, finished, marked)
    for document in move.gone:
        story.archived |= {
            held.digest
            for held in before.references
            if held.kind == "document" and held.owner == document
        }
        story.marked |= marked
    return move


def _stored_and_marked(text: str, before: State) -> frozenset[str]:
    beginnings = tuple(marker.digest for marker in parse_markers(text))
    return frozenset(digest for digest in before.stored if digest.startswith(beginnings))


def _referenced_stays(move: Move) -> Iterator[str]:
    lost = move.before.stored - move.after.stored
    for media in move.story.media(lost):
        owners = sorted(map(owner_text, move.before.referring(media.digest)))
        if owners:
            yield f"{media.name} is gone, though {', '.join(owners)} referred to it"


def _gone_only_if_written(move: Move) -> Iterator[str]:
    for document in sorted(move.gone):
        if not isinstance(move.step, Archive) or move.step.document != document:
            yield f"the document {document} is gone, and nobody archived it"
        elif not _something_stands(move, move.step):
            yield f"the document {document} is gone, and nothing of it stands in the graph"


def _something_stands(move: Move, step: Archive) -> bool:
    play = move.story.play
    entities = {marker.entity for marker in parse_markers(play.text_of(step.document))}
    given = {
        (triple.subject.strip(), triple.relation, triple.object.strip())
        for triple in play.triples_of(step)
    }
    return any(
        row.subject in entities or (row.subject, row.relation, row.object) in given
        for row in move.after.relations
    )


def _marked_media_recalled(move: Move) -> Iterator[str]:
    step = move.step
    stays = isinstance(step, Archive) and step.document in move.after.documents
    if isinstance(step, Archive) and stays and move.marked and not move.crashed:
        names = move.story.play.cast.media_names(move.marked)
        yield f"the document {step.document} stays, though it has a marker of {names}"
    chain = move.story.play.host.chain
    for media in move.story.media(move.story.marked):
        for entry, ask in (("recall", chain.recall), ("context_for", chain.context_for)):
            if media.digest not in ask(media.entity):
                yield f"{media.name} is not recalled by {entry}({media.entity!r})"


def _archived_media_kept(move: Move) -> Iterator[str]:
    for media in move.story.media(move.story.archived):
        if move.after.referring(media.digest):
            continue
        if media.digest not in move.story.play.host.chain.recall(media.entity):
            yield (
                f"{media.name} was in an archived document; nothing refers to it now, "
                "and it is not recalled"
            )


def _counts_equal_references(move: Move) -> Iterator[str]:
    play = move.story.play
    for media in play.cast.media.values():
        told = play.host.chain.reference_count(media.digest)
        seen = len(move.after.referring(media.digest))
        if told != seen:
            yield f"the reference count of {media.name} is {told}, it has {seen} references"


def _names_stay(move: Move) -> Iterator[str]:
    if isinstance(move.step, Describe) and move.before.entities != move.after.entities:
        changed = sorted(move.before.entities ^ move.after.entities)
        yield f"describing {move.step.media} changed the entities {', '.join(changed)}"
    by_entity = {media.digest: media for media in move.story.play.cast.media.values()}
    for row in move.after.relations - move.story.extracted:
        for marker in parse_markers(row.sentence):
            own = [by_entity[digest] for digest in by_entity if digest.startswith(marker.digest)]
            for media in own:
                if row.subject != media.entity:
                    yield f"{media.name} has the entity {row.subject!r}, not {media.entity!r}"


def _recovery_idempotent(move: Move) -> Iterator[str]:
    if not isinstance(move.step, Recover):
        return
    before, after = move.before, move.after
    for what in ("references", "documents", "relations", "stored"):
        if getattr(before, what) != getattr(after, what):
            yield f"recovery changed the {what}; it may only remove orphaned files"
    if not move.crashed:
        move.story.play.host.chain.recover()
        if move.story.play.state() != after:
            yield "recovering a second time changed something"


def _crash_all_or_nothing(move: Move) -> Iterator[str]:
    if not move.crashed or move.finished is None:
        return
    found = _essence(move.after)
    if found not in (_essence(move.before), _essence(move.finished)):
        yield "after the crash there is neither what was before nor what the step would have left"


def _essence(state: State) -> tuple[object, ...]:
    """A state without what two runs of the same step may do differently: files, sentence ids."""
    references = sorted((owner_text(own), own.digest) for own in state.references)
    return references, state.documents, state.relations, state.stored


CRASH_LAW = "crash-all-or-nothing"
"""The one law that says nothing of a chain which cannot be made to die."""

LAWS = {
    "referenced-stays": Law("nothing that is referred to is ever collected", _referenced_stays),
    "gone-only-if-written": Law(
        "a document is gone only if something of it stands in the graph", _gone_only_if_written
    ),
    "marked-media-recalled": Law(
        "a document with a marker of a stored media archives, and the media is recalled by both "
        "entries, whatever the extractor finds",
        _marked_media_recalled,
    ),
    "archived-media-kept": Law(
        "every media of an archived document is recalled or still referred to",
        _archived_media_kept,
    ),
    "counts-equal-references": Law(
        "the reference count of a media is the number of its references",
        _counts_equal_references,
    ),
    "names-stay": Law(
        "the name of a media's entity follows from its digest; describing it again changes no name",
        _names_stay,
    ),
    "recovery-idempotent": Law(
        "recovery removes orphaned files only, and doing it twice is doing it once",
        _recovery_idempotent,
    ),
    CRASH_LAW: Law(
        "a crash leaves what was before, or what the finished step leaves", _crash_all_or_nothing
    ),
}
