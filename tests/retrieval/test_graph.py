"""Reading graph files: what is accepted, and where each fault is placed."""

import copy
import json

import pytest
from hypothesis import given

from pytest_soulmem.faults import FixtureError
from pytest_soulmem.retrieval import graph
from pytest_soulmem.retrieval.graph import read_graph
from retrieval import strategies
from retrieval.builders import (
    GRAPH,
    abstract,
    graph_of,
    link,
    node,
    proc,
    procedure,
    sem,
    semantic,
    situation,
    specific,
    write,
)


@pytest.fixture
def read(tmp_path):
    return lambda document: read_graph(write(tmp_path / "graph.json", document))


@pytest.fixture
def faults(read):
    def faults_of(document):
        with pytest.raises(FixtureError) as caught:
            read(document)
        return [str(fault) for fault in caught.value.faults]

    return faults_of


def changed(raw, place, value):
    """A copy of a JSON value with one part changed, or removed if the value is ``...``."""
    raw = copy.deepcopy(raw)
    *path, last = place
    part = raw
    for step in path:
        part = part[step]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return raw


SEMANTIC = ("mem_type", "Semantic")
SPECIFIC = ("mem_type", "Situation", "SpecificSituation")
ABSTRACT = ("mem_type", "Situation", "AbstractSituation")
ACTION = ("mem_type", "Procedure", "action")
CONTEXT = (*SPECIFIC, "context")
LINK = ("mem_links", 0)

WHOLE = {
    "location": {"name": "酒馆", "coordinates": "东"},
    "participants": [{"name": "甲", "role": "兵"}],
    "emotions": [{"name": "喜", "intensity": 3}],
    "sensory_data": [],
    "environment": {"atmosphere": "静", "tone": "暗"},
    "event": [{"action": "打", "action_intensity": 2, "initiator": "甲", "target": "乙"}],
}
CONCEPT = semantic("n", links=[sem("n", "n")])
SCENE = specific("n", "故事", WHOLE)
PLACE = abstract("n", "Location", {"name": "酒馆", "coordinates": "东"})
EVENT = abstract(
    "n", "Event", {"action": "打", "action_intensity": 1, "initiator": "甲", "target": "乙"}
)
ACT = procedure("n")


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", [CONCEPT, SCENE, PLACE, EVENT, ACT])
def test_each_kind_is_one_and_no_other(read, raw):
    found = read([raw])["n"]
    kinds = [found.semantic, found.specific, found.abstract, found.procedure]
    assert [kind is not None for kind in kinds] == [
        raw is CONCEPT,
        raw is SCENE,
        raw in (PLACE, EVENT),
        raw is ACT,
    ]


@strategies.lean
@given(strategies.graphs())
def test_random_graphs_are_read(tmp_path_factory, nodes):
    graph = read_graph(write(tmp_path_factory.getbasetemp() / "random.json", nodes))
    assert graph.nodes == graph_of(nodes).nodes
    assert [graph[name].id for name in graph.index] == [raw["id"] for raw in nodes]
    assert len(graph) == len(nodes)
    assert "n0" in graph
    assert "m0" not in graph


def test_a_node_needs_no_links(read):
    assert read([changed(CONCEPT, ["mem_links"], ...)])["n"].mem_links == ()


