"""Every fault is told with its place, and the good cases still run."""

# ruff: noqa: E501 - a row of the table is one line

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from projects import (
    Project,
    case,
    concept,
    failing,
    graph,
    link,
    queries,
    run_plainly,
    sub_query,
    unprintable,
)

from pytest_soulmem.cli.check import Finding, check_file, fixtures_in

ABSENT = object()


@dataclass(frozen=True)
class Broken:
    """A file with one change, and the lines that tell of it.

    ``place`` is a path of keys and positions, empty for the whole file; ``told`` are whole
    fault lines, or the ends of them.
    """

    name: str
    place: str
    value: Any
    told: tuple[str, ...]

    def document(self, whole: Any) -> bytes:
        if not self.place:
            return self.value if isinstance(self.value, bytes) else json.dumps(self.value).encode()
        *way, last = [int(step) if step.isdigit() else step for step in self.place.split("/")]
        parent = whole
        for step in way:
            parent = parent[step]
        if self.value is ABSENT:
            del parent[last]
        else:
            parent[last] = self.value
        return json.dumps(whole).encode()


def broken(name: str, place: str, value: Any, *told: str) -> Any:
    return pytest.param(Broken(name, place, value, told), id=name)


def raw(document: object, old: str, new: str) -> bytes:
    """A document with a piece of its text replaced."""
    text = json.dumps(document)
    assert old in text
    return text.replace(old, new, 1).encode()


TEA = '(node "tea")'
SECOND = '(case "broken")'
QUERIES = queries(case("good"), case("broken"))
SEMANTIC = {
    "content": "x",
    "aliases": [],
    "concept_type": "Entity",
    "description": "x",
}
SITUATION = {"SpecificSituation": {"narrative": "x", "time_span": None}}

