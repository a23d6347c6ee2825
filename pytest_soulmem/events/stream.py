"""The events of a stream, from JSON to typed values.

Unknown types of events, and unknown types of chunks, are read as :class:`Unknown`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_soulmem.decoding import decode
from pytest_soulmem.events.terms import Raw, Step
from pytest_soulmem.faults import Fault

CHUNK = "assistant/chunk"
MESSAGE = "assistant/message"
ERROR = "assistant/error"

Count = Annotated[int, Meta(ge=0)]
Word = Annotated[str, Meta(min_length=1)]
Figure = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]


@dataclass(frozen=True)
class Text:
    """A piece of the answer. Never a sign that the answer is complete."""

    step: Step
    text: str


@dataclass(frozen=True)
class Finish:
    """The end of a stream, and why it ended."""

    step: Step
    kind: str


@dataclass(frozen=True)
class Receipt:
    """A message: the whole answer, who gave it, and perhaps what it cost."""

    step: Step
    provider: str
    model: str
    text: str
    usage: Mapping[str, float] = field(default_factory=dict)
    """The figures that are there; empty where the message says nothing."""


@dataclass(frozen=True)
class Error:
    """Something went wrong."""

    step: Step
    code: str
    message: str = ""


@dataclass(frozen=True)
class Unknown:
    """An event that says nothing to us."""

    type: str


Known: TypeAlias = Text | Finish | Receipt | Error
Event: TypeAlias = Known | Unknown


# How each of them stands in a file.


class _At(Struct, frozen=True):
    turn: Count
    step: Count

    @property
    def at(self) -> Step:
        return Step(self.turn, self.step)


class _TextChunk(Struct, frozen=True):
    text: str


class _TextData(_At, frozen=True):
    chunk: _TextChunk


class TextEvent(Struct, frozen=True):
    """A piece of text in a file."""

    data: _TextData

    def event(self) -> Event:
        """What it says."""
        return Text(self.data.at, self.data.chunk.text)


class _Reason(Struct, frozen=True):
    kind: Word


class _FinishChunk(Struct, frozen=True):
    reason: _Reason


class _FinishData(_At, frozen=True):
    chunk: _FinishChunk


class FinishEvent(Struct, frozen=True):
    """A finish in a file."""

    data: _FinishData

    def event(self) -> Event:
        """What it says."""
        return Finish(self.data.at, self.data.chunk.reason.kind)


class _Source(Struct, frozen=True):
    provider: str
    model: str


class _Part(Struct, frozen=True):
    type: str
    text: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.type == "text" and self.text is UNSET:
            raise ValueError("the field `text` is missing")


class _Message(Struct, frozen=True):
    source: _Source
    content: tuple[_Part, ...]


class _MessageData(_At, frozen=True):
    message: _Message
    usage: dict[str, Figure | None] | None = None


class MessageEvent(Struct, frozen=True):
    """A receipt in a file."""

    data: _MessageData

    def event(self) -> Event:
        """What it says."""
        message, figures = self.data.message, self.data.usage or {}
        return Receipt(
            self.data.at,
            message.source.provider,
            message.source.model,
            "".join(str(part.text) for part in message.content if part.type == "text"),
            # A figure that is null is not there.
            {name: figure for name, figure in figures.items() if figure is not None},
        )


class _Cause(Struct, frozen=True):
    code: Word
    message: str = ""


class _ErrorData(_At, frozen=True):
    error: _Cause


class ErrorEvent(Struct, frozen=True):
    """An error in a file."""

    data: _ErrorData

    def event(self) -> Event:
        """What it says."""
        return Error(self.data.at, self.data.error.code, self.data.error.message)


class _Tag(Struct, frozen=True):
    type: Word


class _ChunkData(_At, frozen=True):
    chunk: _Tag


class _ChunkEvent(Struct, frozen=True):
    data: _ChunkData


_Read: TypeAlias = TextEvent | FinishEvent | MessageEvent | ErrorEvent

_EVENTS: dict[str, type[_Read] | type[_ChunkEvent]] = {
    CHUNK: _ChunkEvent,
    MESSAGE: MessageEvent,
    ERROR: ErrorEvent,
}
_CHUNKS: dict[str, type[_Read]] = {"text": TextEvent, "finish": FinishEvent}


def read_event(raw: object, place: str = "$") -> tuple[Event | None, list[Fault]]:
    """An event (None if it has faults), and the faults.

    A type within two edits of a known one is a fault: it would else be ignored in silence.
    """
    tag, faults = decode(raw, _Tag, place)
    if tag is None:
        return None, faults
    kind = _EVENTS.get(tag.type)
    if kind is None:
        return _unknown(tag.type, _EVENTS, f"{place}.type", tag.type)
    if kind is _ChunkEvent:
        return _read_chunk(raw, place)
    return _read_known(raw, kind, place)


def _read_chunk(raw: object, place: str) -> tuple[Event | None, list[Fault]]:
    found, faults = decode(raw, _ChunkEvent, place)
    if found is None:
        return None, faults
    kind = found.data.chunk.type
    if kind not in _CHUNKS:
        return _unknown(kind, _CHUNKS, f"{place}.data.chunk.type", f"{CHUNK} {kind}")
    return _read_known(raw, _CHUNKS[kind], place)


def _read_known(raw: object, kind: type[Any], place: str) -> tuple[Event | None, list[Fault]]:
    found, faults = decode(raw, kind, place)
    return (found.event() if found else None), faults


def _unknown(
    word: str, known: Mapping[str, object], place: str, name: str
) -> tuple[Event | None, list[Fault]]:
    # Imported here: most files have no unknown event.
    from rapidfuzz.distance import Levenshtein

    for meant in known:
        if Levenshtein.distance(word, meant, score_cutoff=2) <= 2:
            return None, [Fault(place, f'unknown type "{word}"; did you mean "{meant}"?')]
    return Unknown(name), []


def read_stream(raw_events: Sequence[Raw]) -> list[Event]:
    """The events of a stream.

    Raises:
        ValueError: an event of a known type is malformed; says where and how.
    """
    events = []
    for position, raw in enumerate(raw_events):
        event, faults = read_event(raw, f"events[{position}]")
        if event is None:
            raise ValueError("; ".join(map(str, faults)))
        events.append(event)
    return events


def steps_of(events: Sequence[Event]) -> list[Step]:
    """The steps that known events belong to, in their order: by turn, then by step."""
    return sorted({event.step for event in events if not isinstance(event, Unknown)})