@pytest.mark.parametrize(
    ("raw", "place", "value"),
    [
        (SCENE, (*SPECIFIC, "time_span"), None),
        (SCENE, (*SPECIFIC, "time_span"), ...),
        (SCENE, CONTEXT, None),
        (SCENE, CONTEXT, ...),
        (SCENE, (*CONTEXT, "location"), None),
        (SCENE, (*CONTEXT, "location"), ...),
        (SCENE, (*CONTEXT, "participants"), None),
        (SCENE, (*CONTEXT, "environment"), None),
        (SCENE, (*CONTEXT, "event"), None),
        (SCENE, (*CONTEXT, "event", 0, "action_intensity"), ...),
        (SCENE, (*CONTEXT, "event", 0, "initiator"), ...),
        (SCENE, (*CONTEXT, "event", 0, "target"), ...),
        (SCENE, (*CONTEXT, "location", "coordinates"), None),
        (SCENE, (*CONTEXT, "location", "coordinates"), ...),
        (PLACE, (*ABSTRACT, "Location", "coordinates"), None),
        (PLACE, (*ABSTRACT, "Location", "coordinates"), ...),
        (CONCEPT, (*LINK, "link_type"), {"Proc": {"prob": 0.8}}),
        (CONCEPT, (*LINK, "link_type"), {"Situation": {}}),
        (CONCEPT, (*LINK, "link_type"), {"Situation": {"AbstractToSpecific": {}}}),
        (CONCEPT, (*LINK, "link_type"), {"Situation": {"SpecificToAbstract": {}}}),
        (ACT, (*ACTION, "action_type"), "Skill"),
        (ACT, (*ACTION, "action_type"), {"Skill": {}}),
        (ACT, (*ACTION, "action_type"), {"Speak": {}}),
        (ACT, (*ACTION, "action_type"), {"Think": {}}),
        (ACT, (*ACTION, "action_type"), "Think"),
        (CONCEPT, ("invented",), 1),
        (CONCEPT, (*SEMANTIC, "invented"), {"x": 1}),
        (CONCEPT, (*LINK, "invented"), None),
        # Close to a field that is there: no misspelling.
        (CONCEPT, ("tag",), 1),
        (SCENE, (*SPECIFIC, "contexts"), {}),
        (CONCEPT, (*LINK, "intensity"), 0),
        (CONCEPT, (*LINK, "intensity"), 1),
        (SCENE, (*CONTEXT, "event", 0, "action_intensity"), 1e300),
    ],
)
def test_accepted_departures(read, raw, place, value):
    assert read([changed(raw, place, value)])["n"].id == "n"


def test_probabilities_are_read_in_both_forms(read):
    links = [proc("n", "n", 0.8), link("n", "n", {"Proc": {"prob": 0.7}})]
    found = read([specific("n", links=links)])["n"]
    assert [item.link_type.Proc.probability for item in found.mem_links] == [0.8, 0.7]


def test_the_digest_is_of_the_memories_and_not_of_the_layout(tmp_path):
    def digest(text):
        path = tmp_path / "graph.json"
        path.write_bytes(text.encode())
        return read_graph(path).digest

    plain = json.dumps(GRAPH)
    assert digest(json.dumps(GRAPH, indent=2).replace("\n", "\r\n")) == digest(plain)
    assert digest(json.dumps(GRAPH, ensure_ascii=False, sort_keys=True)) == digest(plain)
    other = copy.deepcopy(GRAPH)
    other.reverse()
    assert digest(json.dumps(other)) != digest(plain)
    assert digest(plain.replace(GRAPH[0]["id"], "another")) != digest(plain)


def test_a_byte_order_mark_is_skipped(read, tmp_path):
    path = write(tmp_path / "graph.json", GRAPH)
    assert len(read(b"\xef\xbb\xbf" + path.read_bytes())) == len(GRAPH)


# --- what is refused ----------------------------------------------------------------------------

LINK_TYPE = ".mem_links[0].link_type"
STORY = ".mem_type.Situation.SpecificSituation"
PATTERN = ".mem_type.Situation.AbstractSituation"
ACTION_TYPE = ".mem_type.Procedure.action.action_type"


