"""The text of a failing case."""

import pytest
from wcwidth import wcswidth

from pytest_soulmem.retrieval.checks import Violation, violations
from pytest_soulmem.retrieval.details import comparisons
from pytest_soulmem.retrieval.failure import explain_failure
from retrieval.builders import (
    case_of,
    concept_query,
    graph_of,
    outcome,
    query_of,
    ranking,
    retrieval,
    specific,
    tag_query,
)

HOSTILE = {
    "\x1b[31mred": "\\x1b[31mred",
    "a\u202eb": "a\\u202eb",
    "a\nb": "a\\x0ab",
    "a\rb\tc": "a\\x0db\\x09c",
    "a\ud800": "a\\ud800",
    "\u2028": "\\u2028",
}


ASKED = [tag_query("x"), concept_query("茶", tag=["y"])]


def explain(
    case, answer, explanation=(), *, mode="full", check="recall", more=(), narrative="", **weights
):
    query = query_of(ASKED, mode=mode, max_results=5, **weights)
    found = [*violations(case, answer, mode, check), *more]
    rankings = comparisons(case, answer, explanation)
    ids = [hit.id for one in rankings for hit in (*one.expected, *one.retrieved)]
    graph = graph_of([specific(name, narrative) for name in dict.fromkeys(ids)])
    return explain_failure(query, outcome(check=check, mode=mode), found, rankings, graph)


def table(text, title):
    """The rows of the table with a title, as lists of cells without what the memories say."""
    rows = []
    lines = iter(text.splitlines())
    for line in lines:
        if line == title:
            break
    for line in lines:
        if not line.startswith("  "):
            break
        rows.append(line.removesuffix("memory").split())
    return rows


def test_the_first_line_says_what_was_violated():
    case = case_of(["a", "b"], expected_per_query=[{"q": 0, "ranking": ["c"]}])
    failure = explain(case, retrieval("x", per_query=[ranking("y"), []]))
    assert failure.reason == 'recall: combined ranking: "a", "b" did not come back'
    assert failure.text.splitlines()[:3] == [
        failure.reason,
        'recall: sub-query 0: "c" did not come back',
        "",
    ]


def test_the_setting():
    failure = explain(case_of(["a"]), retrieval("x"), mode="embedding", tag=0.25, sem_concept=0.9)
    assert "retriever  fake, mode embedding, threshold -9, max_results 5" in failure.text
    assert "weights    tag 0.25, variant 0.7, sem_concept 0.9, others as by default" in failure.text


def test_what_was_asked_stands_between_the_setting_and_the_tables():
    text = explain(case_of(["a"]), retrieval("x")).text
    _, setting, asked, tables = text.split("\n\n")
    assert setting.startswith("retriever  ")
    assert asked.splitlines() == [
        "sub-query 0 asks: priority 1, tags x",
        "sub-query 1 asks: priority 1, tags y",
        "  Semantic 茶",
    ]
    assert tables.startswith("combined ranking: expected\n")


def test_every_row_ends_with_what_the_memory_says():
    text = explain(case_of(["a"], ["b"]), retrieval("b", "x"), narrative="阿棠补好了书" * 9).text
    rows = [line for line in text.splitlines() if line.startswith("  ") and "阿棠" in line]
    assert len(rows) == 4
    assert len({line.index("阿棠") for line in rows}) == 1
    assert {line[line.index("阿棠") :] for line in rows} == {"阿棠补好了书" * 3 + "阿…"}
    header = text.splitlines()[text.splitlines().index("combined ranking: expected") + 1]
    assert header.endswith("  memory")
    assert header.index("memory") == rows[0].index("阿棠")


def test_expected_and_returned_are_listed_with_ranks_and_scores():
    case = case_of(["a", "b"], ["c"])
    text = explain(case, retrieval("x", "c", "a", scores=[0.9, 0.5, 0.25])).text
    assert table(text, "combined ranking: expected") == [
        ["rank", "id", "score"],
        ["3", "a", "must", "0.2500"],
        ["missing", "b", "must", "·"],
        ["2", "c", "bonus", "0.5000"],
    ]
    assert table(text, "combined ranking: came back") == [
        ["1", "x", "0.9000"],
        ["2", "c", "bonus", "0.5000"],
        ["3", "a", "must", "0.2500"],
    ]


def test_keys_are_shown_where_they_differ_from_scores():
    text = explain(case_of(["a"]), retrieval("x", scores=[0.5], keys=[0.55])).text
    assert table(text, "combined ranking: expected")[0] == ["rank", "id", "score", "key"]
    assert table(text, "combined ranking: came back") == [["1", "x", "0.5000", "0.5500"]]


