"""A server that speaks the ``/v1/embeddings`` of OpenAI, as vLLM, TEI, Ollama and others do."""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

import msgspec

from pytest_soulmem.embedders import Identity, Side
from pytest_soulmem.embedders.errors import EmbeddingError, ServerError, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_soulmem.embedders.posting import Poster
    from pytest_soulmem.settings import Settings

NAME = "server"
TIMEOUT = 60.0
REQUEST = 32  # Texts; more are refused by TEI as it comes.
CONCURRENT = 4
_SAME = 0.9999  # Cosines above differ by no more than a server's rounding.


@dataclass(frozen=True)
class Asked:
    """What a server is asked for on one side."""

    model: str
    prefix: str = ""
    input_type: str | None = None

    def request(self, texts: Sequence[str]) -> bytes:
        """The body of a request."""
        # Some servers take a zero byte for the end of a text.
        clean = [self.prefix + text.replace("\0", " ") for text in texts]
        body: dict[str, object] = {"model": self.model, "input": clean}
        if self.input_type is not None:
            body["input_type"] = self.input_type
        return json.dumps(body, ensure_ascii=False).encode()


class _Row(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    data: list[_Row]


Sides: TypeAlias = Mapping[Side, Asked]


def checked_url(text: str) -> str:
    """A server's address as an option gives it.

    Raises:
        argparse.ArgumentTypeError: it is none, or holds what may be a secret. The message does
            not repeat it.
    """
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError("this is no address such as http://host:port/v1")
    if "@" in parts.netloc or "?" in text or "#" in text:
        raise argparse.ArgumentTypeError(
            "a server's address must hold no user, password or query: what a command line holds "
            "is seen by others. A key belongs in the environment variable SOULMEM_API_KEY"
        )
    return text.rstrip("/").removesuffix("/embeddings")


def sides_of(settings: Settings) -> dict[Side, Asked]:
    """What the settings say about the two sides.

    Raises:
        EmbeddingError: they name no model, or do not tell the sides apart.
    """
    if settings.instruction:
        raise EmbeddingError(
            "--soulmem-instruction is for the embedder bge; what an embedding server's model needs "
            "before queries is --soulmem-query-prefix"
        )
    models = (settings.query_model or settings.model, settings.passage_model or settings.model)
    types = settings.input_type or (None, None)
    sides: dict[Side, Asked] = {}
    for side, model, prefix, kind in (
        ("query", models[0], settings.query_prefix, types[0]),
        ("passage", models[1], settings.passage_prefix, types[1]),
    ):
        if not model:
            raise EmbeddingError(
                "an embedding server must be asked for a model, by whose name the vector store "
                "knows its vectors: name it with --soulmem-model"
            )
        sides["query" if side == "query" else "passage"] = Asked(model, prefix or "", kind)
    if sides["query"] == sides["passage"] and settings.input_type != ():
        raise EmbeddingError(
            "nothing tells an embedding server which texts are queries and which are passages, "
            "and retrieval models embed the two differently; a server that is not told takes all "
            "for the same. Say what its model expects: --soulmem-input-type=query,passage, or "
            "--soulmem-query-prefix and --soulmem-passage-prefix, or --soulmem-query-model and "
            "--soulmem-passage-model; or --soulmem-input-type=none if the model embeds both alike."
        )
    return sides


def identity_of(sides: Sides) -> Identity:
    """What is asked for on both sides, and nothing of where: the store outlives addresses."""
    query, passage = sides["query"], sides["passage"]
    told = [
        f"{name} {_quoted(one)} for queries and {_quoted(other)} for passages"
        for name, one, other in (
            ("input_type", query.input_type, passage.input_type),
            ("prefix", query.prefix, passage.prefix),
        )
        if one or other
    ]
    if query.model != passage.model:
        model = f"{query.model} for queries, {passage.model} for passages"
    else:
        model = query.model
        told = told or ["queries and passages alike"]
    return Identity(NAME, model, "; ".join(told))


def _quoted(text: str | None) -> str:
    return json.dumps(text or "", ensure_ascii=False)


class ServerEmbedder:
    """Asks for a few dozen texts at a time, in several requests at once.

    ``url`` is what ``/embeddings`` is appended to; ``timeout`` is in seconds, of one request.
    """

    texts_at_once = REQUEST * CONCURRENT

    def __init__(self, url: str, sides: Sides, timeout: float = TIMEOUT) -> None:
        self.url = url
        self.sides = sides
        self.timeout = timeout
        self._poster: Poster | None = None
        # A prefix changes a text whatever the server does with it.
        self._doubted = sides["query"] != sides["passage"] and (
            sides["query"].prefix == sides["passage"].prefix
        )

    @property
    def identity(self) -> Identity:
        """Known without a connection."""
        return identity_of(self.sides)

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Shape ``(len(texts), dimension)``, as the server gives them.

        Raises:
            ServerError: the server cannot be reached, refuses, or answers nonsense.
        """
        import numpy as np

        if not texts:
            return np.empty((0, 0), np.float32)
        rows = self._ask(texts, side)
        if self._doubted:
            self._compare(texts[0], side, rows[0])
            self._doubted = False
        return rows

    def _ask(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        import numpy as np

        from pytest_soulmem.embedders.posting import PATIENCE
        from pytest_soulmem.embedders.together import together

        poster, asked = self._opened(), self.sides[side]

        def ask(part: Sequence[str], stop: threading.Event) -> NDArray[np.float32]:
            return self._vectors(poster.post(asked.request(part), stop), len(part), poster)

        parts = [texts[start : start + REQUEST] for start in range(0, len(texts), REQUEST)]
        try:
            answers = together(ask, parts, CONCURRENT, (PATIENCE + 1) * self.timeout)
        except ServerError as error:
            raise self._failed(str(error)) from None
        except TimeoutError:
            raise self._failed("it does not come to an end of its answer") from None
        if len({answer.shape[1] for answer in answers}) > 1:
            raise self._failed("it answers with vectors of several dimensions")
        return np.concatenate(answers)

    def _opened(self) -> Poster:
        from pytest_soulmem.embedders.posting import Poster

        if self._poster is None:
            self._poster = Poster(f"{self.url}/embeddings", self.timeout, CONCURRENT)
        return self._poster

    def _failed(self, why: str) -> ServerError:
        return ServerError(
            f"The embedding server {visible(self.url)} gives no vectors: {why}. Where it cannot be "
            "reached, a vector store that was filled elsewhere serves: --soulmem-vectors."
        )

    def _vectors(self, body: bytes, count: int, poster: Poster) -> NDArray[np.float32]:
        try:
            return vectors_in(body, count)
        except ValueError as error:
            begins = poster.shown(body[:1000].decode("utf-8", "replace"))[:100]
            raise ServerError(f"its answer is not of use: {error}. It begins “{begins}”") from None

    def _compare(self, text: str, side: Side, vector: NDArray[np.float32]) -> None:
        """See to it that the server heeds what tells the sides apart; many do not."""
        import numpy as np

        other = self._ask([text], "passage" if side == "query" else "query")[0]
        if other.shape != vector.shape:
            raise self._failed("queries and passages have vectors of different dimensions")
        lengths = float(np.linalg.norm(vector) * np.linalg.norm(other))
        if lengths and float(vector @ other) > _SAME * lengths:
            raise self._failed(
                "it embeds a text as a query and as a passage to the same vector, so what should "
                f"tell the two apart does not ({visible(self.identity.model)}; "
                f"{visible(self.identity.fingerprint)}). If its model wants a prefix, use "
                "--soulmem-query-prefix and --soulmem-passage-prefix; if it embeds both alike, say "
                "--soulmem-input-type=none"
            )


def vectors_in(body: bytes, count: int) -> NDArray[np.float32]:
    """The vectors of an answer, in the order of the texts; shape ``(count, dimension)``.

    Raises:
        ValueError: it is not what was asked for; the text says how.
    """
    import numpy as np

    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(visible(error)) from None
    rows = {row.index: row.embedding for row in answer.data}
    if len(answer.data) != count or sorted(rows) != list(range(count)):
        raise ValueError(
            f"{count} texts were sent and {len(answer.data)} vectors came, with the indexes "
            f"{', '.join(map(str, sorted(rows)[:10]))}"
        )
    dimensions = {len(row) for row in rows.values()}
    if len(dimensions) > 1 or 0 in dimensions:
        raise ValueError(f"its vectors have {sorted(dimensions)} dimensions")
    with np.errstate(over="ignore"):
        vectors = np.array([rows[index] for index in range(count)], np.float32)
    if not np.isfinite(vectors).all():
        raise ValueError("a vector is not finite")
    return vectors
