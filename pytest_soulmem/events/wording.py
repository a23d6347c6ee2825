"""How events and outcomes are put into words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from pytest_soulmem.events.reducer import Seen
from pytest_soulmem.events.stream import Error, Event, Finish, Receipt, Text, Unknown
from pytest_soulmem.events.terms import Raw, Step

NONE = "none"


def shown(value: object) -> str:
    """A field of an outcome, in words."""
    if value is None:
        return NONE
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {figure}" for name, figure in sorted(value.items())) or "{}"
    return str(value) or '""'


def json_lines(events: Sequence[Raw]) -> list[str]:
    """A stream in its file's own terms, an event a line."""
    # repr: a value that no encoding can hold, such as half a character.
    return [json.dumps(event, ensure_ascii=False, default=repr) for event in events]


def basis(seen: Seen) -> str:
    """What there is of a step, in a line."""
    parts = [
        counted(len(seen.texts), "text chunk"),
        _listed("finish", sorted(set(seen.finishes))),
        counted(len(seen.receipts), "receipt"),
        _listed("error", [error.code for error in seen.errors]),
    ]
    return ", ".join(parts)


def counted(number: int, what: str) -> str:
    """A number of things: ``no event``, ``1 event``, ``2 events``."""
    return f"{number or 'no'} {what}{'s' if number > 1 else ''}"


def _listed(what: str, words: Sequence[str]) -> str:
    return f"{what} {' and '.join(words)}" if words else f"no {what}"


def event_rows(events: Sequence[Event], step: Step) -> Iterator[tuple[str, str, str]]:
    """The events that matter to a step, and unknown ones: position, what it is, what it says.

    Runs of text chunks are put together.
    """
    own = [
        (position, event)
        for position, event in enumerate(events)
        if isinstance(event, Unknown) or event.step == step
    ]
    for is_text, run in groupby(own, lambda item: isinstance(item[1], Text)):
        members = list(run)
        if is_text and len(members) > 1:
            text = "".join(event.text for _, event in members if isinstance(event, Text))
            span = f"{members[0][0]}–{members[-1][0]}"
            yield span, f"text ×{len(members)}", text
        else:
            for position, event in members:
                yield str(position), *_told(event)


def _told(event: Event) -> tuple[str, str]:
    if isinstance(event, Text):
        return "text", event.text
    if isinstance(event, Finish):
        return "finish", event.kind
    if isinstance(event, Receipt):
        usage = f"usage: {shown(event.usage)}" if event.usage else "usage unknown"
        return "receipt", f"{event.text} ({event.provider}/{event.model}; {usage})"
    if isinstance(event, Error):
        return "error", f"{event.code}: {event.message}" if event.message else event.code
    return "unknown", f"{event.type} (changes nothing)"
