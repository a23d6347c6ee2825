from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import tempfile
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_soulmem.embedders import Identity
from pytest_soulmem.embedders.errors import EmbedderError, MissingVector, StoreError
from pytest_soulmem.embedders.store import BATCH, VectorStore

ONE = Identity("toy", "one", "1")
TWO = Identity("toy", "two", "1")
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.sqlite3"


def unit(rows: object) -> np.ndarray:
    rows = np.asarray(rows, np.float64)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def fill(path: Path, texts: list[str] = ["雨", "雪"]) -> None:  # noqa: B006
    with VectorStore(path) as store:
        store.add(ONE, "passage", texts, [[index + 1, 1] for index in range(len(texts))])


@pytest.mark.parametrize("where", ["file", "memory"])
def test_vectors_come_back_normalised_in_the_order_asked(path: Path, where: str) -> None:
    with VectorStore(path if where == "file" else None) as store:
        store.add(ONE, "passage", ["雨", "🌧️ rain", ""], [[3, 4], [0, -2], [1e30, 0]])
        found = store.vectors(ONE, "passage", ["", "雨", "🌧️ rain", "雨"])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [[1, 0], [0.6, 0.8], [0, -1], [0.6, 0.8]], rtol=1e-6)


def test_vectors_outlive_the_store_object_in_one_file(path: Path) -> None:
    fill(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    copy = path.with_name("copy.sqlite3")
    shutil.copy(path, copy)
    with VectorStore(copy) as store:
        assert store.identities() == [ONE]
        assert store.dimension(ONE) == 2
        np.testing.assert_array_equal(store.vectors(ONE, "passage", ["雪"]), unit([[2, 1]]))


def test_close_leaves_everything_in_the_file_while_another_reads(path: Path) -> None:
    fill(path)
    with VectorStore(path) as reader:
        reader.identities()
        with VectorStore(path) as writer:
            writer.add(ONE, "passage", ["new"], [[1, 0]])
        copy = path.with_name("copy.sqlite3")
        shutil.copy(path, copy)
    with VectorStore(copy) as store:
        assert store.missing(ONE, "passage", ["new"]) == []


def test_pages_are_large_and_the_log_is_written_ahead(path: Path) -> None:
    fill(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA page_size").fetchone() == (16384,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_numbers_are_little_endian_and_the_key_is_a_hash(path: Path) -> None:
    fill(path, ["a"])
    connection = sqlite3.connect(path)
    digest, blob = connection.execute("SELECT digest, vector FROM vector").fetchone()
    connection.close()
    assert digest.hex() == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    np.testing.assert_array_equal(np.frombuffer(blob, "<f4"), unit([[1, 1]])[0])


def test_missing_tells_distinct_texts_in_first_seen_order() -> None:
    with VectorStore(None) as store:
        assert store.missing(ONE, "passage", ["b", "a", "b"]) == ["b", "a"]
        store.add(ONE, "passage", ["a"], [[1, 0]])
        assert store.missing(ONE, "passage", ["c", "a", "b", "c"]) == ["c", "b"]
        assert store.missing(ONE, "query", ["a"]) == ["a"]
        assert store.missing(TWO, "passage", ["a"]) == ["a"]
        assert store.missing(ONE, "passage", []) == []


def test_sides_and_identities_are_apart() -> None:
    with VectorStore(None) as store:
        store.add(ONE, "passage", ["a"], [[1, 0]])
        store.add(ONE, "query", ["a"], [[0, 1]])
        store.add(TWO, "passage", ["a"], [[0, 0, 1]])
        assert store.vectors(ONE, "passage", ["a"]).tolist() == [[1, 0]]
        assert store.vectors(ONE, "query", ["a"]).tolist() == [[0, 1]]
        assert store.vectors(TWO, "passage", ["a"]).tolist() == [[0, 0, 1]]
        assert (store.dimension(ONE), store.dimension(TWO)) == (2, 3)


def test_identities_by_embedder_and_model() -> None:
    three = Identity("other", "one", "1")
    with VectorStore(None) as store:
        for identity in (ONE, TWO, three):
            store.add(identity, "query", ["a"], [[1]])
        assert store.identities() == [ONE, TWO, three]
        assert store.identities("toy") == [ONE, TWO]
        assert store.identities(model="one") == [ONE, three]
        assert store.identities("toy", "one") == [ONE]
        assert store.identities("none") == []


def test_more_texts_than_a_batch_and_each_twice(path: Path) -> None:
    count = 2 * BATCH + 7
    texts = [f"记忆 {number}" for number in range(count)]
    vectors = np.random.default_rng(0).normal(size=(count, 3))
    with VectorStore(path) as store:
        store.add(ONE, "query", texts[::2], vectors[::2])
        assert store.missing(ONE, "query", texts + texts) == texts[1::2]
        store.add(ONE, "query", texts, vectors)
        found = store.vectors(ONE, "query", texts[::-1] + texts)
    np.testing.assert_array_equal(found, unit(np.concatenate([vectors[::-1], vectors])))


def test_reading_needs_little_more_than_the_result() -> None:
    count, dimension = 10 * BATCH, 128
    texts = [str(number) for number in range(count)]
    with VectorStore(None) as store:
        store.add(ONE, "query", texts, np.ones((count, dimension)))
        tracemalloc.start()
        found = store.vectors(ONE, "query", texts)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < found.nbytes * 1.5


def test_a_text_keeps_its_first_vector() -> None:
    with VectorStore(None) as store:
        store.add(ONE, "query", ["a"], [[1, 0]])
        store.add(ONE, "query", ["a"], [[0, 1]])
        assert store.vectors(ONE, "query", ["a"]).tolist() == [[1, 0]]


def test_nothing_asked_gives_nothing() -> None:
    with VectorStore(None) as store:
        assert store.vectors(ONE, "query", []).shape == (0, 0)
        store.add(ONE, "query", [], np.empty((0, 5)))
        assert store.dimension(ONE) is None
        store.add(ONE, "query", ["a"], [[1, 0]])
        assert store.vectors(ONE, "query", []).shape == (0, 2)


def test_a_missing_text_is_named_short_and_harmless() -> None:
    with VectorStore(None) as store:
        store.add(ONE, "query", ["a"], [[1, 0]])
        with pytest.raises(MissingVector, match=r"query “雨.*toy one") as raised:
            store.vectors(ONE, "query", ["a", "雨\x1b[31m\n" + "长" * 100])
        assert raised.value.text.startswith("雨\x1b")
        assert "\x1b" not in str(raised.value)
        assert "\\x1b[31m\\n" in str(raised.value)
        assert len(str(raised.value)) < 150
        with pytest.raises(MissingVector, match="“b”"):
            store.vectors(TWO, "query", ["b"])


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1, float("nan")]], "NaN"),
        ([[1, float("inf")]], "infinity"),
        ([[1, 0], [0, 1]], r"shape \(1, d\), not \(2, 2\)"),
        ([1, 0], r"not \(2,\)"),
        ([[]], r"not \(1, 0\)"),
        ([["x"]], "must be numbers"),
        (None, "shape"),
    ],
)
def test_useless_vectors_are_refused(path: Path, vectors: object, said: str) -> None:
    with VectorStore(path) as store:
        with pytest.raises(EmbedderError, match=said):
            store.add(ONE, "query", ["a"], vectors)
        assert not path.exists()


