"""Compares what a step found with what the fixture expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from pytest_soulmem.archive.fixture import Cast
from pytest_soulmem.archive.play import Answer
from pytest_soulmem.archive.rendering import render
from pytest_soulmem.archive.state import State
from pytest_soulmem.archive.steps import Expect
from pytest_soulmem.archive.subject import Subject
from pytest_soulmem.archive.terms import Archived, Reference


def violations(
    expect: Expect, answer: Answer, state: State, chain: Subject, cast: Cast
) -> Iterator[str]:
    """What was expected and is not so, one line each."""
    if answer.problem:
        yield answer.problem
        return
    judge = _Judge(cast)
    if answer.archived:
        yield from judge.archived(expect, answer.archived)
    if answer.collected is not None:
        yield from judge.media("collected", expect.collected, answer.collected)
    for entry, digests in answer.recalled.items():
        yield from judge.media(f"recalled by {entry}", expect.recalled, digests)
    yield from judge.state(expect, state, chain)


class _Judge:
    def __init__(self, cast: Cast) -> None:
        self._cast = cast

    def archived(self, expect: Expect, told: Archived) -> Iterator[str]:
        yield from _differ("document", expect.document, "gone" if told.gone else "kept")
        for name in ("written", "skipped", "lookup_failed"):
            yield from _differ(name, getattr(expect, name), getattr(told, name))
        yield from self.media("bound", expect.bound, told.bound)
        yield from self.media("released", expect.released, told.released)
        kept = {self._name(digest): reason for digest, reason in told.kept.items()}
        yield from _differ("kept", expect.kept, kept)

    def state(self, expect: Expect, state: State, chain: Subject) -> Iterator[str]:
        yield from self.media("stored", expect.stored, state.stored)
        if state.files is not None:
            yield from self.media("files", expect.files, state.files)
        yield from _sets("documents", expect.documents, state.documents)
        for name, owners in _items(expect.references):
            digest = self._cast.media[name].digest
            seen = map(owner_text, state.referring(digest))
            yield from _sets(f"references to {name}", owners, seen)
        for name, count in _items(expect.reference_counts):
            seen_count = chain.reference_count(self._cast.media[name].digest)
            yield from _differ(f"reference count of {name}", count, seen_count)
        yield from _sets("entities", self._filled(expect.entities), state.entities)
        statements = {(row.subject, row.relation, row.object) for row in state.relations}
        yield from _sets("graph", self._filled(expect.graph), statements)

    def media(self, what: str, expected: Any, digests: Iterable[str]) -> Iterator[str]:
        yield from _sets(what, expected, map(self._name, digests))

    def _name(self, digest: str) -> str:
        return self._cast.media_name(digest)

    def _filled(self, expected: Any) -> Any:
        """Expected names or statements, their placeholders filled in."""
        if expected is UNSET:
            return UNSET
        return [
            self._render(value)
            if isinstance(value, str)
            else tuple(self._render(part) for part in value)
            for value in expected
        ]

    def _render(self, text: str) -> str:
        return render(text, self._cast.media, {})


def owner_text(reference: Reference) -> str:
    """An owner as fixtures write it. Sentences have no names that a fixture could know."""
    if reference.kind == "graph_sentence":
        return "graph_sentence"
    return f"{reference.kind}:{reference.owner}"


def _items(expected: Any) -> Iterable[tuple[str, Any]]:
    return () if expected is UNSET else expected.items()


def _differ(what: str, expected: Any, seen: Any) -> Iterator[str]:
    if expected is not UNSET and expected != seen:
        yield f"{what}: {_text(seen)}; expected {_text(expected)}"


def _sets(what: str, expected: Any, seen: Iterable[Any]) -> Iterator[str]:
    """Compared as sets: in what order a chain tells them is its own affair."""
    if expected is UNSET:
        return
    wanted, found = set(expected), set(seen)
    if wanted != found:
        parts = [
            *(f"{_text(value)} is missing" for value in sorted(wanted - found)),
            *(f"{_text(value)} was not expected" for value in sorted(found - wanted)),
        ]
        yield f"{what}: {', '.join(parts)}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {reason}" for name, reason in value.items()) or "nothing"
    if isinstance(value, tuple):
        return f"({' -> '.join(value)})"
    return str(value).lower() if isinstance(value, bool) else str(value)