def test_channels_are_those_of_the_sub_query_that_found_an_id_best():
    explanation = [
        {
            "a": {"tag": 0.1, "similarity": 0.2, "pagerank": 0.0},
            "x": {"tag": 0.5, "similarity": 0.6},
        },
        {"a": {"concept": 0.3, "similarity": 0.1, "pagerank": 0.4}, "x": {"similarity": 0.1}},
    ]
    text = explain(case_of(["a"]), retrieval("x", scores=[0.6]), explanation).text
    header, missing = table(text, "combined ranking: expected")
    assert header == ["rank", "id", "score", "concept", "similarity", "pagerank", "tag"]
    # A missing id shows its similarity where others show their score.
    assert missing == ["missing", "a", "must", "0.1000", "0.3000", "0.1000", "0.4000", "·"]
    assert table(text, "combined ranking: came back")[0][:3] == ["1", "x", "0.6000"]


def test_channels_of_any_name_are_those_of_the_sub_query_that_found_an_id_best():
    explanation = [{"a": {"bm": 0.1, "walk": 0.2}}, {"a": {"bm": 0.9, "walk": 0.0}}, {"a": {}}]
    text = explain(case_of(["a"]), retrieval("x", scores=[0.9]), explanation).text
    header, row = table(text, "combined ranking: expected")
    assert dict(zip(header[-2:], row[-2:], strict=True)) == {"bm": "0.9000", "walk": "0.0000"}


def test_nothing_came_back():
    text = explain(case_of(["a"]), retrieval()).text
    assert table(text, "combined ranking: came back") == [["nothing", "came", "back"]]


def test_only_violated_sub_queries_are_shown():
    expectations = [
        {"q": 0, "ranking": ["a"]},
        {"q": 1, "ranking": ["b"], "bonus_ranking": ["b", "c"]},
    ]
    case = case_of(["a"], expected_per_query=expectations)
    answer = retrieval("a", per_query=[ranking("a"), ranking("a")])
    explanation = [{"b": {"tag": 0.9, "similarity": 0.9}}, {"b": {"tag": 0.2, "similarity": 0.2}}]
    text = explain(case, answer, explanation).text
    assert "sub-query 0: " not in text
    assert table(text, "sub-query 1: expected")[1:] == [
        ["missing", "b", "must", "0.2000", "0.2000", "0.2000"],
        ["missing", "c", "bonus", "·", "·", "·"],
    ]


def test_actions_are_shown_where_they_are_expected():
    case = case_of(["a"], expected_actions=["act"])
    text = explain(case, retrieval("a", actions=ranking("deed"))).text
    assert table(text, "actions: expected")[1] == ["missing", "act", "must", "·"]
    assert table(text, "actions: came back") == [["1", "deed", "1.0000"]]
    assert "actions:" not in explain(case_of(["a"]), retrieval("x", actions=[])).text


def test_actions_that_are_not_inferred_are_told():
    query = query_of([tag_query("x")], mode="embedding")
    judged = outcome(mode="embedding", actions_unjudged=True)
    failure = explain_failure(query, judged, [Violation("w", "m")], (), graph_of([]))
    assert failure.text.endswith("mode embedding: actions are not inferred, so none was judged")


def test_columns_line_up_with_chinese_in_them():
    case = case_of(["记忆一", "b"], ["😀"])
    answer = retrieval("记忆很长的名字", "b", scores=[0.5, 0.25])
    text = explain(case, answer, narrative="memory").text
    rows = [line for line in text.splitlines() if line.endswith("memory")]
    assert len(rows) == 6
    assert len({wcswidth(row) for row in rows}) == 1


@pytest.mark.parametrize(("name", "shown"), HOSTILE.items())
def test_hostile_ids_are_made_visible(name, shown):
    case = case_of([name], expected_per_query=[{"q": 0, "ranking": [name]}])
    answer = retrieval("x", per_query=[ranking(name), ranking("x")])
    failure = explain(case, answer, narrative="memory")
    assert failure.reason == f'recall: combined ranking: "{shown}" did not come back'
    assert not any(mark in failure.text for mark in "\x1b\u202e\r\t\ud800\u2028")
    assert f"  missing  {shown}" in failure.text
    rows = [line for line in failure.text.splitlines() if line.endswith("memory")]
    assert len(rows) == 3
    assert len({wcswidth(row) for row in rows}) == 1