def test_a_zero_vector_stays_zero() -> None:
    with VectorStore(None) as store:
        store.add(ONE, "query", ["a"], [[0, 0]])
        assert store.vectors(ONE, "query", ["a"]).tolist() == [[0, 0]]


@given(
    arrays(np.float32, (3, 4), elements=st.floats(-(2.0**100), 2.0**100, width=32)),
)
def test_rows_have_length_one_or_are_zero(vectors: np.ndarray) -> None:
    with VectorStore(None) as store:
        store.add(ONE, "query", ["a", "b", "c"], vectors)
        lengths = np.linalg.norm(store.vectors(ONE, "query", ["a", "b", "c"]), axis=1)
    expected = np.any(vectors != 0, axis=1).astype(float)
    np.testing.assert_allclose(lengths, expected, atol=1e-6)


def test_another_dimension_is_an_error_and_changes_nothing(path: Path) -> None:
    fill(path)
    with VectorStore(path) as store:
        with pytest.raises(EmbedderError, match="2 dimensions in the store and 3 now"):
            store.add(ONE, "passage", ["风"], [[1, 2, 3]])
        assert store.dimension(ONE) == 2
        assert store.missing(ONE, "passage", ["风"]) == ["风"]


def test_a_lone_surrogate_is_a_text_too() -> None:
    with VectorStore(None) as store:
        store.add(ONE, "query", ["\ud800"], [[1]])
        assert store.missing(ONE, "query", ["\ud800", "\udc00"]) == ["\udc00"]