@pytest.mark.parametrize(
    ("raw", "place", "value", "where", "message"),
    [
        # Missing and misspelt fields.
        (CONCEPT, ["tags"], ..., "", "`tags` is missing"),
        (CONCEPT, ["mem_type"], ..., "", "`mem_type` is missing"),
        (CONCEPT, [*SEMANTIC, "aliases"], ..., ".mem_type.Semantic", "`aliases` is missing"),
        (SCENE, [*SPECIFIC, "narrative"], ..., STORY, "`narrative`"),
        (ACT, [*ACTION, "content"], ..., ".mem_type.Procedure.action", "`content` is missing"),
        (CONCEPT, [*LINK, "to"], ..., ".mem_links[0]", "`to` is missing"),
        (CONCEPT, [*LINK, "link_type", "Sem", "verb"], ..., f"{LINK_TYPE}.Sem", "`verb`"),
        # Wrong types.
        (CONCEPT, ["tags"], "x", ".tags", "array"),
        (CONCEPT, ["tags"], ["x", 1], ".tags[1]", "`str`"),
        (CONCEPT, ["mem_links"], None, ".mem_links", "null"),
        (CONCEPT, [*SEMANTIC, "content"], 1, ".mem_type.Semantic.content", "`str`"),
        (CONCEPT, [*SEMANTIC, "concept_type"], "Thing", ".mem_type.Semantic.concept_type", "Thing"),
        (CONCEPT, [*LINK, "intensity"], "1", ".mem_links[0].intensity", "`str`"),
        (CONCEPT, [*LINK, "intensity"], True, ".mem_links[0].intensity", "bool"),
        (ACT, [*ACTION, "action_type"], "Sing", ACTION_TYPE, "Sing"),
        # Variants.
        (CONCEPT, ["mem_type"], {}, ".mem_type", "found none"),
        (
            CONCEPT,
            ["mem_type"],
            ACT["mem_type"] | CONCEPT["mem_type"],
            ".mem_type",
            "found Semantic and Procedure",
        ),
        (SCENE, ["mem_type", "Situation"], {}, ".mem_type.Situation", "found none"),
        (PLACE, ABSTRACT, {}, PATTERN, "found none"),
        (
            PLACE,
            [*ABSTRACT, "Environment"],
            {"atmosphere": "", "tone": ""},
            PATTERN,
            "found Location and Environment",
        ),
        (CONCEPT, [*LINK, "link_type"], {}, LINK_TYPE, "found none"),
        (CONCEPT, [*LINK, "link_type", "Situation"], {}, LINK_TYPE, "found Sem and Situation"),
        (CONCEPT, [*LINK, "link_type"], {"Proc": {}}, f"{LINK_TYPE}.Proc", "exactly one"),
        (
            CONCEPT,
            [*LINK, "link_type"],
            {"Proc": {"prob": 1, "TrigToAction": {"prob": 1}}},
            f"{LINK_TYPE}.Proc",
            "exactly one",
        ),
        (
            CONCEPT,
            [*LINK, "link_type"],
            {"Situation": {"AbstractToSpecific": {}, "SpecificToAbstract": {}}},
            f"{LINK_TYPE}.Situation",
            "both",
        ),
        (ACT, [*ACTION, "action_type"], {}, ACTION_TYPE, "found none"),
        (
            ACT,
            [*ACTION, "action_type"],
            {"Speak": {}, "Think": {}},
            ACTION_TYPE,
            "found Speak and Think",
        ),
        # Ranges.
        (CONCEPT, [*LINK, "intensity"], 1.01, ".mem_links[0].intensity", "<= 1"),
        (CONCEPT, [*LINK, "intensity"], -0.01, ".mem_links[0].intensity", ">= 0"),
        (
            CONCEPT,
            [*LINK, "link_type", "Sem", "confidence"],
            2,
            f"{LINK_TYPE}.Sem.confidence",
            "<= 1",
        ),
        (
            CONCEPT,
            [*LINK, "link_type"],
            {"Proc": {"TrigToAction": {"prob": -1}}},
            f"{LINK_TYPE}.Proc.TrigToAction.prob",
            ">= 0",
        ),
        (CONCEPT, [*LINK, "link_type"], {"Proc": {"prob": 2}}, f"{LINK_TYPE}.Proc.prob", "<= 1"),
        (
            SCENE,
            [*CONTEXT, "event", 0, "action_intensity"],
            -1,
            f"{STORY}.context.event[0].action_intensity",
            ">= 0",
        ),
        (
            SCENE,
            [*CONTEXT, "emotions", 0, "intensity"],
            -1,
            f"{STORY}.context.emotions[0].intensity",
            ">= 0",
        ),
        # Links.
        (CONCEPT, [*LINK, "from"], "m", ".mem_links[0].from", '"m" is not the id'),
        (CONCEPT, [*LINK, "to"], "nn", ".mem_links[0].to", 'did you mean "n"?'),
        (CONCEPT, [*LINK, "to"], "zzz", ".mem_links[0].to", 'no node has the id "zzz"'),
    ],
)
def test_faults_are_placed(faults, raw, place, value, where, message):
    (fault,) = faults([semantic("other"), changed(raw, place, value)])
    assert fault.startswith(f'$[1]{where} (node "n"): ')
    assert message in fault


