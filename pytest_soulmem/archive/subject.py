"""The chain under test, asked with care: nonsense and errors become texts that say whose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from pytest_soulmem.archive.crash import Passed
from pytest_soulmem.archive.protocols import (
    REQUIRED,
    Chain,
    Extractor,
    HasCrashPoints,
    HasFiles,
)
from pytest_soulmem.archive.terms import OWNER_KINDS, Archived, Reference, Triple
from pytest_soulmem.faults import suggestion
from pytest_soulmem.users_code import Misbehaviour, ask_method, name_of, nonsense, shown

_HOOK = "the hook pytest_soulmem_archive"


class Subject:
    """A chain and its name in texts. Every method checks what comes back.

    Every method raises :class:`Misbehaviour` for a chain that raises or returns nonsense.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self.name = name_of(chain)

    def put(self, data: bytes, mime: str, description: str, context: str | None) -> str:
        """Store a media; the digest that the chain gives."""
        value = self._ask("put", mime, lambda: self._chain.put(data, mime, description, context))
        if not isinstance(value, str):
            raise self._nonsense("put", mime, value, "the digest as text")
        return str(value)

    def describe(self, digest: str, description: str) -> None:
        """Replace a description."""
        self._ask("describe", digest, lambda: self._chain.describe(digest, description))

    def transfer(self, context: str, document: str, text: str) -> None:
        """Make a document of a context."""
        about = f"{context} to {document}"
        self._ask("transfer", about, lambda: self._chain.transfer(context, document, text))

    def archive(self, document: str, extract: Extractor) -> Archived:
        """Archive a document; what the chain says of it, as plain values."""
        value = self._ask("archive", document, lambda: self._chain.archive(document, extract))
        if not isinstance(value, Archived):
            raise self._nonsense("archive", document, value, "an Archived")
        return self._plain(document, value)

    def _plain(self, document: str, told: Archived) -> Archived:
        for field in ("written", "skipped"):
            count = getattr(told, field)
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise self._nonsense(f"archive: {field}", document, count, "a number of triples")
        for field in ("gone", "lookup_failed"):
            if not isinstance(getattr(told, field), bool):
                raise self._nonsense(f"archive: {field}", document, getattr(told, field), "a bool")
        if not isinstance(told.kept, Mapping):
            raise self._nonsense("archive: kept", document, told.kept, "a map of reasons")
        return Archived(
            told.written,
            told.skipped,
            told.gone,
            self._texts("archive: bound", document, told.bound),
            self._texts("archive: released", document, told.released),
            {str(digest): str(reason) for digest, reason in told.kept.items()},
            told.lookup_failed,
        )

    def gc(self, min_age_hours: float, capacity_bytes: int | None) -> list[str]:
        """Collect; the digests."""
        about = f"min_age_hours {min_age_hours:g}, capacity_bytes {capacity_bytes}"
        value = self._ask("gc", about, lambda: self._chain.gc(min_age_hours, capacity_bytes))
        return self._texts("gc", about, value)

    def recall(self, entity: str) -> list[str]:
        """The explicit entry; the digests."""
        value = self._ask("recall", entity, lambda: self._chain.recall(entity))
        return self._texts("recall", entity, value)

    def context_for(self, message: str) -> list[str]:
        """The automatic entry; the digests."""
        value = self._ask("context_for", message, lambda: self._chain.context_for(message))
        return self._texts("context_for", message, value)

    def recover(self) -> None:
        """Clean up after a crash."""
        self._ask("recover", "what a crash left", self._chain.recover)

    def close(self) -> None:
        """Let go of all files; how a chain ends is not judged."""
        with suppress(Exception):
            self._chain.close()

    def read(self, digest: str) -> bytes | None:
        """The content of a media."""
        value = self._ask("read", digest, lambda: self._chain.read(digest))
        if value is not None and not isinstance(value, bytes):
            raise self._nonsense("read", digest, value, "bytes or None")
        return value

    def documents(self) -> list[str]:
        """The names of documents."""
        value = self._ask("documents", "", self._chain.documents)
        return self._texts("documents", "", value)

    def references(self) -> list[Reference]:
        """All references."""
        rows = self._rows("references", self._chain.references, 3, "(kind, owner, digest)")
        for kind, *_ in rows:
            if kind not in OWNER_KINDS:
                expected = (
                    f"an owner kind ({', '.join(OWNER_KINDS)}){suggestion(kind, OWNER_KINDS)}"
                )
                raise self._nonsense("references", "", kind, expected)
        return [Reference(*row) for row in rows]

    def reference_count(self, digest: str) -> int:
        """The number of references that the chain tells."""
        ask = self._chain.reference_count
        value = self._ask("reference_count", digest, lambda: ask(digest))
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._nonsense("reference_count", digest, value, "a whole number")
        return int(value)

    def relations(self) -> list[Triple]:
        """The graph."""
        expected = "(subject, relation, object, sentence)"
        return [Triple(*row) for row in self._rows("relations", self._chain.relations, 4, expected)]

    def files(self) -> list[str] | None:
        """The digests of files on disk; None where the chain does not tell."""
        if not isinstance(self._chain, HasFiles):
            return None
        return self._texts("files", "", self._ask("files", "", self._chain.files))

    @property
    def crash_points(self) -> frozenset[str]:
        """The points at which this chain can be made to die."""
        if not isinstance(self._chain, HasCrashPoints):
            return frozenset()
        return frozenset(self._texts("crash_points", "", self._chain.crash_points))

    def watch(self, passed: Passed) -> None:
        """Be told of the points that are passed, by a chain that has some."""
        if isinstance(self._chain, HasCrashPoints):
            chain = self._chain
            self._ask("watch", "", lambda: chain.watch(passed))

    def _ask(self, method: str, about: str, call: Callable[[], Any]) -> Any:
        return ask_method(f"{self.name}.{method}", about or "nothing in particular", call)

    def _texts(self, method: str, about: str, value: Any) -> list[str]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise self._nonsense(method, about, value, "a list of texts")
        texts: list[str] = self._ask(method, about, lambda: list(value))
        for text in texts:
            if not isinstance(text, str):
                raise self._nonsense(method, about, text, "only texts in the list")
        return texts

    def _rows(
        self, method: str, call: Callable[[], Iterable[Any]], length: int, expected: str
    ) -> list[tuple[str, ...]]:
        value = self._ask(method, "", call)
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise self._nonsense(method, "", value, f"a list of {expected}")
        rows = self._ask(method, "", lambda: list(value))
        for row in rows:
            if not _is_row(row, length):
                raise self._nonsense(method, "", row, f"only {expected}, all texts, in the list")
        return [tuple(row) for row in rows]

    def _nonsense(self, method: str, about: str, value: object, expected: str) -> Misbehaviour:
        return nonsense(f"{self.name}.{method}", about or "nothing in particular", value, expected)


def _is_row(row: object, length: int) -> bool:
    return (
        isinstance(row, tuple | list)
        and len(row) == length
        and all(isinstance(part, str) for part in row)
    )


def as_subject(chain: Any) -> Subject:
    """Check what the hook returned before anything is asked of it.

    Raises:
        Misbehaviour: it is no chain.
    """
    if isinstance(chain, type):
        raise Misbehaviour(f"{_HOOK} returned the class {chain.__qualname__}, not an instance")
    lacking = [name for name in REQUIRED if not callable(getattr(chain, name, None))]
    if lacking:
        raise Misbehaviour(
            f"{_HOOK} returned {shown(chain)}, which has no method {', '.join(lacking)}"
        )
    return Subject(chain)
