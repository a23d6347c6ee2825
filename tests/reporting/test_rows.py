"""Rows in the page of pytest-html."""

from __future__ import annotations

import html
import json
import re

import pytest
from html_samples import (
    FORGET_RUN,
    FOUND_BY_SUB_QUERIES,
    SUB_QUERIES,
    forget_file,
    retrieval_case,
)

from pytest_soulmem.reporting.html.render import row_details

pytest.importorskip("pytest_html")


def page(forget_project: pytest.Pytester, *args: str) -> str:
    run = forget_project.runpytest_subprocess(*args, "--html=out.html", "--self-contained-html")
    assert "INTERNALERROR" not in run.stdout.str() + run.stderr.str()
    return (forget_project.path / "out.html").read_text("utf-8")


def rows_in(text: str) -> dict[str, list[dict[str, object]]]:
    (blob,) = re.findall(r'data-jsonblob="([^"]*)"', text)
    found: dict[str, list[dict[str, object]]] = json.loads(html.unescape(blob))["tests"]
    return found


def test_rows_open_to_what_a_case_found(forget_project):
    rows = rows_in(page(forget_project, *FORGET_RUN))
    (row,) = rows["forget/f.json::half forgets"]
    assert "[masked]" in row["log"]
    assert "机器学习是人工智能的一个重要分支" in row["log"]
    assert "No log output" not in row["log"]
    assert "\n" not in row["log"]


def test_names_carry_key_figures_and_the_summary_the_means(forget_project):
    write_queries(forget_project)
    text = page(forget_project, "-p", "no:cacheprovider", "queries")
    (row,) = rows_in(text)["queries/q.json::asks"]
    assert "queries/q.json::asks · recall@1 1.00, ndcg@1 1.00, rr 1.00" in row["resultsTableRow"][1]
    head = "<th>rank<th>expected<th>memory<th>score"
    first = "<tr><td>1<td>1<td>cat<td>1.0000"
    assert f"<h4>combined ranking</h4><table><tr>{head}{first}</table>" in row["log"]
    assert "<h3>queries/q.json</h3>" in text


def write_queries(forget_project: pytest.Pytester) -> None:
    forget_project.makeconftest(
        "from pytest_soulmem.retrieval import Retrieval, ranked\n"
        "class System:\n"
        "    def retrieve(self, query):\n"
        "        return Retrieval(combined=ranked(['cat']))\n"
        "def pytest_soulmem_retriever(config, graph):\n"
        "    return System()\n"
    )
    semantic = {"content": "cat", "aliases": [], "concept_type": "Entity", "description": "cat"}
    node = {"id": "cat", "tags": ["cat"], "mem_type": {"Semantic": semantic}, "mem_links": []}
    variant = {"Semantic": [{"concept_identifier": "cat", "description": "cat"}]}
    asks = {
        "name": "asks",
        "sub_queries": [{"priority": 1, "tag": ["cat"], "variant": variant}],
        "expected_combined_ranking": ["cat"],
    }
    queries = {
        "name": "q",
        "description": "",
        "graph_path": "../graphs/g.json",
        "config": {"similarity_threshold": 0.0, "max_results": 3, "test_k_values": [1]},
        "test_cases": [asks],
    }
    for place, content in (("graphs/g.json", [node]), ("queries/q.json", queries)):
        path = forget_project.path / place
        path.parent.mkdir()
        path.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", r"C:\new\x", "a\x1b[31m"])
def test_hostile_names_are_text(forget_project, name):
    content = forget_file(name=name, text="<b>bold</b> memory of the sea")
    (forget_project.path / "forget" / "f.json").write_text(content, "utf-8")
    rows = [row for own in rows_in(page(forget_project, *FORGET_RUN)).values() for row in own]
    shown = "".join(str(row["log"]) + "".join(row["resultsTableRow"]) for row in rows)
    assert len(rows) == 2
    assert "<img" not in shown
    assert "<b>bold" not in shown
    assert "\x1b" not in shown


def test_other_tests_are_left_alone(forget_project):
    forget_project.makepyfile(test_it="def test_it(): pass")
    (row,) = rows_in(page(forget_project, "test_it.py"))["test_it.py::test_it"]
    assert row["log"] == "No log output captured."
    assert row["resultsTableRow"][1] == '<td class="col-testId">test_it.py::test_it</td>'


def test_rows_are_whole_under_xdist(forget_project):
    rows = rows_in(page(forget_project, *FORGET_RUN, "-n", "2"))
    assert all("soulmem" in str(row["log"]) for own in rows.values() for row in own)
    assert len(rows) == 2


def test_what_sub_queries_found_stands_below_the_rankings():
    case = retrieval_case(sub_queries=SUB_QUERIES)
    common = {name: getattr(case, name) for name in ("nodeid", "kind", "outcome", "seconds")}
    record = {**common, "figures": {}, "variation": "", "fingerprint": "", **case.result}
    told = row_details(record)
    pairs = [list(own) for own in re.findall("<dt>(sub-query .)<dd>(.*?)</div>", told)]
    assert [[name, html.unescape(found)] for name, found in pairs] == FOUND_BY_SUB_QUERIES
    assert told.index("</table>") < told.index("<h4>Sub-queries</h4>")
    assert "Sub-queries" not in row_details(record | {"sub_queries": SUB_QUERIES[:1]})