GRAPHS = [
    broken("not json", "", b"[{]", "not JSON: Expecting property name enclosed in double quotes"),
    broken("cut short", "", b'[{"id": "a"', "not JSON: Expecting ',' delimiter (line 1, column 12)"),
    broken("empty file", "", b"", "the file is empty; a JSON document was expected"),
    broken("only space", "", b" \n\t ", "the file is empty; a JSON document was expected"),
    broken("utf-16", "", json.dumps(graph()).encode("utf-16"), "not UTF-8 (it looks like UTF-16); save the file as UTF-8"),
    broken("gbk", "", json.dumps(graph(), ensure_ascii=False).encode("gbk"), "; save the file as UTF-8"),
    broken("no nodes", "", [], "$: the graph has no nodes"),
    broken("an object", "", {"nodes": graph()}, "$: not a memory graph: expected an array of nodes"),
    broken("a query file", "", QUERIES, "$: not a memory graph: expected an array of nodes"),
    broken("null", "", None, "$: not a memory graph: expected an array of nodes"),
    broken("deep", "", b"[" * 100_000 + b"]" * 100_000, "not usable: nested too deeply"),
    broken("trailing text", "", b"[] []", "not JSON: Extra data (line 1, column 4)"),
    broken("a word NaN", "", raw(graph(), "0.8", "NaN"), "not JSON: NaN is not a JSON number"),
    broken("minus infinity", "", raw(graph(), "0.8", "-Infinity"), "not JSON: -Infinity is not a JSON number"),
    broken("node is text", "1", "cup", "$[1]: expected `object`, got `str`", f'$[0].mem_links[0].to {TEA}: no node has the id "cup"'),
    broken("no id", "0/id", ABSENT, "$[0]: the field `id` is missing"),
    broken("empty id", "0/id", "", "$[0].id: expected `str` of length >= 1", '$[0].mem_links[0].from: "tea" is not the id of the node that owns the link'),
    broken("id a number", "0/id", 7, "$[0].id: expected `str`, got `int`"),
    broken("no tags", "0/tags", ABSENT, f"$[0] {TEA}: the field `tags` is missing"),
    broken("tags text", "0/tags", "茶", f"$[0].tags {TEA}: expected `array`, got `str`"),
    broken("a tag null", "0/tags/0", None, f"$[0].tags[0] {TEA}: expected `str`, got `null`"),
    broken("no variant", "0/mem_type", {}, f"$[0].mem_type {TEA}: expected exactly one of Semantic, Situation, Procedure; found none of them"),
    broken("two variants", "0/mem_type", {"Semantic": SEMANTIC, "Situation": SITUATION}, f"$[0].mem_type {TEA}: expected exactly one of Semantic, Situation, Procedure; found Semantic and Situation"),
    broken("misspelt variant", "0/mem_type", {"Semantik": SEMANTIC}, f"$[0].mem_type {TEA}: unknown field `Semantik`; did you mean `Semantic`?"),
    broken("no content", "0/mem_type/Semantic/content", ABSENT, f"$[0].mem_type.Semantic {TEA}: the field `content` is missing"),
    broken("content a list", "0/mem_type/Semantic/content", ["茶"], f"$[0].mem_type.Semantic.content {TEA}: expected `str`, got `array`"),
    broken("concept type", "0/mem_type/Semantic/concept_type", "Thing", f"$[0].mem_type.Semantic.concept_type {TEA}: invalid enum value 'Thing'; expected one of Entity, Abstract"),
    broken("situation of two", "0/mem_type", {"Situation": {**SITUATION, "AbstractSituation": {"Location": {"name": "x"}}}}, f"$[0].mem_type.Situation {TEA}: expected exactly one of SpecificSituation, AbstractSituation; found SpecificSituation and AbstractSituation"),
    broken("no narrative", "0/mem_type", {"Situation": {"SpecificSituation": {"time_span": None}}}, f"$[0].mem_type.Situation.SpecificSituation {TEA}: the field `narrative` is missing"),
    broken("action type", "3/mem_type/Procedure/action/action_type", "Sing", '$[3].mem_type.Procedure.action.action_type (node "greet"): '),
    broken("same id", "2/id", "cup", '$[2].id: the id "cup" is taken by $[1]'),
    broken("link to nowhere", "0/mem_links/0/to", "cupp", f'$[0].mem_links[0].to {TEA}: no node has the id "cupp"; did you mean "cup"?'),
    broken("link of another", "0/mem_links/0/from", "sea", f'$[0].mem_links[0].from {TEA}: "sea" is not the id of the node that owns the link'),
    broken("intensity", "0/mem_links/0/intensity", 1.5, f"$[0].mem_links[0].intensity {TEA}: expected `float` <= 1.0"),
    broken("confidence", "0/mem_links/0/link_type/Sem/confidence", -0.1, f"$[0].mem_links[0].link_type.Sem.confidence {TEA}: expected `float` >= 0.0"),
    broken("confidence 1e999", "", raw(graph(), "0.8", "1e999"), f"$[0].mem_links[0].link_type.Sem.confidence {TEA}: 1e999 is not a finite number"),
    broken("link of no type", "0/mem_links/0/link_type", {}, f"$[0].mem_links[0].link_type {TEA}: expected exactly one of Sem, Proc, Situation; found none of them"),
    broken("proc without prob", "0/mem_links/0/link_type", {"Proc": {}}, f"$[0].mem_links[0].link_type.Proc {TEA}: expected exactly one of TrigToAction, prob"),
    broken("prob above 1", "0/mem_links/0/link_type", {"Proc": {"TrigToAction": {"prob": 2}}}, f"$[0].mem_links[0].link_type.Proc.TrigToAction.prob {TEA}: expected `float` <= 1.0"),
    broken("both directions", "0/mem_links/0/link_type", {"Situation": {"AbstractToSpecific": {}, "SpecificToAbstract": {}}}, f"$[0].mem_links[0].link_type.Situation {TEA}: expected AbstractToSpecific or SpecificToAbstract; found both"),
    broken("links an object", "0/mem_links", {}, f"$[0].mem_links {TEA}: expected `array`, got `object`"),
    broken("half a character", "", raw(graph(), '"tea"', '"te\\ud800"'), "$[0].id: the text holds half a character (\\ud800)"),
    broken("id twice in a node", "", raw(graph(), '"id": "tea"', '"id": "tea", "id": "coffee"'), "$[0].id: given 2 times; keep one"),
    broken("escape sequences", "0", {"id": "\x1b[31m\u202e\r\n", "tags": 1, "mem_type": {}},
        '$[0].tags (node "\\x1b[31m\\u202e\\x0d\\x0a"): expected `array`, got `int`', '$[0].mem_type (node "\\x1b[31m\\u202e\\x0d\\x0a"): expected exactly one of '),
    broken("several", "", [{**concept("tea", "茶"), "tags": 1}, concept("tea", "茶"), concept("cup", "杯", mem_links=[link("cup", "cop")])],
        f"$[0].tags {TEA}: expected `array`, got `int`", '$[1].id: the id "tea" is taken by $[0]', '$[2].mem_links[0].to (node "cup"): no node has the id "cop"; did you mean "cup"?'),
]  # fmt: skip

