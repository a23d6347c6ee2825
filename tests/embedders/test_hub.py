from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType

import pytest
from embedders.model_folders import make_snapshot

from pytest_soulmem.embedders import hub
from pytest_soulmem.embedders.model_files import ModelFilesError

MODEL = "BAAI/bge-small-zh-v1.5"


class Answer(BaseHTTPRequestHandler):
    status = 200

    def do_HEAD(self) -> None:
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint(hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch, hub_cache: Path) -> list[dict[str, object]]:
    """A stand-in for huggingface_hub that notes what it is asked and puts a snapshot there."""
    calls: list[dict[str, object]] = []

    def snapshot_download(model: str, **options: object) -> None:
        calls.append({"model": model, **options})
        revision = str(options["revision"] or "fresh")
        folder = make_snapshot(hub_cache, model, revision, main=not options["revision"])
        if model == "old/pickled":
            (folder / "model.safetensors").unlink()
            if "pytorch_model*.bin" in options["allow_patterns"]:
                (folder / "pytorch_model.bin").write_bytes(b"weights")
        if model == "no/luck":
            raise ConnectionResetError("cut\x1b off")

    module = ModuleType("huggingface_hub")
    module.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return calls


@pytest.mark.usefixtures("hub_cache", "downloads")
def test_no_network_is_told_at_once() -> None:
    start = time.monotonic()
    with pytest.raises(ModelFilesError, match=rf"{MODEL} cannot be fetched.*no connection"):
        hub.fetch(MODEL)
    assert time.monotonic() - start < 3


@pytest.mark.usefixtures("hub_cache", "downloads")
def test_a_silent_hub_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert hub._PATIENCE <= 2
        monkeypatch.setattr(hub, "_PATIENCE", 0.3)
        start = time.monotonic()
        with pytest.raises(ModelFilesError, match=r"no answer|timed out"):
            hub.fetch(MODEL)
        assert time.monotonic() - start < 2


@pytest.mark.usefixtures("hub_cache", "downloads")
def test_a_slow_name_lookup_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_PATIENCE", 0.1)
    monkeypatch.setattr(hub, "_answer", lambda *_: time.sleep(5))
    start = time.monotonic()
    with pytest.raises(ModelFilesError, match=r"no answer within 0\.1 seconds"):
        hub.fetch(MODEL)
    assert time.monotonic() - start < 2


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize("switch", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_the_offline_switches(
    monkeypatch: pytest.MonkeyPatch, downloads: list[object], switch: str
) -> None:
    monkeypatch.setenv(switch, "1")
    with pytest.raises(ModelFilesError, match=f"{switch} forbids"):
        hub.fetch(MODEL)
    assert downloads == []


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize("status", [401, 404])
def test_no_such_model(
    monkeypatch: pytest.MonkeyPatch, downloads: list[object], status: int
) -> None:
    monkeypatch.setattr(Answer, "status", status)
    with pytest.raises(ModelFilesError, match="no such model"):
        hub.fetch(MODEL)
    assert downloads == []


@pytest.mark.usefixtures("endpoint")
def test_what_is_fetched(downloads: list[dict[str, object]], hub_cache: Path) -> None:
    files = hub.fetch(MODEL)
    assert files.version == "revision fresh"
    (call,) = downloads
    assert (call["model"], call["revision"], call["cache_dir"]) == (MODEL, None, hub_cache)
    assert "pytorch_model*.bin" not in call["allow_patterns"]
    assert {"config.json", "model*.safetensors"} <= set(call["allow_patterns"])
    assert hub.fetch(MODEL, "older").version == "revision older"


@pytest.mark.usefixtures("endpoint")
def test_pickled_weights_are_fetched_where_there_are_no_others(
    downloads: list[dict[str, object]],
) -> None:
    assert (hub.fetch("old/pickled").folder / "pytorch_model.bin").is_file()
    assert len(downloads) == 2


@pytest.mark.usefixtures("endpoint", "downloads")
def test_a_broken_download_is_told_in_a_line() -> None:
    with pytest.raises(ModelFilesError, match=r"fetching no/luck failed: Conn.*: cut\\x1b off"):
        hub.fetch("no/luck")


@pytest.mark.usefixtures("hub_cache")
def test_an_endpoint_that_is_no_web_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc")
    with pytest.raises(ModelFilesError, match="not a web address"):
        hub.fetch(MODEL)
