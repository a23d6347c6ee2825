from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from embedders.small_project import make_project

from pytest_soulmem.embedders import Identity, Side
from pytest_soulmem.embedders.choose import Chosen
from pytest_soulmem.embedders.embedding import BATCH, embed_missing
from pytest_soulmem.embedders.errors import (
    EmbedderError,
    EmbedderUnavailable,
    MissingVector,
    StoreError,
)
from pytest_soulmem.embedders.store import VectorStore

IDENTITY = Identity("toy", "lengths", "1")
SPAWN = multiprocessing.get_context("spawn")


class Toy:
    """A vector of a text's length and side; notes what it is asked."""

    identity = IDENTITY

    def __init__(self) -> None:
        self.calls: list[tuple[Side, list[str]]] = []

    def embed(self, texts: Sequence[str], side: Side) -> np.ndarray:
        self.calls.append((side, list(texts)))
        return np.array([[len(text), side == "query", 1] for text in texts], np.float32)

    @property
    def seen(self) -> list[tuple[Side, str]]:
        return [(side, text) for side, texts in self.calls for text in texts]


def quiet(what: str, done: int, total: int) -> None:
    pass


def chosen_of(embedder: object) -> Chosen:
    return Chosen(IDENTITY, lambda: embedder)


def test_each_distinct_text_is_embedded_once_per_side() -> None:
    toy = Toy()
    with VectorStore(None) as store:
        store.add(IDENTITY, "passage", ["b"], [[1, 0, 1]])
        embed_missing(
            store,
            chosen_of(toy),
            {"passage": ["a", "b", "a", "长文"], "query": ["a"]},
            quiet,
        )
        assert sorted(toy.seen) == [("passage", "a"), ("passage", "长文"), ("query", "a")]
        found = store.vectors(IDENTITY, "passage", ["长文"])
        np.testing.assert_allclose(found, [np.array([2, 0, 1]) / 5**0.5], rtol=1e-6)
        embed_missing(store, chosen_of(toy), {"passage": ["a", "b"], "query": ["a"]}, quiet)
    assert len(toy.seen) == 3


def test_nothing_missing_opens_nothing() -> None:
    def refuse() -> Toy:
        raise AssertionError("opened")

    with VectorStore(None) as store:
        store.add(IDENTITY, "query", ["a"], [[1]])
        embed_missing(store, Chosen(IDENTITY, refuse), {"query": ["a"], "passage": []}, quiet)
        embed_missing(store, Chosen(IDENTITY, refuse), {}, quiet)


@pytest.mark.parametrize(
    ("make", "told"), [(lambda path: None, "does not exist"), (Path.touch, "is empty")]
)
def test_a_store_that_holds_nothing_is_told(tmp_path: Path, make, told: str) -> None:
    path = tmp_path / "mistyped.sqlite3"
    make(path)
    with VectorStore(path) as store, pytest.raises(MissingVector) as raised:
        embed_missing(store, Chosen(IDENTITY, None, "no model"), {"query": ["a"]}, quiet)
    assert str(raised.value).endswith(f"no model; the vector store ({path}) {told}")


def test_batches_of_like_length_with_progress() -> None:
    toy, told = Toy(), []
    texts = ["字" * (number % 7 + 1) + str(number) for number in range(BATCH + 10)]
    with VectorStore(None) as store:
        embed_missing(
            store,
            chosen_of(toy),
            {"passage": texts, "query": ["a"]},
            lambda *args: told.append(args),
        )
    assert [len(batch) for _, batch in toy.calls] == [BATCH, 10, 1]
    lengths = [len(text) for side, text in toy.seen if side == "passage"]
    assert lengths == sorted(lengths, reverse=True)
    total = BATCH + 11
    assert told == [("embedding texts", done, total) for done in (BATCH, BATCH + 10, total)]


def test_an_interrupted_run_keeps_its_work(tmp_path: Path) -> None:
    class Interrupted(Toy):
        def embed(self, texts: Sequence[str], side: Side) -> np.ndarray:
            if len(self.calls) == 1:
                raise KeyboardInterrupt
            return super().embed(texts, side)

    path = tmp_path / "vectors.sqlite3"
    texts = [str(number) for number in range(BATCH + 5)]
    with VectorStore(path) as store, pytest.raises(KeyboardInterrupt):
        embed_missing(store, chosen_of(Interrupted()), {"query": texts}, quiet)
    toy = Toy()
    with VectorStore(path) as store:
        assert len(store.missing(IDENTITY, "query", texts)) == 5
        # The lock was given back too.
        embed_missing(store, chosen_of(toy), {"query": texts}, quiet)
    assert len(toy.seen) == 5


def embed_and_count(path: Path, barrier: object, counts: object) -> None:
    class Slow(Toy):
        def embed(self, texts: Sequence[str], side: Side) -> np.ndarray:
            time.sleep(0.05)
            return super().embed(texts, side)

    slow = Slow()
    texts = [str(number) for number in range(3 * BATCH)]
    barrier.wait(30)
    with VectorStore(path) as store:
        embed_missing(store, chosen_of(slow), {"query": texts}, quiet)
        assert len(store.vectors(IDENTITY, "query", texts)) == len(texts)
    counts.put(len(slow.seen))


