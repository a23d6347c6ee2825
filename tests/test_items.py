"""Names, selection, failures and JUnit of single cases, as users of pytest meet them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest
from projects import action, case, concept, failing, graph, queries, sub_query, unprintable

NAMES = [
    "用户问-Rust资讯",
    "two words",
    "[brackets] (and) more]",
    "quotes ' and \"",
    "emoji 🦀👨‍👩‍👧",
    "a/b\\c",
    "100%",
    "tag:0.3",
    "-x",
    "test_cases[9]",
]
SWEEP = {"blend_sweep": {"pairs": [{"tag": 0.3, "variant": 0.7}, {"sem_concept": 1e-5}]}}


@pytest.fixture
def named(project):
    project.write("queries/名 字.json", queries(*map(case, NAMES)))
    return project


def test_names_stand_in_node_ids_as_they_are_written(named) -> None:
    assert named.node_ids() == [f"queries/名 字.json::{name}" for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_selected_by_node_id(named, name: str) -> None:
    result = named.run("-v", f"queries/名 字.json::{name}")
    result.assert_outcomes(passed=1)
    assert any(line.startswith(f"queries/名 字.json::{name} PASSED") for line in result.outlines)


@pytest.mark.parametrize(
    ("expression", "found"),
    [("Rust资讯", 1), ("用户问 or two", 2), ("tag:0.3", 1), ("not brackets", 9), ("名", 10)],
)
def test_selected_by_keyword(named, expression: str, found: int) -> None:
    named.run("-k", expression).assert_outcomes(passed=found, deselected=len(NAMES) - found)


@pytest.mark.parametrize(
    ("label", "found"),
    [("tag:0.3", 2), ("variant:0.5", 1), ("[tag:0.5-variant:0.5]", 1), ("variant:0.7]", 1)],
)
def test_a_weight_set_is_selected_by_keyword(project, label: str, found: int) -> None:
    pairs = [{"tag": 0.3}, {"tag": 0.5, "variant": 0.5}, {"sem_concept": 0.75}]
    project.write("queries/q.json", queries(case("c"), blend_sweep={"pairs": pairs}))
    project.run("-k", label).assert_outcomes(passed=found, deselected=3 - found)


def test_a_sweep_multiplies_every_case(project) -> None:
    project.write("queries/q.json", queries(case("a"), case("b"), **SWEEP))
    labels = ["[tag:0.3-variant:0.7]", "[tag:0.3-variant:0.7-sem_concept:1e-05]"]
    assert project.node_ids() == [f"queries/q.json::{c}{label}" for c in "ab" for label in labels]


def test_a_broken_case_of_a_sweep_fails_once(project) -> None:
    project.write("queries/q.json", queries(case("a"), case("b", check="no"), **SWEEP))
    project.run().assert_outcomes(passed=2, failed=1)


def test_a_swept_case_is_selected_by_node_id(project) -> None:
    project.write("queries/q.json", queries(case("a"), **SWEEP))
    node_id = "queries/q.json::a[tag:0.3-variant:0.7-sem_concept:1e-05]"
    project.run(node_id).assert_outcomes(passed=1)
    project.run("--deselect", node_id).assert_outcomes(passed=1, deselected=1)


def test_names_are_composed_and_stripped(project) -> None:
    project.write("queries/q.json", queries(case("  cafe\u0301 ")))
    assert project.node_ids() == ["queries/q.json::caf\u00e9"]
    project.run("queries/q.json::caf\u00e9").assert_outcomes(passed=1)


def test_names_that_are_equal_once_composed_collide(project) -> None:
    project.write("queries/q.json", queries(case("caf\u00e9"), case("cafe\u0301")))
    project.run().assert_outcomes(passed=1, failed=1)


def test_invisible_characters_of_a_name_show(project) -> None:
    project.write("queries/q.json", queries(case("a\u202eb\u200b")))
    assert project.node_ids() == ["queries/q.json::a\\u202eb\\u200b"]


def test_selected_by_marker(project) -> None:
    project.write("queries/q.json", queries(case("a"), case("b")))
    project.write("test_other.py", "def test_other(): pass")
    for marker in ("soulmem", "soulmem_retrieval"):
        result = project.run("--strict-markers", "-m", marker)
        result.assert_outcomes(passed=2, deselected=1)
    project.run("-m", "soulmem_forgetting").assert_outcomes(deselected=3)


def test_deselect(project) -> None:
    project.write("queries/q.json", queries(case("a"), case("b")))
    project.run("--deselect", "queries/q.json::b").assert_outcomes(passed=1, deselected=1)
    project.run("--deselect", "queries/q.json").assert_outcomes(deselected=2)


def test_exit_first(project) -> None:
    project.write("queries/q.json", queries(case("a"), failing("b"), case("c")))
    project.run("-x").assert_outcomes(passed=1, failed=1)


def test_last_failed_and_failed_first(project) -> None:
    names = ["a", "b [x]", "c"]
    cases = [case("a"), failing("b [x]"), case("c")]
    project.write("queries/q.json", queries(*cases, blend_sweep={"tag_sweep": [0.25]}))
    run = project.pytester.runpytest_inprocess
    run().assert_outcomes(passed=2, failed=1)
    run("--lf").assert_outcomes(failed=1)
    again = run("--ff", "-v")
    again.assert_outcomes(passed=2, failed=1)
    ran = [line for line in again.outlines if line.startswith("queries/q.json::")]
    order = [line.split("::")[1].split("[tag")[0] for line in ran]
    assert order[:3] == [names[1], names[0], names[2]]


def test_collecting_only_embeds_and_reports_nothing(project) -> None:
    project.write("conftest.py", "def pytest_soulmem_embedder(config): open('asked', 'w').close()")
    project.write("queries/q.json", queries())
    result = project.run("--collect-only")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*<CaseItem asks for tea>"])
    assert not (project.path / "asked").exists()
    result.stdout.no_fnmatch_line("*soulmem retrieval*")


# --- failures -----------------------------------------------------------------------------------

VIOLATION = 'order: combined ranking: "sea" did not come back'


@pytest.fixture
def failed(project):
    project.write("queries/q.json", queries(failing(), config={"max_results": 2}))
    return project


def test_a_failure_begins_with_what_was_violated(failed) -> None:
    result = failed.run()
    lines = result.outlines
    start = next(at for at, line in enumerate(lines) if "retrieval: asks for the sea" in line)
    assert lines[start + 1] == VIOLATION
    result.stdout.fnmatch_lines(
        ["combined ranking: expected", "*missing  sea *must*", "*1  tea *must*"]
    )
    for unwanted in ("Traceback", "pytest_soulmem/", "def ", "CaseFailed", "\x1b"):
        assert unwanted not in result.stdout.str()


@pytest.mark.parametrize("options", [(), ("-rf",), ("--tb=no",), ("--tb=short",), ("--tb=line",)])
@pytest.mark.parametrize("ci", [False, True])
def test_the_summary_gives_the_reason_in_a_line(failed, monkeypatch, options, ci: bool) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    if ci:
        monkeypatch.setenv("CI", "true")
    result = failed.run(*options)
    at = result.outlines.index(f"FAILED queries/q.json::asks for the sea - {VIOLATION}")
    assert "1 failed" in result.outlines[at + 1]


def test_one_line_per_failure(failed) -> None:
    result = failed.run("--tb=line")
    start = next(at for at, line in enumerate(result.outlines) if "= FAILURES =" in line)
    assert result.outlines[start + 1] == VIOLATION
    assert "soulmem retrieval" in result.outlines[start + 2]
    assert failed.run("--tb=no").stdout.str().count(VIOLATION[:30]) == 1


def test_colours_on_a_terminal_only(failed) -> None:
    red = f"\x1b[31m{VIOLATION}\x1b[0m"
    assert red in failed.run("--color=yes").stdout.str()
    assert "\x1b" not in failed.run().stdout.str()


# --- JUnit --------------------------------------------------------------------------------------

HOSTILE = "\x1b[31m\u202e\u0000\uffff"


def junit(project, *args: str) -> dict[str, ElementTree.Element]:
    """The test cases of a run by name; the file is well-formed."""
    project.run("--junitxml=report.xml", *args)
    root = ElementTree.parse(project.path / "report.xml").getroot()  # noqa: S314 - our own file
    return {str(element.get("name")): element for element in root.iter("testcase")}


def properties(element: ElementTree.Element) -> dict[str, str]:
    found = [(str(one.get("name")), str(one.get("value"))) for one in element.iter("property")]
    assert len(dict(found)) == len(found), "one property per figure"
    return dict(found)


def test_the_properties_of_a_case(project) -> None:
    project.write("queries/q.json", queries(failing("a")))
    found = properties(junit(project, "--soulmem-k=2", "--soulmem-mode=embedding")["a"])
    assert json.loads(found.pop("soulmem.retrieved"))[0] == "tea"
    assert found == {
        "soulmem.mode": "embedding",
        "soulmem.check": "order",
        "soulmem.embedder": "fake",
        "soulmem.tag": "0.3",
        "soulmem.variant": "0.7",
        "soulmem.recall@2": "0.5",
        "soulmem.precision@2": "0.5",
        "soulmem.ndcg@2": found["soulmem.ndcg@2"],
        "soulmem.success@2": "1.0",
        "soulmem.rr": "1.0",
        "soulmem.expected": '["sea", "tea"]',
    }
    assert 0.6 < float(found["soulmem.ndcg@2"]) < 0.62


def test_the_properties_of_a_swept_case_name_what_it_overrides(project) -> None:
    project.write("queries/q.json", queries(case("a"), **SWEEP))
    found = properties(junit(project)["a[tag:0.3-variant:0.7-sem_concept:1e-05]"])
    assert found["soulmem.sem_concept"] == "1e-05"
    assert "soulmem.sem_description" not in found


def test_junit_is_well_formed_whatever_ids_and_names_hold(project) -> None:
    project.write("graphs/g.json", [*graph(), concept(f"id{HOSTILE}", "石头")])
    cases = [
        case("a\u202e<&>\"'\uffff", expected_combined_ranking=[f"id{HOSTILE}", "tea"]),
        case("b", expected_combined_ranking=[HOSTILE]),
        case("c\x1b"),
    ]
    project.write("queries/q.json", queries(*cases))
    found = junit(project)
    assert list(found) == ["a\\u202e<&>\"'\\uffff", "b", "test_cases[2]"]
    for element in found.values():
        failure = element.find("failure")
        assert failure is not None
        assert unprintable(f"{failure.get('message')}{failure.text}") == []
    first = properties(found["a\\u202e<&>\"'\\uffff"])
    assert unprintable("".join(first.values())) == []
    assert json.loads(first["soulmem.expected"]) == [f"id{HOSTILE}", "tea"]


def test_a_failure_in_junit_has_a_short_message_and_the_whole_text(failed) -> None:
    failure = junit(failed)["asks for the sea"].find("failure")
    assert failure is not None
    assert failure.get("message") == VIOLATION
    assert str(failure.text).startswith(f"{VIOLATION}\n\nretriever  fake, mode full")
    briefly = junit(failed, "--tb=line")["asks for the sea"].find("failure")
    assert briefly is not None
    assert briefly.text == failure.text


def test_actions_are_judged_in_full_mode_only(project) -> None:
    wrong = case("a", sub_queries=[sub_query("杯子")], expected_per_query=[])
    wrong |= {"expected_combined_ranking": ["cup"], "expected_actions": ["refuse"]}
    project.write("graphs/g.json", [*graph(), action("refuse", "不")])
    project.write("queries/q.json", queries(wrong))
    project.run().assert_outcomes(failed=1)
    result = project.run("--soulmem-mode=embedding")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["1 case(s) expect actions, but none were inferred (mode embedding)"]
    )


def test_cases_of_one_graph_carry_one_xdist_group(project):
    """In two query files; another graph has another group."""
    project.write("graphs/g.json", graph())
    project.write("graphs/h.json", [*graph(), concept("other", "别的")])
    for name, of in (("a", "g"), ("b", "g"), ("c", "h")):
        project.write(f"queries/{name}.json", queries(case(), graph_path=f"../graphs/{of}.json"))
    items, _ = project.pytester.inline_genitems("-p", "no:cacheprovider")
    groups = {item.path.name: item.get_closest_marker("xdist_group").args[0] for item in items}
    assert groups["a.json"] == groups["b.json"] != groups["c.json"]
