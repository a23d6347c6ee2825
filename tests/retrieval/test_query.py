"""Reading query files: what is accepted, and where each fault is placed."""

import copy
import unicodedata

import pytest
from hypothesis import given

from pytest_soulmem.decoding import read_json
from pytest_soulmem.faults import FixtureError
from pytest_soulmem.retrieval.query import BrokenCase, RetrievalCase
from retrieval import strategies
from retrieval.builders import (
    concept_query,
    load,
    query_document,
    scene_query,
    sub_queries_of,
    tag_query,
    write,
)


@pytest.fixture
def read(tmp_path):
    return lambda document, **kwargs: load(tmp_path, document, **kwargs)


@pytest.fixture
def file_faults(read):
    """The faults of a file that cannot be used."""

    def faults_of(document, **kwargs):
        with pytest.raises(FixtureError) as caught:
            read(document, **kwargs)
        return [str(fault) for fault in caught.value.faults]

    return faults_of


@pytest.fixture
def case_faults(read):
    """The faults of a broken case, between two that are whole; ``changes`` makes it broken."""

    def faults_of(**changes):
        before, broken, after = read(query_document({}, changes, {})).cases
        assert [type(before), type(after)] == [RetrievalCase, RetrievalCase]
        assert isinstance(broken, BrokenCase)
        return [str(fault) for fault in broken.faults]

    return faults_of


# --- what is read -------------------------------------------------------------------------------


def test_a_whole_file(read, tmp_path):
    case = {
        "description": "说明",
        "sub_queries": [tag_query("x"), tag_query("y")],
        "expected_per_query": [{"q": 1, "ranking": ["rust"], "bonus_ranking": ["speak"]}],
        "expected_combined_ranking": ["rust", "iron"],
        "bonus_combined_ranking": ["rust", "tavern"],
        "expected_actions": ["speak"],
        "check": "hit",
        "mode": "embedding",
    }
    file = read(query_document(case, blend_sweep={"tag_sweep": [0.1, 0.2]}))
    (found,) = file.cases
    assert (found.name, found.check, found.mode, found.negative) == (
        "case 0",
        "hit",
        "embedding",
        False,
    )
    assert found.bonus == ("tavern",)
    assert found.expected_per_query[0].bonus_ranking == ("speak",)
    assert (file.path, file.graph.path.name) == (tmp_path / "query.json", "graph.json")
    assert [one.label for one in file.weight_sets] == ["tag:0.1-variant:0.9", "tag:0.2-variant:0.8"]


def test_what_may_be_left_out(read):
    (found,) = read(query_document()).cases
    assert found.negative
    assert found.expected_per_query == found.expected_actions == found.bonus == ()


@strategies.lean
@given(strategies.requests)
def test_random_sub_queries_are_read(tmp_path_factory, requests):
    folder = tmp_path_factory.getbasetemp()
    (found,) = load(folder, query_document({"sub_queries": requests})).cases
    assert found.sub_queries == sub_queries_of(requests)


@pytest.mark.parametrize(
    "changes",
    [
        {"description": None},
        {"sub_queries": [scene_query({})]},
        {"sub_queries": [scene_query(dict.fromkeys(["narrative", "location", "participants"]))]},
        {"sub_queries": [scene_query(dict.fromkeys(["time_span", "environment", "event"]))]},
        {"sub_queries": [scene_query({"time_span": [{"start": None}, {"end": "2024"}]})]},
        {"sub_queries": [concept_query(None, "x", priority=0)]},
        {"expected_per_query": [{"q": 0, "ranking": []}]},
        {"expected_combined_ranking": ["rust", "iron", "tavern"]},
        {"bonus_combined_ranking": ["rust", "iron", "tavern", "speak"]},
        {"expected_combined_ranking": ["rust"], "bonus_combined_ranking": ["rust"]},
        {"invented": 1},
    ],
)
def test_accepted_cases(read, changes):
    (found,) = read(query_document(changes)).cases
    assert isinstance(found, RetrievalCase)


@pytest.mark.parametrize("threshold", [-1, 0, 0.5, 1e300])
def test_accepted_config(read, threshold):
    config = {"similarity_threshold": threshold, "max_results": 1, "test_k_values": [3], "new": 1}
    assert read(query_document(config=config)).config.similarity_threshold == threshold