@pytest.mark.parametrize(
    ("raw", "place", "right", "wrong"),
    [
        (CONCEPT, (), "mem_links", "mem_link"),
        (CONCEPT, (), "mem_links", "memlnks"),
        (CONCEPT, (), "tags", "tag"),
        (CONCEPT, SEMANTIC, "description", "descripton"),
        (SCENE, SPECIFIC, "context", "contexts"),
        (SCENE, CONTEXT, "participants", "participant"),
        (SCENE, CONTEXT, "event", "events"),
        (SCENE, (*CONTEXT, "event", 0), "initiator", "initator"),
        (PLACE, (*ABSTRACT, "Location"), "coordinates", "coordinate"),
        (CONCEPT, ("mem_type",), "Semantic", "semantic"),
        (PLACE, ("mem_type", "Situation"), "AbstractSituation", "AbstractSituatoin"),
        (CONCEPT, (*LINK, "link_type"), "Sem", "Seem"),
    ],
)
def test_misspelt_fields_are_told_with_the_right_name(faults, raw, place, right, wrong):
    part = raw
    for step in place:
        part = part[step]
    renamed = {wrong if name == right else name: value for name, value in part.items()}
    document = changed([raw], (0, *place), renamed) if place else [renamed]
    (fault,) = faults(document)
    assert fault.endswith(f"unknown field `{wrong}`; did you mean `{right}`?")
    assert 'node "n"' in fault


def test_three_edits_are_no_misspelling(read):
    raw = changed(CONCEPT, ["mem_links"], ...)
    assert read([raw | {"mem_lin_ks__": []}])["n"].mem_links == ()


def test_ids_are_unique_and_not_empty(faults):
    assert faults([CONCEPT, ACT]) == ['$[1].id: the id "n" is taken by $[0]']
    (fault,) = faults([semantic("")])
    assert fault.startswith("$[0].id: ")
    (fault,) = faults([semantic("n") | {"id": 5}])
    assert fault.startswith("$[0].id: ")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "$: the graph has no nodes"),
        ({}, "$: not a memory graph: expected an array of nodes"),
        (None, "$: not a memory graph: expected an array of nodes"),
        ([1], "$[0]: expected `object`, got `int`"),
        ([None], "$[0]: expected `object`, got `null`"),
        (b"", "the file is empty; a JSON document was expected"),
        (b"\xef\xbb\xbf \n", "the file is empty; a JSON document was expected"),
        (b"[1,\n }", "not JSON: Expecting value (line 2, column 2)"),
        (b"[NaN]", "not JSON: NaN is not a JSON number"),
        (b"[Infinity]", "not JSON: Infinity is not a JSON number"),
        (b'["\xff"]', "not UTF-8 (byte 2); save the file as UTF-8"),
        (b"[" * 100_000, "not usable: nested too deeply"),
        (b"[" + b"1" * 10_000 + b"]", None),
    ],
)
def test_files_that_are_no_graph(faults, document, message):
    (fault,) = faults(document)
    assert fault == message or message is None


