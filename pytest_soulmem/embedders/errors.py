"""What can go wrong between a text and its vector; each text is fit to be shown to a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_soulmem.embedders import Identity, Side

_SHOWN = 60

WAYS_ON = (
    "There are three ways on: install an embedder (pip install 'pytest-soulmem[bge]' or "
    "'pytest-soulmem[e5]'), name a local model folder with --soulmem-model, or commit a vector "
    "store and name it with --soulmem-vectors."
)


def visible(text: object) -> str:
    """On one line and with nothing a terminal would obey: control characters are spelled out."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in str(text)
    )


def shown(text: str) -> str:
    """A text in quotes, shortened, for a message."""
    return f"“{visible(text[:_SHOWN])}{'…' if len(text) > _SHOWN else ''}”"


def described(identity: Identity) -> str:
    """An identity in words."""
    return visible(f"{identity.embedder} {identity.model} ({identity.fingerprint})")


class EmbeddingError(Exception):
    """Vectors cannot be had; the text says why."""


class EmbedderUnavailable(EmbeddingError):
    """There is no embedder; the text says in one paragraph what was tried and the ways on."""

    def __init__(self, tried: str) -> None:
        super().__init__(f"{tried.rstrip('.')}. {WAYS_ON}")
        self.tried = tried


class EmbedderError(EmbeddingError):
    """An embedder, usually the user's own, does not do what the protocol says."""


class ServerError(EmbeddingError):
    """An embedding server cannot be reached or does not answer as it should."""


class StoreError(EmbeddingError):
    """A vector store cannot be used; the text names the file and the remedy."""


class MissingVector(EmbeddingError):
    """A text has no vector in the store."""

    def __init__(self, text: str, side: Side, identity: Identity, why: str = "") -> None:
        super().__init__(
            f"no vector for the {side} {shown(text)} of {described(identity)} is stored"
            + (f": {why}" if why else "")
        )
        self.text = text
        self.side = side
        self.identity = identity