def test_a_byte_order_mark_before_the_graph(read, tmp_path):
    whole = read(query_document())
    path = write(tmp_path / "marked.json", b"\xef\xbb\xbf" + (tmp_path / "graph.json").read_bytes())
    assert len(read(query_document(graph_path=path.name)).graph) == len(whole.graph)


def test_the_graph_is_found_from_the_folder_of_the_query_file(read, tmp_path, monkeypatch):
    read(query_document())
    monkeypatch.chdir("/")
    (tmp_path / "sub").mkdir()
    graph = read(query_document(graph_path="sub/../graph.json")).graph
    assert graph.path == tmp_path / "graph.json"


def test_the_graph_behind_a_link_is_the_one_that_the_link_means(read, tmp_path):
    read(query_document())
    deep = tmp_path / "elsewhere" / "deep"
    deep.mkdir(parents=True)
    try:
        (tmp_path / "sub").symlink_to(deep)
    except OSError:
        pytest.skip("no symbolic links here")
    write(deep.parent / "graph.json", (tmp_path / "graph.json").read_bytes())
    path = read(query_document(graph_path="sub/../graph.json")).graph.path
    assert path.samefile(deep.parent / "graph.json")


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("  用户问 \n", "用户问"),
        (unicodedata.normalize("NFD", "café"), "café"),
        ("a[b] c:d", "a[b] c:d"),
        ("\u3000全角\u3000", "全角"),
    ],
)
def test_names_are_normalised_and_stripped(read, name, shown):
    (found,) = read(query_document({"name": name})).cases
    assert found.name == shown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the name is empty"),
        (" \t", "the name is empty"),
        ("a::b", "`::`"),
        ("a\x00b", "control character"),
        ("a\nb", "control character"),
        ("a\x1b[31mb", "control character"),
        ("a\x7fb", "control character"),
        ("a\x85b", "control character"),
        ("a\u2028b", "control character"),
    ],
)
def test_names_that_no_item_can_have(read, case_faults, name, message):
    (fault,) = case_faults(name=name)
    assert fault.startswith("$.test_cases[1].name: ")
    assert message in fault
    assert read(query_document({"name": name})).cases[0].name == "test_cases[0]"


@pytest.mark.parametrize(
    ("first", "second"),
    [("a", "a"), ("a", " a "), ("caf\u00e9", "cafe\u0301")],
)
def test_names_are_unique_after_normalisation(read, first, second):
    whole, broken = read(query_document({"name": first}, {"name": second})).cases
    assert isinstance(whole, RetrievalCase)
    (fault,) = broken.faults
    assert str(fault).startswith("$.test_cases[1].name: the name")
    assert str(fault).endswith("is taken by $.test_cases[0]")


def test_items_of_broken_cases_have_names_of_their_own(read):
    names = [
        [{"name": ""}, {"name": "test_cases[0]"}],
        [{"name": "test_cases[1]"}, {"name": ""}],
        [{"name": "a"}, {"name": "a"}, {"name": "a"}],
        [{"name": 5}, {"name": None}],
    ]
    for cases in names:
        found = [case.name for case in read(query_document(*cases)).cases]
        assert len(set(found)) == len(found)


# --- faults of a case ---------------------------------------------------------------------------


def asking(priority=1, tag=(), **variant):
    """One sub-query, well formed or not."""
    sub_query = {"priority": priority, "tag": tag, "variant": variant}
    return {"sub_queries": [{name: value for name, value in sub_query.items() if value is not ...}]}


def wanting(*ranking, q=0, **more):
    """One sub-query's expectation, well formed or not."""
    return {"expected_per_query": [{"q": q, "ranking": list(ranking), **more}]}


SUB = ".sub_queries[0]"
UNIT = f"{SUB}.variant.Situation[0]"
PER_QUERY = ".expected_per_query[0]"
COMBINED = "expected_combined_ranking"
BONUS = "bonus_combined_ranking"
FOUR = ["rust", "iron", "tavern", "speak"]


