"""hypothesis strategies for fixtures, so that you can write properties of your own.

Every document that they make is one that this package's readers accept: plain JSON-able data
(``json.dumps`` writes it), small, and varied in what the formats leave open. They shrink to the
simplest fixture that still shows a fault.

Example::

    import json
    from hypothesis import given
    from pytest_soulmem import strategies as soulmem

    @given(soulmem.curve_settings(), soulmem.curves())
    def test_my_curve_is_bounded(settings, curve):
        for hours, count in curve:
            assert 0 <= my_missing_degree(hours, count, settings) <= 1

    @given(soulmem.memory_graphs())
    def test_my_store_takes_any_graph(graph):
        MyStore().load(json.dumps(graph))
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

from pytest_soulmem.archive.strategies import archive_files, archive_stories
from pytest_soulmem.events.strategies import event_files, event_streams
from pytest_soulmem.forgetting.fixture import has_word
from pytest_soulmem.forgetting.terms import ACTIONS, CurveSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "archive_files",
    "archive_stories",
    "blend_sweeps",
    "curve_settings",
    "curves",
    "event_files",
    "event_streams",
    "forget_cases",
    "forget_files",
    "hours",
    "memory_graphs",
    "missing_degrees",
    "queries",
    "query_files",
    "retrieval_counts",
    "sub_queries",
    "texts",
]

Document: TypeAlias = dict[str, Any]

_WORDS = ("记忆", "北京", "咖啡", "昨天", "张三", "Rust", "图书馆", "a", "3.14", "😀", "é")
_GAPS = ("", " ", "，", "。", "\n")

# Strategies are cached: hypothesis examines each new one, which costs more than drawing from it.

# Weights whose sweeps differ only past the sixth digit could not be told apart by name.
_HUNDREDTHS = st.integers(0, 100).map(lambda value: value / 100)


@cache
def texts() -> SearchStrategy[str]:
    """Texts that have a word: everyday ones in Chinese and Latin script, and any others.

    Never a surrogate, which no UTF-8 file can hold.
    """
    everyday = st.lists(
        st.tuples(st.sampled_from(_WORDS), st.sampled_from(_GAPS)).map("".join),
        min_size=1,
        max_size=12,
    ).map("".join)
    anything = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
    return everyday | anything.filter(has_word)


def hours(longest: float = 1e6) -> SearchStrategy[float]:
    """Moments in hours, from 0 up to ``longest``; small ones and fractions often."""
    return st.floats(0, min(100.0, longest)) | st.floats(0, longest)


def retrieval_counts(most: int = 10**6) -> SearchStrategy[int]:
    """How often a memory was retrieved, from 0 up to ``most``."""
    return st.integers(0, min(100, most)) | st.integers(0, most)


@cache
def missing_degrees() -> SearchStrategy[float]:
    """Missing degrees, from 0 to 1."""
    return st.floats(0, 1)


@cache
def curve_settings() -> SearchStrategy[CurveSettings]:
    """The ``config`` of a forget file: half-lives of 1e-3 to 1e6 hours, any factor and cap."""
    return st.builds(
        CurveSettings,
        base_half_life_hours=st.floats(1e-3, 100) | st.floats(1e-3, 1e6),
        active_factor=st.floats(0, 10),
        max_activation_cap=st.integers(0, 100) | st.integers(0, 10**6),
    )


@st.composite
def curves(draw: DrawFn, max_size: int = 20) -> list[tuple[float, int]]:
    """Points to ask a curve for: (hours, retrieval count), the hours ascending."""
    moments = sorted(draw(st.lists(hours(), min_size=1, max_size=max_size)))
    return [(moment, draw(retrieval_counts())) for moment in moments]


@cache
def _names() -> SearchStrategy[str]:
    """Names of cases and ids: not empty, in NFC, without what node ids do not bear."""
    return st.text(
        st.characters(exclude_categories=["C", "Z"], exclude_characters=":"),
        min_size=1,
        max_size=12,
    ).map(lambda text: unicodedata.normalize("NFC", text))


@cache
def _distinct_names(count: int) -> SearchStrategy[list[str]]:
    return st.lists(_names(), min_size=count, max_size=count, unique=True)


# Forget files


@cache
def forget_cases() -> SearchStrategy[Document]:
    """A case of a forget file, of any kind; well-formed, not necessarily passing.

    The name is always ``case``; a file with several needs them renamed.
    """
    return st.one_of(
        _forget_case("time_monotonic", time_offsets_hours=_ascending(2, 8), retrieval_count=_count),
        _forget_case(
            "activation",
            activation_counts=st.lists(retrieval_counts(), min_size=2, max_size=6, unique=True),
            time_offset_hours=hours(),
        ),
        _forget_case(
            "magnitude",
            time_offset_hours=hours(),
            expected_missing_degree=missing_degrees(),
            tolerance=st.floats(0, 1),
            retrieval_count=_count,
        ),
        _forget_case("branch", time_offsets_hours=_ascending(3, 3), retrieval_count=_count),
        _forget_case(
            "effect",
            mem_kind=st.sampled_from(["semantic", "situation"]),
            time_offset_hours=hours(),
            expected=_expected_effects(),
            retrieval_count=_count,
        ),
    )


_count = retrieval_counts()


def _forget_case(kind: str, **fields: SearchStrategy[Any]) -> SearchStrategy[Document]:
    optional = {"retrieval_count"} & fields.keys()
    required = {name: own for name, own in fields.items() if name not in optional}
    return st.fixed_dictionaries(
        {"kind": st.just(kind), "name": st.just("case"), "text": texts(), **required},
        optional={name: fields[name] for name in optional},
    )


def _ascending(fewest: int, most: int) -> SearchStrategy[list[float]]:
    return st.lists(hours(), min_size=fewest, max_size=most).map(sorted)


@cache
def _expected_effects() -> SearchStrategy[Document]:
    forgets = st.fixed_dictionaries(
        {"should_forget": st.just(True), "min_action": st.sampled_from(ACTIONS)}
    )
    stays = st.just({"should_forget": False, "min_action": "NoAction"})
    return stays | forgets


@st.composite
def forget_files(draw: DrawFn, max_cases: int = 4) -> Document:
    """A forget file; its cases are well-formed, not necessarily passing."""
    cases = draw(st.lists(forget_cases(), min_size=1, max_size=max_cases))
    names = draw(_distinct_names(len(cases)))
    settings = draw(curve_settings())
    document: Document = {
        "name": draw(_names()),
        "description": draw(texts()),
        "config": {
            "base_half_life_hours": settings.base_half_life_hours,
            "active_factor": settings.active_factor,
            "max_activation_cap": settings.max_activation_cap,
        },
        "test_cases": [case | {"name": name} for case, name in zip(cases, names, strict=True)],
    }
    for field in draw(st.sets(st.sampled_from(["config", "law_tolerance", "laws"]))):
        optional = {"law_tolerance": 1e-6, "laws": {"composition": False}}
        if field == "config":
            del document["config"]
        else:
            document[field] = optional[field]
    return document


# Memory graphs


@st.composite
def memory_graphs(draw: DrawFn, max_nodes: int = 8) -> list[Document]:
    """A memory graph: nodes of every kind, with links of every type between them.

    Links to a Procedure node are ``Proc`` links, and others are not.
    """
    ids = draw(st.integers(1, max_nodes).flatmap(_distinct_names))
    kinds = [draw(_memory_types()) for _ in ids]
    nodes = []
    for name, kind in zip(ids, kinds, strict=True):
        targets = draw(st.lists(st.integers(0, len(ids) - 1), max_size=3))
        links = [
            {
                "from": name,
                "to": ids[target],
                "intensity": draw(_HUNDREDTHS),
                "link_type": draw(_proc_links() if "Procedure" in kinds[target] else _links()),
            }
            for target in targets
        ]
        node = {"id": name, "tags": draw(_some(texts())), "mem_type": kind, "mem_links": links}
        if not links and draw(st.booleans()):
            del node["mem_links"]
        nodes.append(node)
    return nodes


@cache
def _memory_types() -> SearchStrategy[Document]:
    return st.one_of(
        _tagged("Semantic", _semantics()),
        _tagged("Situation", _tagged("SpecificSituation", _specifics())),
        _tagged("Situation", _tagged("AbstractSituation", _abstracts())),
        _tagged("Procedure", st.fixed_dictionaries({"action": _actions()})),
    )


@cache
def _tagged(tag: str, content: SearchStrategy[Any]) -> SearchStrategy[Document]:
    return st.fixed_dictionaries({tag: content})


@cache
def _some(content: SearchStrategy[Any], most: int = 3) -> SearchStrategy[list[Any]]:
    return st.lists(content, max_size=most)


@cache
def _semantics() -> SearchStrategy[Document]:
    return st.fixed_dictionaries(
        {
            "content": texts(),
            "aliases": _some(texts()),
            "concept_type": st.sampled_from(["Entity", "Abstract"]),
            "description": texts(),
        }
    )


@cache
def _specifics() -> SearchStrategy[Document]:
    return st.fixed_dictionaries(
        {
            "narrative": texts(),
            "time_span": st.datetimes().map(lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S}Z"),
            "context": st.fixed_dictionaries(
                {
                    "location": st.none() | _locations(),
                    "participants": _some(_participants()),
                    "emotions": _some(_sensations()),
                    "sensory_data": _some(_sensations()),
                    "environment": _environments(),
                    "event": _some(_events()),
                }
            ),
        }
    )


@cache
def _abstracts() -> SearchStrategy[Document]:
    return st.one_of(
        _tagged("Location", _locations()),
        _tagged("Participant", _participants()),
        _tagged("Environment", _environments()),
        _tagged("Event", _events()),
    )


@cache
def _locations() -> SearchStrategy[Document]:
    return st.fixed_dictionaries({"name": texts()}, optional={"coordinates": texts()})


@cache
def _participants() -> SearchStrategy[Document]:
    return st.fixed_dictionaries({"name": texts(), "role": texts()})


@cache
def _sensations() -> SearchStrategy[Document]:
    return st.fixed_dictionaries({"name": texts(), "intensity": _HUNDREDTHS})


@cache
def _environments() -> SearchStrategy[Document]:
    return st.fixed_dictionaries({"atmosphere": texts(), "tone": texts()})


@cache
def _events() -> SearchStrategy[Document]:
    return st.fixed_dictionaries(
        {"action": texts()},
        optional={"action_intensity": _HUNDREDTHS, "initiator": texts(), "target": texts()},
    )


@cache
def _actions() -> SearchStrategy[Document]:
    kinds: SearchStrategy[object] = st.sampled_from(["Speak", "Think", {"Skill": {}}])
    return st.fixed_dictionaries({"content": texts(), "action_type": kinds})


@cache
def _links() -> SearchStrategy[Document]:
    semantic = st.fixed_dictionaries({"verb": texts(), "confidence": _HUNDREDTHS})
    directions: SearchStrategy[object] = st.sampled_from(
        [{"AbstractToSpecific": {}}, {"SpecificToAbstract": {}}]
    )
    return _tagged("Sem", semantic) | _tagged("Situation", directions)


@cache
def _proc_links() -> SearchStrategy[Document]:
    trigger = st.fixed_dictionaries({"prob": _HUNDREDTHS})
    return _tagged("Proc", _tagged("TrigToAction", trigger))


# Queries


@cache
def sub_queries() -> SearchStrategy[Document]:
    """A sub-query about concepts or situations."""
    concepts = st.fixed_dictionaries(
        {"concept_identifier": texts()}, optional={"description": texts()}
    )
    return st.fixed_dictionaries(
        {
            "priority": st.integers(0, 10),
            "tag": _some(texts()),
            "variant": _tagged("Semantic", _some(concepts))
            | _tagged("Situation", _some(_scenes(), 2)),
        }
    )


@cache
def _scenes() -> SearchStrategy[Document]:
    person = st.fixed_dictionaries({}, optional={"name": texts(), "role": texts()})
    mood = st.fixed_dictionaries({}, optional={"atmosphere": texts(), "tone": texts()})
    deed = st.fixed_dictionaries(
        {"action": texts()}, optional={"initiator": texts(), "target": texts()}
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "narrative": texts(),
            "location": _some(_locations(), 2),
            "participants": _some(person, 2),
            "environment": mood,
            "event": _some(deed, 2),
        },
    )


@st.composite
def blend_sweeps(draw: DrawFn, max_sets: int = 4) -> Document:
    """A sweep over blending weights: ``tag_sweep`` or ``pairs``, no two sets equal."""
    tags = draw(st.lists(_HUNDREDTHS, min_size=1, max_size=max_sets, unique=True))
    if draw(st.booleans()):
        return {"tag_sweep": tags}
    further = st.dictionaries(st.sampled_from(_WEIGHTS), _HUNDREDTHS, max_size=3)
    return {"pairs": [{"tag": tag, "variant": round(1 - tag, 6)} | draw(further) for tag in tags]}


_WEIGHTS = (
    "string_blend_alpha",
    "sem_concept",
    "sem_description",
    "sit_location_name",
    "sit_location_coord",
    "sit_participant_name",
    "sit_participant_role",
    "sit_env_atmosphere",
    "sit_env_tone",
    "sit_event_initiator",
    "sit_event_target",
    "sit_event_action",
    "sit_event_initiator_only_action",
    "sit_event_target_only_action",
)


@st.composite
def queries(draw: DrawFn, graph: Sequence[Document], most: int = 5) -> Document:
    """A case of a query file that asks a graph; well-formed, not necessarily passing.

    The name is always ``case``; a file with several needs them renamed. ``most`` is the file's
    ``max_results``.
    """
    ids = [node["id"] for node in graph]
    procedures = [node["id"] for node in graph if "Procedure" in node["mem_type"]]
    subs = draw(st.lists(sub_queries(), min_size=1, max_size=3))
    expected = draw(st.sets(st.integers(0, len(subs) - 1)))
    return {
        "name": "case",
        "description": draw(texts()),
        "sub_queries": subs,
        "expected_per_query": [
            {
                "q": q,
                "ranking": draw(_ids(ids, most)),
                "bonus_ranking": draw(_ids(ids, most)),
            }
            for q in sorted(expected)
        ],
        "expected_combined_ranking": draw(_ids(ids, most)),
        "bonus_combined_ranking": draw(_ids(ids, most)),
        "expected_actions": draw(_ids(procedures, 3)),
    }


def _ids(known: Sequence[str], most: int) -> SearchStrategy[list[str]]:
    if not known:
        return st.just([])
    return st.lists(st.sampled_from(known), unique=True, max_size=most)


@st.composite
def query_files(draw: DrawFn, graph: Sequence[Document], graph_path: str) -> Document:
    """A query file about a graph that lies at ``graph_path``, relative to the query file."""
    most = draw(st.integers(1, 10))
    cases = draw(st.lists(queries(graph, most), min_size=1, max_size=3))
    names = draw(_distinct_names(len(cases)))
    document: Document = {
        "name": draw(_names()),
        "description": draw(texts()),
        "graph_path": graph_path,
        "config": {
            "similarity_threshold": draw(_HUNDREDTHS),
            "max_results": most,
            "test_k_values": draw(st.lists(st.integers(1, 10), min_size=1, max_size=3)),
        },
        "test_cases": [case | {"name": name} for case, name in zip(cases, names, strict=True)],
    }
    if draw(st.booleans()):
        document["blend_sweep"] = draw(blend_sweeps())
    return document
