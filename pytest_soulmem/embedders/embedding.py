"""Embedding, in one pass, every text that the store lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_soulmem.embedders.choose import nothing_in
from pytest_soulmem.embedders.errors import (
    EmbedderError,
    EmbeddingError,
    MissingVector,
    described,
    visible,
)

if TYPE_CHECKING:
    from pytest_soulmem.embedders import Embedder, Side
    from pytest_soulmem.embedders.choose import Chosen
    from pytest_soulmem.embedders.store import VectorStore
    from pytest_soulmem.kinds import Progress

BATCH = 64


def embed_missing(
    store: VectorStore,
    chosen: Chosen,
    texts: Mapping[Side, Sequence[str]],
    progress: Progress,
) -> None:
    """See to it that the store has a vector of every text.

    Each batch is stored at once, so that an interrupted run keeps its work. Processes that share
    a store take turns, and a later one finds what an earlier one made. ``progress`` is called
    after each batch with the number of texts.

    Raises:
        MissingVector: a text is missing and no model may or can be loaded.
        EmbedderUnavailable: the model does not load.
        EmbedderError: the embedder fails or gives no usable vectors.
        StoreError: the store cannot be read, or vectors cannot be kept.
    """
    missing = _missing(store, chosen, texts)
    if not missing:
        return
    if chosen.open is None:
        side, first = next(iter(missing.items()))
        raise MissingVector(first[0], side, chosen.identity, _why(store, chosen, missing))
    with store.embedding_lock(lambda line: progress(line, 0, 0)):
        # Another process may have embedded them while this one waited.
        missing = _missing(store, chosen, texts)
        if missing:
            _embed(store, chosen, chosen.open(), missing, progress)


def _missing(
    store: VectorStore, chosen: Chosen, texts: Mapping[Side, Sequence[str]]
) -> dict[Side, list[str]]:
    found = {side: store.missing(chosen.identity, side, texts[side]) for side in texts}
    return {side: absent for side, absent in found.items() if absent}


def _embed(
    store: VectorStore,
    chosen: Chosen,
    embedder: Embedder,
    missing: Mapping[Side, list[str]],
    progress: Progress,
) -> None:
    total = sum(map(len, missing.values()))
    size: int = getattr(embedder, "texts_at_once", BATCH)
    done = 0
    for side, absent in missing.items():
        # Texts of like length together need the least padding; the longest first, so that a lack
        # of memory shows at once.
        ordered = sorted(absent, key=len, reverse=True)
        for start in range(0, len(ordered), size):
            batch = ordered[start : start + size]
            _embed_batch(store, chosen, embedder, side, batch)
            done += len(batch)
            progress("embedding texts", done, total)


def _embed_batch(
    store: VectorStore, chosen: Chosen, embedder: Embedder, side: Side, batch: list[str]
) -> None:
    what = f"the embedder {described(chosen.identity)}"
    try:
        # A lone surrogate, which JSON can hold, breaks most tokenizers.
        vectors = embedder.embed([_valid(text) for text in batch], side)
    except EmbeddingError:
        raise
    except Exception as error:  # Whatever a user's embedder raises; the cause stays attached.
        raise EmbedderError(
            f"{what} failed on {len(batch)} texts of the {side} side: "
            f"{type(error).__name__}: {visible(error)}"
        ) from error
    try:
        store.add(chosen.identity, side, batch, vectors)
    except EmbedderError as error:
        raise EmbedderError(
            f"{what} gave no usable vectors for {len(batch)} texts of the {side} side: {error}"
        ) from None


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _why(store: VectorStore, chosen: Chosen, missing: Mapping[Side, list[str]]) -> str:
    total = sum(map(len, missing.values()))
    held = store.identities()
    others = [one for one in held if one != chosen.identity]
    parts = [
        chosen.why,
        f"{total} texts are missing" if total > 1 else "",
        "" if held else nothing_in(store),
        f"the store also holds {'; '.join(map(described, others))}" if others else "",
    ]
    return "; ".join(filter(None, parts))
