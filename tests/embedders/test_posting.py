from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from embedders import stand_in
from embedders.stand_in import StandIn, drip, drop, drop_midway, status

from pytest_soulmem.embedders import posting
from pytest_soulmem.embedders.errors import ServerError
from pytest_soulmem.embedders.posting import KEY_VARIABLE, Key, Poster

KEY = "sk-this-must-never-be-seen-4711"
OK = status(200, b"fine")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "_FIRST_WAIT", 0.001)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def there() -> Iterator[StandIn]:
    server = StandIn()
    server.then = OK
    yield server
    server.close()


def post(server: StandIn | str, timeout: float = 5) -> bytes:
    url = server if isinstance(server, str) else server.url
    return Poster(url, timeout, 2).post(b"{}", threading.Event())


def failure(server: StandIn | str, timeout: float = 5) -> str:
    with pytest.raises(ServerError) as raised:
        post(server, timeout)
    said = str(raised.value)
    assert said.isprintable()
    assert raised.value.__suppress_context__ or raised.value.__context__ is None
    return said


# What is tried again


@pytest.mark.parametrize(
    "passing",
    [drop, drop_midway, *(status(code) for code in (408, 409, 425, 429, 500, 502, 503, 504))],
)
def test_what_may_pass_is_tried_again(there: StandIn, passing: stand_in.Reply) -> None:
    there.script = [passing, passing]
    assert post(there) == b"fine"
    assert len(there.bodies) == 3


@pytest.mark.parametrize("code", [300, 302, 400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_told_at_once(there: StandIn, code: int) -> None:
    there.then = status(code, b'{"error": {"message": "that is wrong"}}')
    said = failure(there)
    assert f"answered {code}" in said
    assert said.endswith("that is wrong")
    assert len(there.bodies) == 1


def test_500_forever(there: StandIn) -> None:
    there.then = status(500, b"broken")
    assert "answered 500: broken (5 attempts in" in failure(there)
    assert len(there.bodies) == 5


def test_a_busy_server_gets_more_time(there: StandIn) -> None:
    there.then = status(429)
    assert "answered 429 (8 attempts in" in failure(there)


def test_nobody_there(there: StandIn) -> None:
    there.close()
    assert "refused (5 attempts in" in failure(there)


def test_a_server_that_stalls(there: StandIn) -> None:
    there.then = stand_in.after(3, OK)
    before = time.monotonic()
    said = failure(there, timeout=0.2)
    assert "not answered in time (--soulmem-timeout) (3 attempts" in said
    assert time.monotonic() - before < 2


def test_a_server_that_drips(there: StandIn) -> None:
    there.then = drip
    before = time.monotonic()
    assert "not answered in time" in failure(there, timeout=0.2)
    assert time.monotonic() - before < 2


def test_a_stopped_run_tries_no_more(there: StandIn) -> None:
    there.then = status(500)
    stop = threading.Event()
    stop.set()
    with pytest.raises(ServerError):
        Poster(there.url, 5, 2).post(b"{}", stop)
    assert len(there.bodies) == 1


def test_retry_after_is_heeded(there: StandIn) -> None:
    there.script = [status(429, Retry_After="0.3")]
    before = time.monotonic()
    assert post(there) == b"fine"
    assert time.monotonic() - before >= 0.3


def test_a_wait_longer_than_the_patience_is_not_begun(there: StandIn) -> None:
    there.then = status(429, Retry_After="20")
    before = time.monotonic()
    failure(there, timeout=1)
    assert time.monotonic() - before < 2
    assert len(there.bodies) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2),
        ("0", 0),
        ("100000", 30),
        ("inf", 30),
        ("nan", 0),
        ("-5", 0),
        ("", 0),
        ("soon", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0),
    ],
)
def test_retry_after(header: str, seconds: float) -> None:
    assert posting._asked_wait(header) == seconds


def test_retry_after_a_time_to_come() -> None:
    tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
    assert posting._asked_wait(format_datetime(tomorrow, usegmt=True)) == 30


def test_waits_double_and_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "_FIRST_WAIT", 0.5)
    for attempt, longest in ((1, 0.5), (2, 1), (4, 4), (30, 30)):
        waits = {posting._back_off(attempt) for _ in range(50)}
        assert len(waits) > 1
        assert longest / 2 <= min(waits) <= max(waits) <= longest