def test_processes_that_share_a_store_embed_each_text_once(tmp_path: Path) -> None:
    barrier, counts = SPAWN.Barrier(2), SPAWN.Queue()
    path = tmp_path / "vectors.sqlite3"
    processes = [
        SPAWN.Process(target=embed_and_count, args=(path, barrier, counts)) for _ in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert sorted(counts.get(timeout=5) for _ in processes) == [0, 3 * BATCH]


def test_a_text_is_named_where_no_model_may_be_loaded() -> None:
    chosen = Chosen(IDENTITY, None, "no model is loaded")
    with VectorStore(None) as store:
        store.add(Identity("toy", "other", "1"), "query", ["雪"], [[1]])
        with pytest.raises(MissingVector) as raised:
            embed_missing(store, chosen, {"passage": [], "query": ["雨\n", "雪"]}, quiet)
    assert str(raised.value) == (
        r"no vector for the query “雨\n” of toy lengths (1) is stored: no model is loaded; "
        "2 texts are missing; the store also holds toy other (1)"
    )


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (np.ones((1, 3)), r"2 texts need vectors of shape \(2, d\), not \(1, 3\)"),
        (np.ones(2), r"not \(2,\)"),
        ([[1.0, 2.0], [1.0]], "must be numbers"),
        (np.full((2, 3), np.nan), "NaN"),
        ("words", "must be numbers"),
        (None, "texts need vectors of shape"),
    ],
)
def test_nonsense_of_an_embedder_is_told(result: object, said: str) -> None:
    class Nonsense(Toy):
        def embed(self, texts: Sequence[str], side: Side) -> object:
            return result

    with VectorStore(None) as store:
        with pytest.raises(EmbedderError, match=rf"the embedder toy lengths \(1\) gave.*{said}"):
            embed_missing(store, chosen_of(Nonsense()), {"query": ["a", "b"]}, quiet)
        assert store.missing(IDENTITY, "query", ["a", "b"]) == ["a", "b"]


def test_plain_lists_and_doubles_will_do() -> None:
    class Lists(Toy):
        def embed(self, texts: Sequence[str], side: Side) -> list[list[int]]:
            return [[3, 4] for _ in texts]

    with VectorStore(None) as store:
        embed_missing(store, chosen_of(Lists()), {"query": ["a"]}, quiet)
        np.testing.assert_allclose(store.vectors(IDENTITY, "query", ["a"]), [[0.6, 0.8]])


def test_an_embedder_that_fails_is_told_with_its_cause() -> None:
    class Failing(Toy):
        def embed(self, texts: Sequence[str], side: Side) -> np.ndarray:
            raise ValueError("no\x1b quota")

    with (
        VectorStore(None) as store,
        pytest.raises(EmbedderError, match=r"failed on 1 texts.*ValueError: no\\x1b") as raised,
    ):
        embed_missing(store, chosen_of(Failing()), {"query": ["a"]}, quiet)
    assert isinstance(raised.value.__cause__, ValueError)


def test_an_unavailable_model_says_so_itself() -> None:
    class Unavailable(Toy):
        def embed(self, texts: Sequence[str], side: Side) -> np.ndarray:
            raise EmbedderUnavailable("the model does not load")

    with VectorStore(None) as store, pytest.raises(EmbedderUnavailable, match="does not load"):
        embed_missing(store, chosen_of(Unavailable()), {"query": ["a"]}, quiet)


def test_embedders_get_valid_text_only() -> None:
    toy = Toy()
    with VectorStore(None) as store:
        embed_missing(store, chosen_of(toy), {"query": ["a\ud800"]}, quiet)
        assert store.missing(IDENTITY, "query", ["a\ud800"]) == []
    assert toy.seen == [("query", "a?")]


def test_a_store_that_cannot_keep_vectors_stops_before_embedding(tmp_path: Path) -> None:
    toy = Toy()
    (tmp_path / "file").touch()
    with VectorStore(tmp_path / "file" / "vectors.sqlite3") as store, pytest.raises(StoreError):
        embed_missing(store, chosen_of(toy), {"query": ["a"]}, quiet)
    assert toy.calls == []


# Whole runs


COUNTING = """
import os, time
import numpy as np
from pytest_soulmem.embedders import Identity


class Embedder:
    identity = Identity("counting", "letters", "1")

    def embed(self, texts, side):
        time.sleep(0.3)  # Long enough for the other process to want the same.
        with open("asked.txt", "a") as file:
            for text in texts:
                file.write(f"{os.getpid()} {side} {text}\\n")
        return np.array([[len(text), 1 + (side == "query")] for text in texts])
"""


@pytest.mark.parametrize("options", [("-n", "2"), ("-n", "2", "--dist", "loadfile"), ("-n0",)])
def test_a_text_is_embedded_once_whatever_the_files_and_processes(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    make_project(pytester.path, [f"pets{number}" for number in range(4)])
    pytester.makepyfile(counting=COUNTING)
    result = pytester.runpytest_subprocess(
        "queries", "-p", "xdist", "--soulmem-embedder=counting:Embedder", *options, timeout=120
    )
    result.assert_outcomes(passed=4)
    asked = (pytester.path / "asked.txt").read_text().splitlines()
    counts = Counter(line.split(" ", 1)[1] for line in asked)
    assert set(counts.values()) == {1}
    assert {f"query pets{number}" for number in range(4)} <= set(counts)
    # Whoever has the lock embeds; the other finds everything there.
    assert len({line.split(" ", 1)[0] for line in asked}) == 1