FILES = [
    broken("not json", "", b'{"test_cases": [}', "not JSON: Expecting value (line 1, column 17)"),
    broken("empty file", "", b"", "the file is empty; a JSON document was expected"),
    broken("utf-16", "", json.dumps(QUERIES).encode("utf-16-le"), "not UTF-8 (it looks like UTF-16-LE); save the file as UTF-8"),
    broken("latin-1", "", json.dumps(QUERIES).replace("queries", "th\xe9").encode("latin-1"), "; save the file as UTF-8"),
    broken("a word NaN", "", raw(QUERIES, "-1.0", "NaN"), "not JSON: NaN is not a JSON number"),
    broken("threshold 1e999", "", raw(QUERIES, "-1.0", "1e999"), "$.config.similarity_threshold: 1e999 is not a finite number"),
    broken("many digits", "", raw(QUERIES, '"max_results": 3', '"max_results": ' + "9" * 5000), "$.config.max_results: an integer of 5000 digits is too long"),
    broken("no name", "name", ABSENT, "$: the field `name` is missing"),
    broken("description null", "description", None, "$.description: expected `str`, got `null`"),
    broken("no config", "config", ABSENT, "$: the field `config` is missing"),
    broken("max_results 0", "config/max_results", 0, "$.config.max_results: expected `int` >= 1"),
    broken("k of 0", "config/test_k_values", [1, 0], "$.config.test_k_values[1]: expected `int` >= 1"),
    broken("k of half", "config/test_k_values", [1.5], "$.config.test_k_values[0]: expected `int`, got `float`"),
    broken("no threshold", "config/similarity_threshold", ABSENT, "$.config: the field `similarity_threshold` is missing"),
    broken("unknown mode", "config/mode", "fast", "$.config.mode: invalid enum value 'fast'; expected one of embedding, association, full"),
    broken("unknown check", "config/check", "all", "$.config.check: invalid enum value 'all'; expected one of hit, recall, order, exact, none"),
    broken("misspelt config", "config", {"similarity_treshold": 0, "max_results": 3, "test_k_values": [1]}, "$.config: unknown field `similarity_treshold`; did you mean `similarity_threshold`?"),
    broken("no cases", "test_cases", [], "$.test_cases: expected `array` of length >= 1"),
    broken("cases an object", "test_cases", {}, "$.test_cases: expected `array`, got `object`"),
    broken("cases twice", "", raw(QUERIES, '"test_cases":', '"test_cases": [], "test_cases":'), "$.test_cases: given 2 times; keep one"),
    broken("no graph_path", "graph_path", ABSENT, "$: the field `graph_path` is missing"),
    broken("graph_path a number", "graph_path", 1, "$.graph_path: expected `str`, got `int`"),
    broken("graph_path empty", "graph_path", "", "$.graph_path: not a path; write it relative to the folder of the query file"),
    broken("graph_path with NUL", "graph_path", "g\0.json", "$.graph_path: not a path; write it relative to the folder of the query file"),
    broken("graph_path missing", "graph_path", "../graphs/none.json", '$.graph_path: there is no file "../graphs/none.json" (looked for '),
    broken("graph_path a folder", "graph_path", "../graphs", '$.graph_path: "../graphs" is a folder, not a graph file'),
    broken("graph_path absolute", "graph_path", "/graphs/g.json", '$.graph_path: "/graphs/g.json" is absolute; write it relative to the folder of the query file'),
    broken("graph_path of Windows", "graph_path", "C:\\g.json", '$.graph_path: "C:\\g.json" is absolute; write it relative to the folder of the query file'),
    broken("graph_path no graph", "graph_path", "good.json", "$: not a memory graph: expected an array of nodes"),
    broken("graph_path too long", "graph_path", "g" * 5000, "ggg\" cannot be read: File name too long"),
    broken("graph_path half a character", "", raw(QUERIES, "g.json", "g\\udcff.json"), "$.graph_path: the text holds half a character (\\udcff)"),
    broken("misspelt weight", "blend_sweep", {"pairs": [{"tagg": 0.1}]}, '$.blend_sweep.pairs[0]: no weight is called "tagg"; did you mean "tag"?'),
    broken("weight below 0", "blend_sweep", {"pairs": [{"tag": 0.1}, {"sem_concept": -1}]}, "$.blend_sweep.pairs[1].sem_concept: expected `float` >= 0.0"),
    broken("weight text", "blend_sweep", {"pairs": [{"tag": "0.1"}]}, "$.blend_sweep.pairs[0].tag: expected `float`, got `str`"),
    broken("weight 1e999", "", raw({**QUERIES, "blend_sweep": {"pairs": [{"tag": 0.125}]}}, "0.125", "1e999"), "$.blend_sweep.pairs[0].tag: 1e999 is not a finite number"),
    broken("weight twice", "", raw({**QUERIES, "blend_sweep": {"pairs": [{"tag": 0.125}]}}, '"tag": 0.125', '"tag": 0.125, "tag": 1'), "$.blend_sweep.pairs[0].tag: given 2 times; keep one"),
    broken("tag_sweep above 1", "blend_sweep", {"tag_sweep": [0.5, 1.5]}, "$.blend_sweep.tag_sweep[1]: expected `float` <= 1.0"),
    broken("equal weights", "blend_sweep", {"tag_sweep": [0.5, 0.5]}, "$.blend_sweep.tag_sweep[1]: the same weights as tag:0.5-variant:0.5"),
    broken("sweep a list", "blend_sweep", [0.1], "$.blend_sweep: expected `object | null`, got `array`"),
    broken("misspelt field", "", {**QUERIES, "blend_sweeps": {"tag_sweep": [0.1]}}, "$: unknown field `blend_sweeps`; did you mean `blend_sweep`?"),
    broken("escape sequences", "graph_path", "\x1b]0;\u202e\x9b.json", '$.graph_path: there is no file "\\x1b]0;\\u202e\\x9b.json" (looked for '),
    broken("several", "", queries(case("a", sub_queries=[]), graph_path="x.json", config={"max_results": 0}, name=1),
        "$.name: expected `str`, got `int`", "$.config.max_results: expected `int` >= 1", '$.graph_path: there is no file "x.json"', '$.test_cases[0].sub_queries (case "a"): expected `array` of length >= 1'),
]  # fmt: skip