def test_a_missing_file(tmp_path):
    with pytest.raises(FixtureError, match="cannot be read: No such file"):
        read_graph(tmp_path / "none.json")


def as_bytes(tmp_path, document, old, new):
    return write(tmp_path / "draft.json", document).read_bytes().replace(old, new)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (b"1e999", "1e999 is not a finite number"),
        (b"-1e999", "-1e999 is not a finite number"),
        (b"1" + b"0" * 400, None),
    ],
)
def test_numbers_without_a_float(faults, tmp_path, number, message):
    raw = changed(CONCEPT, [*LINK, "intensity"], 0.4242)
    (fault,) = faults(as_bytes(tmp_path, [raw, ACT | {"id": "m"}], b"0.4242", number))
    assert fault.startswith('$[0].mem_links[0].intensity (node "n"): ')
    assert message is None or fault.endswith(message)


def test_half_characters_are_placed(faults, tmp_path):
    raw = changed(CONCEPT, [*SEMANTIC, "content"], "HALF")
    (fault,) = faults(as_bytes(tmp_path, [raw], b"HALF", rb"a\ud800b"))
    place = '$[0].mem_type.Semantic.content (node "n")'
    assert fault == f"{place}: the text holds half a character (\\ud800)"
    fault.encode()


def test_odd_values_in_fields_that_nobody_reads_are_ignored(read, tmp_path):
    raw = changed(CONCEPT, ["invented"], "HALF")
    assert len(read(as_bytes(tmp_path, [raw], b'"HALF"', rb'["\ud800", 1e999]'))) == 1


def test_every_fault_of_a_file_is_listed(faults):
    broken = node("c", {"Semantic": {"content": 1, "aliases": "x", "concept_type": "Thing"}})
    broken["mem_links"] = [sem("c", "b", intensity=2), sem("x", "nowhere", confidence=-1)]
    found = faults([semantic("b") | {"tgas": [], "tags": 1}, broken, situation("b", "b"), ACT, ACT])
    places = [fault.split(" ")[0].rstrip(":") for fault in found]
    assert sorted(places) == sorted(
        [
            "$[0].tags",
            "$[1].mem_type.Semantic",
            "$[1].mem_type.Semantic.content",
            "$[1].mem_type.Semantic.aliases",
            "$[1].mem_type.Semantic.concept_type",
            "$[1].mem_links[0].intensity",
            "$[1].mem_links[1].link_type.Sem.confidence",
            "$[1].mem_links[1].from",
            "$[1].mem_links[1].to",
            "$[2]",
            "$[2]",
            "$[2]",
            "$[4].id",
        ]
    )


def test_the_error_names_the_file(read, tmp_path):
    with pytest.raises(FixtureError) as caught:
        read([CONCEPT, ACT])
    path = tmp_path / "graph.json"
    assert str(caught.value) == f'{path}:1:257: $[1].id: the id "n" is taken by $[0]'
    with pytest.raises(FixtureError) as caught:
        read([1, 2])
    assert str(caught.value).splitlines()[0] == f"{path}: 2 faults"


def test_of_many_unknown_ids_the_first_get_a_suggestion(faults, monkeypatch):
    """Looking for one takes as long as there are nodes: with every link it would be quadratic."""
    asked = []

    def suggesting(word, known):
        asked.append(word)
        return original(word, known)

    original = graph.suggestion
    monkeypatch.setattr(graph, "suggestion", suggesting)
    links = [sem("memory", target) for number in range(50) for target in (f"none{number}", "memry")]
    found = faults([semantic("memory", links=links)])
    assert len(found) == 100
    assert sum(fault.endswith('"memry"; did you mean "memory"?') for fault in found) == 50
    assert len(asked) == len(set(asked)) == 20