# Files that are none of ours


def damage_header(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def damage_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:400] = os.urandom(300)
    path.write_bytes(content)


def damage_rows(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(16384, len(content), 16384):
        content[page : page + 200] = b"\xff" * 200
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20000])


def shorten_vectors(path: Path) -> None:
    execute(path, "UPDATE vector SET vector = substr(vector, 1, 7)")


def forget_table(path: Path) -> None:
    execute(path, "DROP TABLE vector")


def raise_version(path: Path) -> None:
    execute(path, "PRAGMA user_version = 99")


def make_foreign(path: Path) -> None:
    path.unlink()
    execute(path, "CREATE TABLE vector (identity)")


def execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def set_column(assignment: str) -> Callable[[Path], None]:
    return lambda path: execute(path, f"UPDATE {assignment}")


ODD_NUMBERS = {"NaN": "0000c07f", "infinity": "0000807f", "huge": "ffff7f7f", "two": "00000040"}


@pytest.mark.parametrize(
    ("spoil", "said", "remedy"),
    [
        (set_column("vector SET vector = 'text'"), "damaged", "version control"),
        (set_column("vector SET vector = 7"), "damaged", "version control"),
        (set_column("identity SET dimension = 'two'"), "damaged", "version control"),
        (set_column("identity SET dimension = 0"), "damaged", "version control"),
        (set_column("identity SET dimension = 1e300"), "damaged", "version control"),
        (set_column(f"identity SET dimension = {2**63 - 1}"), "damaged", "version control"),
        (set_column("identity SET dimension = 3"), "damaged", "version control"),
        (damage_header, "not an SQLite file", "--soulmem-vectors"),
        (damage_page, "damaged", "version control"),
        (damage_rows, "damaged", "version control"),
        (truncate, "damaged", "version control"),
        (shorten_vectors, "damaged", "version control"),
        (forget_table, "damaged", "version control"),
        (raise_version, "version 99", "reads version 1"),
        (make_foreign, "the SQLite file of something else", "--soulmem-vectors"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_and_left_alone(
    path: Path, spoil: object, said: str, remedy: str
) -> None:
    fill(path)
    spoil(path)
    before = path.read_bytes()
    with VectorStore(path) as store, pytest.raises(StoreError, match=said) as raised:
        store.vectors(ONE, "passage", ["雨"])
    assert str(path) in str(raised.value)
    assert remedy in str(raised.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", ODD_NUMBERS)
@pytest.mark.parametrize("place", ["{}0000803f", "0000803f{}", "{0}{0}"])
def test_a_vector_that_has_another_length_than_one_is_told(
    path: Path, number: str, place: str
) -> None:
    fill(path)
    execute(path, f"UPDATE vector SET vector = x'{place.format(ODD_NUMBERS[number])}'")  # noqa: S608
    with VectorStore(path) as store, pytest.raises(StoreError, match="length 1") as raised:
        store.vectors(ONE, "passage", ["雨"])
    assert str(path) in str(raised.value)
    assert "delete it" in str(raised.value)


@pytest.mark.parametrize("value", ["x'ff'", "CAST(x'ff' AS TEXT)"])
def test_an_identity_that_is_no_text_is_told(path: Path, value: str) -> None:
    fill(path)
    execute(path, f"UPDATE identity SET model = {value}")  # noqa: S608
    with VectorStore(path) as store, pytest.raises(StoreError, match="damaged") as raised:
        store.identities()
    assert str(path) in str(raised.value)


def test_a_folder_in_place_of_a_file_is_told(path: Path) -> None:
    path.mkdir()
    with VectorStore(path) as store, pytest.raises(StoreError, match="cannot read"):
        store.identities()


def test_an_empty_file_is_an_empty_store(path: Path) -> None:
    path.touch()
    with VectorStore(path) as store:
        assert store.identities() == []
    fill(path)
    with VectorStore(path) as store:
        assert store.identities() == [ONE]


def test_asking_makes_no_file(path: Path) -> None:
    with VectorStore(path) as store:
        assert store.identities() == []
        assert store.missing(ONE, "query", ["a"]) == ["a"]
        assert store.dimension(ONE) is None
    assert list(path.parent.iterdir()) == []


def test_folders_are_made_and_odd_names_work(tmp_path: Path) -> None:
    path = tmp_path / "新 folder?x=1#%41" / "a&b.sqlite3"
    fill(path)
    assert path.is_file()
    with VectorStore(path) as store:
        assert store.identities() == [ONE]


# Read-only stores


def read_as_nobody(path: Path, results: multiprocessing.Queue) -> None:
    if os.geteuid() == 0:
        os.setuid(65534)
    outcome: list[object] = []
    with VectorStore(path) as store:
        outcome.append(store.vectors(ONE, "passage", ["雨"]).tolist())
        outcome.append(store.missing(ONE, "passage", ["雨", "风"]))
        with pytest.raises(StoreError) as raised:
            store.add(ONE, "passage", ["风"], [[1, 1]])
        outcome.append(str(raised.value))
        with pytest.raises(StoreError) as raised, store.embedding_lock():
            pass
        outcome.append(str(raised.value))
    results.put(outcome)


@pytest.mark.parametrize("what", ["file", "folder", "both"])
@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_read_only_store_serves_what_it_has(what: str) -> None:
    # Not in tmp_path, which another user may not enter; root may write everywhere.
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "vectors.sqlite3"
        fill(path)
        path.chmod(0o444 if what != "folder" else 0o666)
        folder.chmod(0o555 if what != "file" else 0o777)
        results = SPAWN.Queue()
        process = SPAWN.Process(target=read_as_nobody, args=(path, results))
        process.start()
        process.join(30)
        assert process.exitcode == 0
        outcome = results.get(timeout=5)
        left = [entry.name for entry in folder.iterdir()]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert outcome[:2] == [unit([[1, 1]]).tolist(), ["风"]]
    assert len(outcome) == 4
    for said in outcome[2:]:
        assert "read-only" in said
        assert str(path) in said
    assert left == ["vectors.sqlite3"]


# Many processes


def create_and_write(folder: Path, number: int, barrier: object, errors: object) -> None:
    try:
        for turn in range(15):
            barrier.wait(30)
            with VectorStore(folder / f"{turn}.sqlite3") as store:
                for part in range(3):
                    store.add(ONE, "query", [f"{number} {part}", "same"], [[number + 1, 1], [1, 0]])
    except BaseException as error:
        errors.put(repr(error))
        barrier.abort()
        raise


def test_processes_create_and_fill_a_store_at_once(tmp_path: Path) -> None:
    barrier, errors = SPAWN.Barrier(2), SPAWN.Queue()
    processes = [
        SPAWN.Process(target=create_and_write, args=(tmp_path, number, barrier, errors))
        for number in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0], errors.get(timeout=1)
    for turn in range(15):
        with VectorStore(tmp_path / f"{turn}.sqlite3") as store:
            texts = [f"{number} {part}" for number in range(2) for part in range(3)]
            assert store.missing(ONE, "query", [*texts, "same"]) == []


def test_one_at_a_time_embeds(path: Path) -> None:
    order: list[str] = []
    entered = threading.Event()

    def second() -> None:
        entered.set()
        with VectorStore(path) as store, store.embedding_lock():
            order.append("second")

    with VectorStore(path) as store:
        with store.embedding_lock():
            thread = threading.Thread(target=second)
            thread.start()
            entered.wait(5)
            thread.join(0.2)
            order.append("first")
        thread.join(5)
    assert order == ["first", "second"]


def test_a_long_wait_for_the_lock_is_told_once(path: Path, monkeypatch) -> None:
    monkeypatch.setattr("pytest_soulmem.embedders.store.PATIENCE", 0.05)
    told: list[str] = []
    waits, holds = threading.Event(), threading.Event()

    def tell(line: str) -> None:
        told.append(line)
        waits.set()

    def hold() -> None:
        with VectorStore(path) as store, store.embedding_lock():
            holds.set()
            assert waits.wait(10)
            waits.wait(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    assert holds.wait(10)
    with VectorStore(path) as store, store.embedding_lock(tell):
        pass
    thread.join(10)
    assert told == [f"waiting for another process, which holds {path}.lock"]


def test_a_short_wait_for_the_lock_is_not_told(path: Path) -> None:
    told: list[str] = []
    with VectorStore(path) as store, store.embedding_lock(told.append):
        pass
    assert told == []


def test_a_store_in_memory_needs_no_lock() -> None:
    with VectorStore(None) as store, store.embedding_lock(), store.embedding_lock():
        pass
