"""Turning texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Side: TypeAlias = Literal["passage", "query"]


@dataclass(frozen=True)
class Identity:
    """What a vector depends on besides its text and side.

    ``fingerprint`` tells models of one name apart: a revision, a package version or a digest of
    the model's files, and whatever setting changes vectors.
    """

    embedder: str
    model: str
    fingerprint: str


class Embedder(Protocol):
    """A model with two sides.

    The ``passage`` side is for the texts of memories, the ``query`` side for what is asked;
    retrieval models treat the two differently. :meth:`embed` gets 64 texts at a time, or as many as
    an attribute ``texts_at_once`` says.
    """

    @property
    def identity(self) -> Identity:
        """Known without loading the model."""
        ...

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """One vector per text: shape ``(len(texts), dimension)``. Need not be normalised."""
        ...