CASES = [
    broken("case a number", "test_cases/1", 5, "$.test_cases[1]: expected `object`, got `int`"),
    broken("case empty", "test_cases/1", {}, "$.test_cases[1]: the field `name` is missing", "$.test_cases[1]: the field `sub_queries` is missing"),
    broken("no name", "test_cases/1/name", ABSENT, "$.test_cases[1]: the field `name` is missing"),
    broken("name of spaces", "test_cases/1/name", "  ", "$.test_cases[1].name: the name is empty"),
    broken("name with ::", "test_cases/1/name", "a::b", "$.test_cases[1].name: the name contains `::`, which pytest uses between the parts of a node id"),
    broken("name with newline", "test_cases/1/name", "a\nb", "$.test_cases[1].name: the name contains a control character"),
    broken("name taken", "test_cases/1/name", " good ", '$.test_cases[1].name: the name "good" is taken by $.test_cases[0]'),
    broken("name half a character", "", raw(QUERIES, '"broken"', '"\\udc00"'), "$.test_cases[1].name: the text holds half a character (\\udc00)"),
    broken("no sub-queries", "test_cases/1/sub_queries", [], f"$.test_cases[1].sub_queries {SECOND}: expected `array` of length >= 1"),
    broken("priority below 0", "test_cases/1/sub_queries/0/priority", -1, f"$.test_cases[1].sub_queries[0].priority {SECOND}: expected `int` >= 0"),
    broken("no tag", "test_cases/1/sub_queries/0/tag", ABSENT, f"$.test_cases[1].sub_queries[0] {SECOND}: the field `tag` is missing"),
    broken("tag text", "test_cases/1/sub_queries/0/tag", "茶", f"$.test_cases[1].sub_queries[0].tag {SECOND}: expected `array`, got `str`"),
    broken("no variant", "test_cases/1/sub_queries/0/variant", {}, f"$.test_cases[1].sub_queries[0].variant {SECOND}: expected exactly one of Semantic, Situation; found none of them"),
    broken("two variants", "test_cases/1/sub_queries/0/variant", {"Semantic": [], "Situation": []}, f"$.test_cases[1].sub_queries[0].variant {SECOND}: expected exactly one of Semantic, Situation; found Semantic and Situation"),
    broken("concept of nothing", "test_cases/1/sub_queries/0/variant", {"Semantic": [{}]}, f"$.test_cases[1].sub_queries[0].variant.Semantic[0] {SECOND}: expected `concept_identifier`, `description` or both"),
    broken("scene of a list", "test_cases/1/sub_queries/0/variant", {"Situation": [[]]}, f"$.test_cases[1].sub_queries[0].variant.Situation[0] {SECOND}: expected `object`, got `array`"),
    broken("event without action", "test_cases/1/sub_queries/0/variant", {"Situation": [{"event": [{"target": "x"}]}]}, f"$.test_cases[1].sub_queries[0].variant.Situation[0].event[0] {SECOND}: the field `action` is missing"),
    broken("q too large", "test_cases/1/expected_per_query/0/q", 1, f"$.test_cases[1].expected_per_query[0].q {SECOND}: there is no sub-query 1; the case has 1 (0 is the first)"),
    broken("q below 0", "test_cases/1/expected_per_query/0/q", -1, f"$.test_cases[1].expected_per_query[0].q {SECOND}: expected `int` >= 0"),
    broken("q twice", "test_cases/1/expected_per_query", [{"q": 0, "ranking": []}, {"q": 0, "ranking": []}], f"$.test_cases[1].expected_per_query[1].q {SECOND}: sub-query 0 has an expectation already"),
    broken("unknown id", "test_cases/1/expected_combined_ranking", ["tea", "see"], f'$.test_cases[1].expected_combined_ranking[1] {SECOND}: no node of the graph has the id "see"; did you mean "sea"?'),
    broken("unknown bonus id", "test_cases/1/bonus_combined_ranking", ["zzz"], f'$.test_cases[1].bonus_combined_ranking[0] {SECOND}: no node of the graph has the id "zzz"'),
    broken("unknown id of a sub-query", "test_cases/1/expected_per_query/0/ranking", ["cip"], f'$.test_cases[1].expected_per_query[0].ranking[0] {SECOND}: no node of the graph has the id "cip"; did you mean "cup"?'),
    broken("id twice", "test_cases/1/expected_combined_ranking", ["tea", "tea"], f'$.test_cases[1].expected_combined_ranking[1] {SECOND}: "tea" is listed twice'),
    broken("too many ids", "test_cases/1/expected_combined_ranking", ["tea", "cup", "sea", "greet"], f"$.test_cases[1].expected_combined_ranking {SECOND}: 4 ids, but `max_results` lets only 3 come back"),
    broken("no action", "test_cases/1/expected_actions", ["cup"], f'$.test_cases[1].expected_actions[0] {SECOND}: "cup" is no Procedure node, so no action'),
    broken("unknown mode", "test_cases/1/mode", "Full", f"$.test_cases[1].mode {SECOND}: invalid enum value 'Full'; expected one of embedding, association, full"),
    broken("unknown check", "test_cases/1/check", 1, f"$.test_cases[1].check {SECOND}: "),
    broken("misspelt field", "test_cases/1", case("broken", bonus_rankings=[], expected_action=[]), f"$.test_cases[1] {SECOND}: unknown field `expected_action`; did you mean `expected_actions`?"),
    broken("ranking twice", "", raw(queries(case("good"), case("broken", expected_actions=[])), '"expected_actions": []', '"expected_actions": [], "expected_actions": []'), f"$.test_cases[1].expected_actions {SECOND}: given 2 times; keep one"),
    broken("escape sequences", "test_cases/1/expected_combined_ranking", ["\x1b[2J\u2028\u200f"], f'$.test_cases[1].expected_combined_ranking[0] {SECOND}: no node of the graph has the id "\\x1b[2J\\u2028\\u200f"'),
    broken("several", "test_cases/1", case("broken", check="no", expected_combined_ranking=[1], sub_queries=[sub_query(priority="1"), sub_query(tag=[None])]),
        f"$.test_cases[1].check {SECOND}: invalid enum value 'no'; expected one of hit, recall, order, exact, none", f"$.test_cases[1].expected_combined_ranking[0] {SECOND}: expected `str`, got `int`",
        f"$.test_cases[1].sub_queries[0].priority {SECOND}: expected `int`, got `str`", f"$.test_cases[1].sub_queries[1].tag[0] {SECOND}: expected `str`, got `null`"),
]  # fmt: skip


