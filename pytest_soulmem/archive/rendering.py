"""Placeholders in the texts of a fixture, for what follows from a media's content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_soulmem.archive.digests import sha256
from pytest_soulmem.archive.markers import SHORT, entity_name, marker_text
from pytest_soulmem.faults import suggestion

_PLACEHOLDER = re.compile(r"\{(\w+):([^{}\r\n]*)\}")
WORDS = ("marker", "entity", "digest")


@dataclass(frozen=True)
class Media:
    """A media of a fixture."""

    name: str
    mime: str
    data: bytes
    description: str = ""

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, in hexadecimal."""
        return sha256(self.data)

    @property
    def entity(self) -> str:
        """The name that its entity has in the graph."""
        return entity_name(self.mime, self.digest)


def render(text: str, media: Mapping[str, Media], descriptions: Mapping[str, str]) -> str:
    """The text with its placeholders filled in.

    ``{marker:flag}`` becomes the marker of the media "flag" with its description, ``{entity:flag}``
    the name of its entity, ``{digest:flag}`` the first digits of its digest.
    """

    def filled(found: re.Match[str]) -> str:
        own = media.get(found[2])
        if own is None or found[1] not in WORDS:
            return found[0]
        if found[1] == "marker":
            return marker_text(own.mime, own.digest, descriptions.get(own.name, own.description))
        return own.entity if found[1] == "entity" else own.digest[:SHORT]

    return _PLACEHOLDER.sub(filled, text)


def placeholder_faults(text: str, media: Mapping[str, object]) -> Iterator[str]:
    """What is wrong with the placeholders of a text. Other braces are only text."""
    for word, name in _PLACEHOLDER.findall(text):
        if word in WORDS:
            if name not in media:
                yield f'no media is called "{name}"{suggestion(name, media)}'
        elif hint := suggestion(word, WORDS):
            yield f"no placeholder is called {{{word}:…}}{hint}"
