"""hypothesis strategies for archive files, so that you can write properties of your own.

Every file is plain data that the reader accepts. It tells stories: media and documents that are
stored, described, transferred, archived, collected and recalled, with deaths between. Nothing is
expected in them, so whatever a chain does is right; the laws judge it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from pytest_soulmem.archive.crash import CRASH_POINTS

__all__ = ["archive_files", "archive_stories"]

Raw: TypeAlias = dict[str, Any]

Fields: TypeAlias = Mapping[str, SearchStrategy[Any]]
NOTHING: Fields = {}

_LONGEST = 12
"""Steps that a story has at most."""

_CONTEXTS = st.sampled_from(("chat", "会话"))
_HOURS = st.sampled_from((0.0, 1.0, 48.0)) | st.floats(0, 1000)
_DESCRIPTIONS = st.sampled_from(("", "一面旗子，三种颜色", "**striped** flag", "图"))
_NAMES = st.sampled_from(("旗子", "阳台", "色", "cat", "")) | st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="{}"), max_size=6
)
_TRIPLES = st.lists(
    st.fixed_dictionaries(
        {"subject": _NAMES, "relation": st.sampled_from(("挂在", "has")), "object": _NAMES}
    ),
    max_size=3,
)
_TYPES = st.sampled_from(("image/png", "audio/ogg", "video/mp4", "text/plain"))


@st.composite
def archive_files(draw: DrawFn) -> Raw:
    """An archive file: up to three media and documents, and one to three stories about them."""
    media = [f"media {number}" for number in range(draw(st.integers(1, 3)))]
    documents = [f"document {number}" for number in range(draw(st.integers(1, 3)))]
    stories = draw(st.lists(archive_stories(media, documents), min_size=1, max_size=3))
    return {
        "name": "stories",
        "description": draw(_DESCRIPTIONS),
        "media": [
            {
                "name": name,
                "mime": draw(_TYPES),
                "text": f"the content of {name}",
                "description": draw(_DESCRIPTIONS),
            }
            for name in media
        ],
        "documents": [
            {"name": name, "text": draw(_texts(media)), "triples": draw(_TRIPLES)}
            for name in documents
        ],
        "test_cases": [
            {"name": f"story {number}", "steps": steps} for number, steps in enumerate(stories)
        ],
    }


@st.composite
def archive_stories(draw: DrawFn, media: Sequence[str], documents: Sequence[str]) -> list[Raw]:
    """The ``steps`` of a case, over media and documents of these names (at least one of each).

    A document is archived only where it is surely there: after it was transferred by a process
    that lived, and once, for whether it stays is for the chain to say.
    """
    there: set[str] = set()
    steps = []
    for _ in range(draw(st.integers(1, _LONGEST))):
        known = tuple(name for name in documents if name in there)
        step = draw(_steps(tuple(media), tuple(documents), known))
        if step["step"] == "transfer":
            there.add(step["document"])
        elif step.get("during", step)["step"] == "archive":
            there.discard(step.get("during", step)["document"])
        steps.append(step)
    return steps


def _texts(media: Sequence[str]) -> SearchStrategy[str]:
    """Texts of documents: a line, and markers of some media."""
    markers = st.lists(st.sampled_from([f"{{marker:{name}}}" for name in media]), max_size=2)
    return st.tuples(st.sampled_from(("用户发来一张图。", "A picture.")), markers).map(
        lambda parts: "\n".join([parts[0], *parts[1]])
    )


# Cached: hypothesis examines each new strategy, which costs more than drawing from it.
@cache
def _steps(
    media: tuple[str, ...], documents: tuple[str, ...], there: tuple[str, ...]
) -> SearchStrategy[Raw]:
    """Anything that can be done while some documents are there, and dying in the middle of it."""
    known = st.sampled_from(media)
    plain = [
        _step("put", {"media": known}, {"context": _CONTEXTS}),
        _step("transfer", {"context": _CONTEXTS, "document": st.sampled_from(documents)}),
        _step("describe", {"media": known, "description": _DESCRIPTIONS}),
        _step("gc", optional={"min_age_hours": _HOURS, "capacity_bytes": st.integers(0, 100)}),
        _step("recover"),
    ]
    if there:
        own = {"document": st.sampled_from(there)}
        plain.append(_step("archive", own, {"triples": _TRIPLES, "lookup_fails": st.booleans()}))
    simple = st.one_of(plain)
    entities = known.map(lambda name: f"{{entity:{name}}}") | st.sampled_from(("旗子", "cat"))
    return st.one_of(
        simple,
        _step("recall", {"entity": entities}),
        _step("advance_hours", {"hours": _HOURS}),
        simple.filter(lambda step: step["step"] != "describe").flatmap(_death),
    )


def _step(name: str, fields: Fields = NOTHING, optional: Fields = NOTHING) -> SearchStrategy[Raw]:
    fixed: Fields = {"step": st.just(name), **fields}
    return st.fixed_dictionaries(fixed, optional=optional)


def _death(during: Raw) -> SearchStrategy[Raw]:
    """Dying at one of the points that a step passes."""
    points = [point for point in CRASH_POINTS if point.startswith(f"{during['step']}.")]
    return st.builds(
        lambda point: {"step": "crash_at", "point": point, "during": during},
        st.sampled_from(points),
    )
