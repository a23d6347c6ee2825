"""An embedding server that does as it is told, on the loopback."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Reply: TypeAlias = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        own = self.server.stand_in
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with own.counting:
            own.bodies.append(body)
            own.headers.append(dict(self.headers))
            own.paths.append(self.path)
            own.running += 1
            own.most_running = max(own.most_running, own.running)
            reply = own.script.pop(0) if own.script else own.then
        try:
            reply(self, body)
        except OSError:
            self.close_connection = True
        finally:
            with own.counting:
                own.running -= 1

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    stand_in: StandIn

    def handle_error(self, *args: object) -> None:
        pass


class StandIn:
    """Answers as ``script`` says, one reply per request, and after that as ``then`` does."""

    def __init__(self) -> None:
        self.script: list[Reply] = []
        self.then: Reply = honest
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.counting = threading.Lock()
        self.running = self.most_running = 0
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.stand_in = self
        self.address = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.address}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def vector(text: str, side: str) -> list[float]:
    digest = hashlib.sha256(f"{side} {text}".encode()).digest()
    return [byte - 127.5 for byte in digest[:8]]


def rows(body: dict[str, Any]) -> list[dict[str, Any]]:
    side = body.get("input_type", "")
    return [
        {"object": "embedding", "index": index, "embedding": vector(text, side)}
        for index, text in enumerate(body["input"])
    ]


def honest(handler: Handler, body: dict[str, Any]) -> None:
    give(rows(body))(handler, body)


def shuffled(handler: Handler, body: dict[str, Any]) -> None:
    give(rows(body)[::-1])(handler, body)


def deaf(handler: Handler, body: dict[str, Any]) -> None:
    """Pays no heed to input_type."""
    give(rows({"input": body["input"]}))(handler, body)


def give(data: object) -> Reply:
    # json writes NaN and Infinity as Python and some servers do.
    return status(200, json.dumps({"object": "list", "data": data}).encode())


def status(code: int, body: bytes = b"", **headers: str) -> Reply:
    return lambda handler, _: handler.answer(code, body, **headers)


def after(seconds: float, reply: Reply) -> Reply:
    def late(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        reply(handler, body)

    return late


def drop(handler: Handler, body: dict[str, Any]) -> None:
    handler.close_connection = True
    handler.connection.close()


def drop_midway(handler: Handler, body: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def drip(handler: Handler, body: dict[str, Any]) -> None:
    """Never silent for long and never done."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)
