"""Posting to a server with patience, with limits, and with a key that is never shown."""

from __future__ import annotations

import ipaddress
import os
import random
import re
import threading
import time
import weakref
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from pytest_soulmem.embedders.errors import ServerError, visible

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE = "SOULMEM_API_KEY"
PATIENCE = 3  # Timeouts that a request may take with all its attempts.
_ATTEMPTS = 5
_ATTEMPTS_IF_BUSY = 8  # Many limits are per minute.
_FIRST_WAIT = 0.5  # Seconds; doubled by each further attempt.
_LONGEST_WAIT = 30.0  # Also the longest that a server may ask for.
_BUSY = frozenset({425, 429, 503})
_PASSING = _BUSY | {408, 409}  # And every 5xx.
_LARGEST_ANSWER = 256 * 2**20
_LARGEST_ERROR = 64 * 2**10
_SHOWN = 300


class Key:
    """What authorises requests, if anything; shows itself nowhere."""

    def __init__(self, value: str) -> None:
        if not re.fullmatch(r"[!-~]*", value):
            raise ServerError(
                f"the environment variable {KEY_VARIABLE} holds characters that a key cannot have: "
                "only visible ASCII, without spaces, can be sent"
            )
        self._value = value

    @classmethod
    def from_environment(cls) -> Key:
        """The key in ``SOULMEM_API_KEY``."""
        return cls(os.environ.get(KEY_VARIABLE, "").strip())

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Key(***)" if self else "Key()"

    def headers(self) -> dict[str, str]:
        """What to send."""
        return {"Authorization": f"Bearer {self._value}"} if self else {}

    def hidden(self, text: str) -> str:
        """A text of the server's, which may repeat the key, without it."""
        return text.replace(self._value, "***") if self else text


class _Failure(Exception):
    """An attempt that failed. ``attempts`` is how many of its kind are worth making."""

    def __init__(self, said: str, attempts: int = 1, wait: float = 0) -> None:
        super().__init__(said)
        self.attempts = attempts
        self.wait = wait


class Poster:
    """Posts JSON to one address, from several threads, on connections that are kept.

    Each attempt may take ``timeout`` seconds, and all of them three times that.
    """

    def __init__(self, url: str, timeout: float, connections: int) -> None:
        self._url = url
        self._timeout = timeout
        self._key = Key.from_environment()
        self._client = _client(url, timeout, connections, self._key)
        weakref.finalize(self, self._client.close)

    def post(self, content: bytes, stop: threading.Event) -> bytes:
        """The body of a successful answer.

        What may pass is tried again: no connection, 408, 409, 425, 429 and 5xx.

        Raises:
            ServerError: there was none, or ``stop`` was set between two attempts.
        """
        started = time.monotonic()
        give_up = started + PATIENCE * self._timeout
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._attempt(content, min(time.monotonic() + self._timeout, give_up))
            except _Failure as error:
                failure = error
            wait = failure.wait or _back_off(attempt)
            left = give_up - time.monotonic()
            if attempt >= failure.attempts or wait >= left or stop.wait(wait):
                break
        tried = f" ({attempt} attempts in {time.monotonic() - started:.0f} s)"
        raise ServerError(
            f"POST {visible(urlsplit(self._url).path)} {failure}{tried if attempt > 1 else ''}"
        )

    def _attempt(self, content: bytes, deadline: float) -> bytes:
        import httpx

        seconds = max(deadline - time.monotonic(), 0.001)
        try:
            with self._client.stream(
                "POST", self._url, content=content, timeout=seconds
            ) as response:
                if response.is_success:
                    return _read(response, deadline)
                raise self._refused(response, deadline)
        except httpx.TimeoutException:
            raise _slow() from None
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol) as error:
            raise _Failure(f"cannot be sent ({type(error).__name__})") from None
        except httpx.TransportError as error:
            raise _Failure(f"failed: {self.shown(str(error)) or _kind(error)}", _ATTEMPTS) from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise _Failure(f"failed ({_kind(error)})") from None

    def _refused(self, response: httpx.Response, deadline: float) -> _Failure:
        status = response.status_code
        said = self.shown(_reason(_beginning(response, deadline)))
        text = f"was answered {status}{_hint(status, bool(self._key))}{': ' if said else ''}{said}"
        if status not in _PASSING and status < 500:
            return _Failure(text)
        wait = _asked_wait(response.headers.get("Retry-After", ""))
        return _Failure(text, _ATTEMPTS_IF_BUSY if status in _BUSY else _ATTEMPTS, wait)

    def shown(self, text: str) -> str:
        """What the server said, short, on one line and without the key."""
        text = " ".join(self._key.hidden(text).split())
        return visible(text[:_SHOWN]) + ("…" if len(text) > _SHOWN else "")