def test_connections_are_kept(there: StandIn) -> None:
    ports = set()

    def note(handler: stand_in.Handler, body: object) -> None:
        ports.add(handler.client_address[1])
        handler.answer(200, b"")

    there.then = note
    poster = Poster(there.url, 5, 2)
    for _ in range(5):
        poster.post(b"{}", threading.Event())
    assert len(ports) == 1


# What is shown


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error": {"message": "A", "type": "x"}}', "A"),
        (b'{"error": "B", "error_type": "x"}', "B"),
        (b'{"message": "C", "code": 1}', "C"),
        (b'{"detail": "D"}', "D"),
        (b'{"detail": [{"msg": "E"}]}', '{"detail": [{"msg": "E"}]}'),
        (b"<html>\n <p>F</p></html>", "<html> <p>F</p></html>"),
        (b"[1, 2]", "[1, 2]"),
        (b"\xff\xfe", "��"),
        (b"[" * 5000, "[" * 300 + "…"),
    ],
)
def test_what_a_server_says(there: StandIn, body: bytes, shown: str) -> None:
    there.then = status(400, body)
    assert failure(there).endswith(f"answered 400: {shown}")


def test_a_huge_error_with_control_characters(there: StandIn) -> None:
    there.then = status(400, b"\x1b[2J\x07\x9b" + "‮".encode() + b"x" * 5_000_000)
    said = failure(there)
    assert "\\x1b[2J\\x07" in said
    assert "\\u202e" in said
    assert len(said) < 500


def test_an_answer_may_not_be_without_end(there: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "_LARGEST_ANSWER", 2**20)
    there.then = status(200, b" " * (2**20 + 1))
    assert "more than 1 MB" in failure(there)


def test_an_answer_that_does_not_unpack(there: StandIn) -> None:
    there.then = status(200, b"no gzip", Content_Encoding="gzip")
    assert "failed (DecodingError)" in failure(there)


# Where it goes


def test_redirections_are_not_followed(there: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    other = StandIn()
    there.then = status(307, Location=other.url)
    assert "answered 307 (a redirection, which is not followed" in failure(there)
    assert other.bodies == []
    other.close()


def test_this_machine_needs_no_proxy(there: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    assert post(there) == b"fine"
    assert post(there.url.replace("127.0.0.1", "localhost")) == b"fine"


def test_others_are_reached_through_the_users_proxy(
    there: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", there.url)
    assert post("http://embeddings.invalid/v1") == b"fine"
    assert there.paths == ["http://embeddings.invalid/v1"]


def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "nonsense://name:secret@127.0.0.1:9")
    with pytest.raises(ServerError, match=r"settings for proxies.*cannot be used") as raised:
        Poster("http://embeddings.invalid/v1", 5, 2)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("0.0.0.0", True),  # noqa: S104
        ("localhost", True),
        ("a.localhost", True),
        ("192.168.0.1", False),
        ("localhost.example.org", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert posting._is_loopback(host) is loopback


# The key


def test_the_key_is_sent(there: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    post(there)
    monkeypatch.setenv(KEY_VARIABLE, f" {KEY}\n")
    post(there)
    assert [headers.get("Authorization") for headers in there.headers] == [None, f"Bearer {KEY}"]


@pytest.mark.parametrize("key", ["a b", "schlüssel", "a\r\nX-Evil: 1", "a\0b"])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    with pytest.raises(ServerError, match=KEY_VARIABLE) as raised:
        Key(key)
    assert key not in str(raised.value)
    assert str(raised.value).isprintable()


def test_the_key_shows_itself_nowhere(there: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    there.then = status(401, b"x" * 290 + f" wrong: {KEY}, Bearer {KEY}".encode())
    poster = Poster(there.url, 5, 2)
    with pytest.raises(ServerError) as raised:
        poster.post(b"{}", threading.Event())
    assert "(it refuses the key): xxx" in str(raised.value)
    shown = "".join((str(raised.value), repr(poster), repr(vars(poster)), repr(poster._key)))
    assert KEY[:5] not in shown
    assert repr(Key("")) == "Key()"


def test_a_key_that_is_wanted(there: StandIn) -> None:
    there.then = status(401)
    assert f"answered 401 (it wants a key, in {KEY_VARIABLE})" in failure(there)


def test_without_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    with pytest.raises(ServerError, match=r"httpx, which is not installed.*soulmem\[server\]'"):
        Poster("http://127.0.0.1:9/v1", 5, 2)