@pytest.mark.parametrize(
    ("changes", "where", "message"),
    [
        ({"sub_queries": []}, ".sub_queries", "length >= 1"),
        ({"sub_queries": None}, ".sub_queries", "null"),
        (asking(-1, Semantic=[]), f"{SUB}.priority", ">= 0"),
        (asking(1.5, Semantic=[]), f"{SUB}.priority", "`int`"),
        (asking(..., Semantic=[]), SUB, "`priority` is missing"),
        (asking(tag="x", Semantic=[]), f"{SUB}.tag", "array"),
        (asking(), f"{SUB}.variant", "found none"),
        (asking(Semantic=[], Situation=[]), f"{SUB}.variant", "found Semantic and Situation"),
        (asking(Semantic=[{}]), f"{SUB}.variant.Semantic[0]", "`concept_identifier`"),
        (asking(Situation=[{"event": [{}]}]), f"{UNIT}.event[0]", "`action`"),
        (asking(Situation=[{"location": [{}]}]), f"{UNIT}.location[0]", "`name`"),
        (asking(Situation=[{"narrative": 1}]), f"{UNIT}.narrative", "`int`"),
        (asking(Situation=[{"narative": ""}]), UNIT, "did you mean `narrative`?"),
        (wanting(q=1), f"{PER_QUERY}.q", "there is no sub-query 1"),
        (wanting(q=-1), f"{PER_QUERY}.q", ">= 0"),
        (
            {"expected_per_query": [{"q": 0, "ranking": []}] * 2},
            ".expected_per_query[1].q",
            "already",
        ),
        ({"expected_per_query": [{"q": 0}]}, PER_QUERY, "`ranking` is missing"),
        (wanting("rast"), f"{PER_QUERY}.ranking[0]", 'did you mean "rust"?'),
        (wanting(bonus_ranking=["zz"]), f"{PER_QUERY}.bonus_ranking[0]", '"zz"'),
        (wanting(bonus_rankings=[]), PER_QUERY, "did you mean `bonus_ranking`?"),
        ({COMBINED: ["rust", "rast"]}, f".{COMBINED}[1]", 'did you mean "rust"?'),
        ({COMBINED: ["rust", "rust"]}, f".{COMBINED}[1]", "listed twice"),
        ({BONUS: ["rast"]}, f".{BONUS}[0]", 'did you mean "rust"?'),
        ({BONUS: ["iron", "iron"]}, f".{BONUS}[1]", "listed twice"),
        ({COMBINED: FOUR}, f".{COMBINED}", "`max_results`"),
        (wanting(*FOUR), f"{PER_QUERY}.ranking", "`max_results`"),
        ({"expected_actions": ["speek"]}, ".expected_actions[0]", 'did you mean "speak"?'),
        ({"expected_actions": ["speak", "speak"]}, ".expected_actions[1]", "listed twice"),
        ({"expected_actions": ["rust"]}, ".expected_actions[0]", "no Procedure node"),
        ({"check": "strict"}, ".check", "strict"),
        ({"mode": "slow"}, ".mode", "slow"),
        ({"expected_combined_rankin": []}, "", "did you mean `expected_combined_ranking`?"),
    ],
)
def test_faults_of_a_case_break_that_case_alone(case_faults, changes, where, message):
    (fault,) = case_faults(**changes)
    assert fault.startswith(f'$.test_cases[1]{where} (case "case 1"): ')
    assert message in fault


def test_every_fault_of_a_case_is_listed(case_faults):
    found = case_faults(
        expected_combined_ranking=["a", "b", "a", "rust"],
        expected_actions=["rust", "c"],
        expected_per_query=[{"q": 9, "ranking": ["d"]}],
    )
    assert len(found) == 9
    found = case_faults(name="a::b", sub_queries=[], expected_actions=5, check="x")
    assert len(found) == 4


@pytest.mark.parametrize("raw", [None, 1, "x", []])
def test_a_case_that_is_no_object(read, raw):
    document = query_document({}, {})
    document["test_cases"][1] = raw
    whole, broken = read(document).cases
    assert isinstance(whole, RetrievalCase)
    assert broken.name == "test_cases[1]"
    assert str(broken.faults[0]).startswith("$.test_cases[1]: expected `object`")


# --- faults of the file -------------------------------------------------------------------------


def changed_config(**changes):
    config = copy.deepcopy(query_document()["config"]) | changes
    return query_document(
        config={name: value for name, value in config.items() if value is not ...}
    )


