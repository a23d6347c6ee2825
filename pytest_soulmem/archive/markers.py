"""Media markers in text, and the triples that follow from them whatever an extractor finds.

A marker is ``[image/png a1b2c3d4e5f6]``, the first twelve or more hexadecimal digits of the
media's SHA-256, followed by a description up to the end of the line or the next marker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_soulmem.archive.terms import SHORTEST_NAME, Triple

SHORT = 12
"""Digits of a digest that name its media."""
LONGEST_CLAUSE = 40
"""Characters of a description that enter the graph."""
TYPE_RELATION = "类型"
DESCRIPTION_RELATION = "描述"

_KIND_WORDS = {"image": "图片", "audio": "音频", "video": "视频"}
_OTHER_KIND = "媒体"
_HEAD = r"\[([\w.+-]+/[\w.+-]+) ([0-9a-f]{12,64})\]"
_MARKER = re.compile(rf"{_HEAD}((?:(?!{_HEAD})[^\r\n])*)", re.ASCII)
# An underscore inside a word is a letter of a name, not emphasis.
_EMPHASIS = re.compile(r"[*`]|~~|(?<!\w)_+|_+(?!\w)|^\s*#+\s*|^\s*>\s*")
_CLAUSE_END = re.compile(r"[，。；！？,;!?]|\.(?=\s|$)")


@dataclass(frozen=True)
class Marker:
    """A media marker: what kind of media, which one, and what is said of it."""

    mime: str
    digest: str
    """The digits that the marker has: 12 to 64, the beginning of the digest."""
    description: str
    text: str
    """The marker as it stands, its description included."""

    @property
    def entity(self) -> str:
        """The name of the media's entity. It follows from the digest, so it never changes."""
        return entity_name(self.mime, self.digest)

    def triples(self) -> list[Triple]:
        """The type, and the description's first clause where there is one."""
        kind = kind_word(self.mime)
        found = [Triple(self.entity, TYPE_RELATION, kind, self.text)]
        clause = first_clause(self.description)
        if clause:
            found.append(Triple(self.entity, DESCRIPTION_RELATION, clause, self.text))
        return found


def parse_markers(text: str) -> list[Marker]:
    """The markers of a text, in order."""
    return [
        Marker(found[1], found[2], found[3].strip(), found[0].rstrip())
        for found in _MARKER.finditer(text)
    ]


def marker_text(mime: str, digest: str, description: str) -> str:
    """A marker for a media; a description of several lines becomes one."""
    return f"[{mime} {digest[:SHORT]}] {' '.join(description.split())}".rstrip()


def entity_name(mime: str, digest: str) -> str:
    """The entity of a media: ``图片 a1b2c3d4e5f6``."""
    return f"{kind_word(mime)} {digest[:SHORT]}"


def kind_word(mime: str) -> str:
    """图片, 音频, 视频, or 媒体 for all else."""
    return _KIND_WORDS.get(mime.partition("/")[0].lower(), _OTHER_KIND)


def first_clause(description: str) -> str:
    """What a description says first, without emphasis marks; nothing if it says too little.

    Cut by character, never by byte: half a character would enter the graph as a broken name.

    >>> first_clause("**三条横条纹**的旗子，自上而下是紫、蓝、红")
    '三条横条纹的旗子'
    """
    plain = _EMPHASIS.sub("", description)
    clauses = (clause.strip() for clause in _CLAUSE_END.split(plain))
    clause = next(filter(None, clauses), "")[:LONGEST_CLAUSE].strip()
    return clause if len(clause) >= SHORTEST_NAME else ""