TABLES = {"graph": GRAPHS, "file": FILES, "case": CASES}
ROWS = [
    pytest.param(f"{kind}_{number}", row.values[0], id=f"{kind}-{row.id}")
    for kind, table in TABLES.items()
    for number, row in enumerate(table)
]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one run over all broken files prints; good files lie between them."""
    project = Project(tmp_path_factory.mktemp("broken"))
    project.write("queries/good.json", queries(case("one"), case("two")))
    for row in ROWS:
        stem, broken = row.values
        if stem.startswith("graph"):
            project.write(f"graphs/{stem}.json", broken.document(graph()))
            project.write(f"queries/{stem}.json", queries(graph_path=f"../graphs/{stem}.json"))
        else:
            whole = queries(case("good"), case("broken"))
            project.write(f"queries/{stem}.json", broken.document(whole))
    return run_plainly(project.path, "--continue-on-collection-errors", "-rA")


@pytest.mark.parametrize(("stem", "broken"), ROWS)
def test_broken(output: str, stem: str, broken: Broken) -> None:
    sections = re.split(r"^_{3,} .* _{3,}$|^={3,}.*={3,}$", output, flags=re.MULTILINE)
    place = rf"/{re.escape(stem)}\.json(:\d+:\d+)?: "
    told = [section.strip() for section in sections if re.search(place, section)]
    assert len(told) == 1, "one error per file, or per broken case"
    first, *more = told[0].split("\n")
    if len(broken.told) == 1:
        assert broken.told[0] in first
        assert more == []
    else:
        assert first.endswith(f"{stem}.json: {len(broken.told)} faults")
        assert len(more) == len(broken.told)
    for fault in broken.told:
        assert re.search(rf"{place}.*{re.escape(fault)}", told[0])
    assert unprintable(told[0]) == []
    if stem.startswith("case"):
        assert f"PASSED queries/{stem}.json::good\n" in output
        assert f"FAILED queries/{stem}.json::" in output
    else:
        assert f"ERROR queries/{stem}.json - " in output


def test_good_files_run_between_the_broken_ones(output: str) -> None:
    failed, errors, passed = len(CASES), len(GRAPHS) + len(FILES), len(CASES) + 2
    assert f"= {failed} failed, {passed} passed, {errors} errors in" in output


def test_nothing_of_ours_shows(output: str) -> None:
    for trace in ("Traceback", "pytest_soulmem/", "INTERNALERROR", "Error:"):
        assert trace not in output
    assert unprintable(output) == []


def test_the_table_is_large_and_tells_names_apart() -> None:
    for table in (GRAPHS, FILES, CASES):
        assert len({row.id for row in table}) == len(table)
    assert len(ROWS) >= 40


def test_a_broken_file_stops_the_run_as_a_broken_test_module_does(project) -> None:
    project.write("queries/good.json", queries())
    project.write("queries/broken.json", queries(config={"max_results": 0}))
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(errors=1)


def test_the_summary_says_what_is_wrong_where_not_in_which_folder(project) -> None:
    project.write("queries/one.json", queries(config={"max_results": 0}))
    project.write("queries/two.json", queries(name=1, config={"max_results": 0}))
    result = project.run()
    result.stdout.fnmatch_lines(
        [
            "ERROR queries/one.json - $.config.max_results: expected `int` >= 1",
            "ERROR queries/two.json - 2 faults; the first: $.name: expected `str`, g*",
        ]
    )


def test_the_faults_of_a_graph_stand_below_the_path_that_names_it(project) -> None:
    project.write(
        "graphs/b.json", [{**concept("a", "x"), "tags": 1}, {**concept("b", "x"), "id": 2}]
    )
    project.write("queries/q.json", queries(graph_path="../graphs/b.json", name=1))
    result = project.run()
    lines = result.outlines
    start = next(at for at, line in enumerate(lines) if line.endswith("q.json: 2 faults"))
    shown, memories = project.path / "queries/q.json", project.path / "graphs/b.json"
    places = [re.sub(r":\d+:\d+: ", ":L:C: ", line) for line in lines[start + 1 : start + 5]]
    assert places == [
        f"  {shown}:L:C: $.name: expected `str`, got `int`",
        f"  {shown}:L:C: $.graph_path: {memories}: 2 faults",
        f'    {memories}:L:C: $[0].tags (node "a"): expected `array`, got `int`',
        f"    {memories}:L:C: $[1].id: expected `str`, got `int`",
    ]


def test_pytest_names_the_line_and_column_that_check_does(project) -> None:
    project.write("graphs/b.json", [{**concept("a", "x"), "tags": 1}])
    project.write("queries/a.json", queries(case("good"), case("bad", check="no"), case(7)))
    project.write("queries/b.json", queries(graph_path="../graphs/b.json"))
    project.write("queries/c.json", b'{"test_cases": [\n 1,\n ]}')
    project.write("forget/d.json", {"name": "d", "description": "", "test_cases": [{}]})
    printed = project.run("--continue-on-collection-errors").outlines
    links = {found[0] for line in printed for found in re.finditer(r"\S+\.json:\d+:\d+", line)}
    told = {f"{found.file}:{found.line}:{found.column}" for found in checked(project.path)}
    assert len(told) >= 5
    assert links == told


def checked(folder: Path) -> list[Finding]:
    """What ``check`` finds wrong in a folder."""
    files = [path for path, _ in fixtures_in([folder])]
    found = [finding for path in files for finding in check_file(path, named=False)]
    return [finding for finding in found if finding.severity == "error"]


def test_a_byte_order_mark_is_no_fault(project) -> None:
    project.write("graphs/g.json", b"\xef\xbb\xbf" + json.dumps(graph()).encode())
    project.write("queries/q.json", b"\xef\xbb\xbf" + json.dumps(queries()).encode())
    project.run().assert_outcomes(passed=1)


def test_good_cases_keep_their_verdicts_beside_broken_ones(project) -> None:
    project.write("queries/q.json", queries(case("holds"), failing("fails"), {"name": "broken"}))
    result = project.run("-rA", "--tb=no")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "PASSED queries/q.json::holds",
            'FAILED queries/q.json::fails - order: combined ranking: "sea" did *',
            "FAILED queries/q.json::broken - $.test_cases[[]2[]] (case *",
        ]
    )