@pytest.mark.parametrize(
    ("document", "place", "message"),
    [
        (query_document(name=1), "$.name", "`int`"),
        (query_document(description=None), "$.description", "null"),
        (query_document(test_cases=[]), "$.test_cases", "length >= 1"),
        (query_document(test_cases={}), "$.test_cases", "array"),
        (query_document(config=None), "$.config", "null"),
        (query_document(blend_swep={}), "$", "did you mean `blend_sweep`?"),
        (query_document(blend_sweep=[]), "$.blend_sweep", "object"),
        (query_document(blend_sweep={"pair": []}), "$.blend_sweep", "did you mean `pairs`?"),
        (query_document(blend_sweep={"tag_sweep": [0.1, 2]}), "$.blend_sweep.tag_sweep[1]", "<= 1"),
        (
            query_document(blend_sweep={"tag_sweep": [0.1, 0.1]}),
            "$.blend_sweep.tag_sweep[1]",
            "same",
        ),
        (query_document(blend_sweep={"pairs": [{"tagg": 1}]}), "$.blend_sweep.pairs[0]", '"tag"'),
        (query_document(blend_sweep={"pairs": [1]}), "$.blend_sweep.pairs[0]", "object"),
        (changed_config(similarity_threshold=...), "$.config", "`similarity_threshold` is missing"),
        (changed_config(similarity_threshold="0"), "$.config.similarity_threshold", "`str`"),
        (changed_config(max_results=0), "$.config.max_results", ">= 1"),
        (changed_config(max_results=2.5), "$.config.max_results", "`int`"),
        (changed_config(test_k_values=[1, 0]), "$.config.test_k_values[1]", ">= 1"),
        (changed_config(mode="fast"), "$.config.mode", "fast"),
        (changed_config(check=1), "$.config.check", "`int`"),
        (changed_config(max_result=3, max_results=...), "$.config", "did you mean `max_results`?"),
        (query_document(graph_path=5), "$.graph_path", "`int`"),
        (query_document(graph_path=""), "$.graph_path", "not a path"),
        (query_document(graph_path="a\0b"), "$.graph_path", "not a path"),
        (query_document(graph_path="/graph.json"), "$.graph_path", "is absolute"),
        (query_document(graph_path="C:\\graph.json"), "$.graph_path", "is absolute"),
        (query_document(graph_path="gone.json"), "$.graph_path", "there is no file"),
        (query_document(graph_path="."), "$.graph_path", "is a folder"),
        ([], "$", "object"),
        (None, "$", "object"),
    ],
)
def test_faults_of_the_file(file_faults, document, place, message):
    (fault,) = file_faults(document)
    assert fault.startswith(f"{place}: ")
    assert message in fault


def test_a_missing_field_of_the_file(file_faults):
    for name in ("name", "description", "graph_path", "config", "test_cases"):
        document = query_document()
        del document[name]
        assert file_faults(document) == [f"$: the field `{name}` is missing"]


def test_a_graph_with_faults(read, tmp_path):
    with pytest.raises(FixtureError) as caught:
        read(query_document(), graph=[{"id": "a"}])
    text = str(caught.value)
    assert f"$.graph_path: {tmp_path / 'graph.json'}: 2 faults" in text
    assert '$[0] (node "a"): the field `tags` is missing' in text


def test_all_faults_of_a_file_are_listed_with_those_of_its_cases(file_faults):
    document = query_document(
        {"expected_combined_ranking": ["rast"]},
        {"name": "a::b"},
        name=1,
        blend_sweep={"pairs": [{"tagg": 1}, {"tag": -1}]},
        config={"similarity_threshold": 0, "max_results": 0, "test_k_values": []},
    )
    places = [fault.split(":")[0].split(" ")[0] for fault in file_faults(document)]
    assert sorted(places) == [
        "$.blend_sweep.pairs[0]",
        "$.blend_sweep.pairs[1].tag",
        "$.config.max_results",
        "$.name",
        "$.test_cases[0].expected_combined_ranking[0]",
        "$.test_cases[1].name",
    ]


def test_faults_of_cases_are_listed_without_a_graph_too(file_faults):
    found = file_faults(query_document({"check": "x"}, graph_path="gone.json"))
    assert [fault.split(":")[0] for fault in found] == [
        "$.graph_path",
        '$.test_cases[0].check (case "case 0")',
    ]


def test_hostile_numbers_and_texts(read, tmp_path):
    document = query_document({}, {"name": "HALF"}, {"priority": 1})
    document["config"]["similarity_threshold"] = 0.4242
    data = write(tmp_path / "query.json", document).read_bytes()
    data = data.replace(b"0.4242", b"1e999").replace(b"HALF", rb"a\ud800")
    with pytest.raises(FixtureError) as caught:
        read(read_json(write(tmp_path / "query.json", data)))
    assert [str(fault) for fault in caught.value.faults] == [
        "$.config.similarity_threshold: 1e999 is not a finite number",
        "$.test_cases[1].name: the text holds half a character (\\ud800)",
    ]