def _client(url: str, timeout: float, connections: int, key: Key) -> httpx.Client:
    try:
        import httpx
    except ImportError:
        raise ServerError(
            "an embedding server is asked through httpx, which is not installed: "
            "pip install 'pytest-soulmem[server]'"
        ) from None
    try:
        return httpx.Client(
            headers={
                "Content-Type": "application/json",
                "User-Agent": "pytest-soulmem",
                **key.headers(),
            },
            timeout=timeout,
            limits=httpx.Limits(max_connections=connections),
            follow_redirects=False,
            verify=httpx.create_ssl_context(),
            # The proxies of the environment, which know nothing of this machine's own servers.
            trust_env=not _is_loopback(urlsplit(url).hostname or ""),
        )
    except Exception as error:  # A proxy's address, perhaps with a password, may be in its text.
        said = f": {visible(error)}" if isinstance(error, ImportError) else ""
        raise ServerError(
            "the settings for proxies or certificates in the environment (HTTP_PROXY, HTTPS_PROXY, "
            f"ALL_PROXY, SSL_CERT_FILE) cannot be used: {_kind(error)}{said}"
        ) from None


def _is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _back_off(attempt: int) -> float:
    longest: float = min(_FIRST_WAIT * 2 ** (attempt - 1), _LONGEST_WAIT)
    # Jitter, so that many who were refused together do not return together.
    return longest * random.uniform(0.5, 1)  # noqa: S311


def _asked_wait(retry_after: str) -> float:
    """What a Retry-After header asks for: seconds or a date; zero for anything else."""
    seconds = 0.0
    with suppress(ValueError, OverflowError):
        seconds = float(retry_after)
    if not seconds:
        with suppress(ValueError, TypeError, OverflowError, IndexError):
            then = parsedate_to_datetime(retry_after)
            seconds = (then - datetime.now(timezone.utc)).total_seconds()
    return min(seconds, _LONGEST_WAIT) if seconds > 0 else 0.0


def _read(response: httpx.Response, deadline: float) -> bytes:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > _LARGEST_ANSWER:
            raise _Failure(f"was answered with more than {_LARGEST_ANSWER // 2**20} MB")
        if time.monotonic() > deadline:
            raise _slow()
    return bytes(body)


def _beginning(response: httpx.Response, deadline: float) -> bytes:
    import httpx

    body = bytearray()
    with suppress(httpx.HTTPError):
        for chunk in response.iter_bytes(_LARGEST_ERROR):
            body += chunk
            if len(body) >= _LARGEST_ERROR or time.monotonic() > deadline:
                break
    return bytes(body[:_LARGEST_ERROR])


def _reason(body: bytes) -> str:
    """The message in an error's JSON, in the ways that servers write it, or else the text."""
    try:
        found: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace")
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return found if isinstance(found, str) else body.decode("utf-8", "replace")


def _hint(status: int, has_key: bool) -> str:
    if status == 401:
        return " (it refuses the key)" if has_key else f" (it wants a key, in {KEY_VARIABLE})"
    if status == 404:
        return " (is the address whole, such as http://host:port/v1, and the model known there?)"
    if 300 <= status < 400:
        return " (a redirection, which is not followed: name the address it leads to)"
    return ""


def _slow() -> _Failure:
    return _Failure("was not answered in time (--soulmem-timeout)", _ATTEMPTS)


def _kind(error: Exception) -> str:
    return type(error).__name__
