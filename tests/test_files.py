"""Which JSON files are ours, and that all others are left alone."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from projects import case, graph, queries

from pytest_soulmem.files import recognise
from pytest_soulmem.kinds import KINDS

OTHERS = {
    "package.json": {"name": "x", "scripts": {}},
    "tsconfig.json": b'{"compilerOptions": {} /* a comment */}',
    "data/big.json": [1, 2, 3],
    "data/test_cases.json": {"test_cases": [{"name": "not ours"}]},
    "queries/other.json": {"query": "select 1"},
    "queries/list.json": [queries()],
    "queries/text.json": b'"test_cases"',
    "queries/number.json": b"7",
    "queries/null.json": b"null",
    "queries/config.jsonc": b"// test_cases",
    "app/question1.json": {"question": "why?", "answers": []},
    "forget/passwords.json": {"users": []},
    "deep/queries/below/other.json": {"test_cases": []},
}


@pytest.mark.parametrize("place", OTHERS)
def test_other_json_is_left_alone(project, place: str) -> None:
    project.write(place, OTHERS[place])
    project.run().assert_outcomes()
    assert project.run().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_tree_of_other_json_beside_files_of_ours(project) -> None:
    for place, content in OTHERS.items():
        project.write(place, content)
    project.write("queries/q.json", queries())
    project.write("app/question2.json", queries(graph_path="../graphs/g.json"))
    result = project.run()
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("place", ["queries/q.json", "a/question.json", "a/question_12-b.json"])
def test_the_places_of_ours(project, place: str) -> None:
    project.write(place, queries())
    assert project.node_ids() == [f"{place}::asks for tea"]


def test_questions_beside_their_graph(project) -> None:
    project.write("generated/graph.json", graph())
    project.write("generated/question.json", queries(graph_path="graph.json"))
    project.write("generated/question_2.json", queries(graph_path="./graph.json"))
    project.run().assert_outcomes(passed=2)


UNDECODABLE = b'{"test_cases": ['


def test_what_cannot_be_decoded_is_left_alone_without_a_sibling_of_ours(project) -> None:
    project.write("queries/a.json", UNDECODABLE)
    project.write("queries/b.json", {"query": "select 1"})
    project.write("elsewhere/queries/q.json", queries(graph_path="../../graphs/g.json"))
    project.run().assert_outcomes(passed=1)


def test_what_cannot_be_decoded_is_an_error_beside_a_sibling_of_ours(project) -> None:
    project.write("queries/a.json", UNDECODABLE)
    project.write("queries/q.json", queries())
    result = project.run("--continue-on-collection-errors")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["ERROR queries/a.json - not JSON: Expecting value (line 1, colu*"])


def test_what_cannot_be_decoded_is_an_error_if_it_is_named(project) -> None:
    project.write("queries/a.json", UNDECODABLE)
    result = project.run("queries/a.json")
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED


REFUSALS = {
    "graphs/g.json": (
        "a JSON array; if it is a memory graph, run the query file that names it (fixtures live "
        "in queries/*.json, */question*.json, forget/*.json"
    ),
    "package.json": "not a fixture: it has neither `test_cases` nor ",
    "number.json": "not a fixture: ",
    "queries/other.json": "not a fixture: it has neither `test_cases` nor ",
    "tsconfig.json": "not JSON: ",
}


@pytest.mark.parametrize("place", REFUSALS)
def test_a_named_file_that_is_none_of_ours_is_refused_with_a_reason(project, place: str) -> None:
    project.write("number.json", b"7")
    if place in OTHERS:
        project.write(place, OTHERS[place])
    result = project.run(place)
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    told = [line for line in result.outlines if line.startswith(f"{project.path / place}:")]
    assert len(told) == 1
    assert REFUSALS[place] in told[0]
    assert "Traceback" not in result.stdout.str()


def test_a_named_file_of_ours_runs_wherever_it_lies(project) -> None:
    project.write("drafts/mine.json", queries())
    project.run("drafts/mine.json").assert_outcomes(passed=1)
    project.run("drafts").assert_outcomes()
    project.run("drafts/mine.json::asks for tea").assert_outcomes(passed=1)


def test_a_file_may_be_named_twice_and_beside_its_folder(project) -> None:
    project.write("queries/q.json", queries())
    project.run("queries/q.json", "queries/q.json").assert_outcomes(passed=1)
    project.run("queries", "queries/q.json").assert_outcomes(passed=1)


def test_a_graph_of_several_query_files_is_read_once(project, monkeypatch) -> None:
    from pytest_soulmem.retrieval import kind

    read = []

    def reading(path):
        read.append(path)
        return original(path)

    original = kind.read_graph
    monkeypatch.setattr(kind, "read_graph", reading)
    project.write("queries/a.json", queries())
    project.write("queries/b.json", queries(graph_path="../queries/../graphs/g.json"))
    (project.path / "linked.json").symlink_to(project.path / "graphs/g.json")
    project.write("queries/c.json", queries(graph_path="../linked.json"))
    project.run().assert_outcomes(passed=3)
    assert len(read) == 1


def test_a_broken_graph_of_several_query_files_is_read_once_and_told_by_each(project) -> None:
    project.write("graphs/g.json", [])
    project.write("queries/a.json", queries())
    project.write("queries/b.json", queries())
    result = project.run()
    result.assert_outcomes(errors=2)
    assert result.stdout.str().count("$: the graph has no nodes\n") >= 2


def test_a_linked_query_file_finds_its_graph_from_where_the_link_lies(project) -> None:
    target = project.write("store/real.json", queries())
    (project.path / "queries").mkdir()
    (project.path / "queries/linked.json").symlink_to(target)
    assert project.node_ids() == ["queries/linked.json::asks for tea"]
    project.run().assert_outcomes(passed=1)


def test_links_that_lead_nowhere_and_folders_named_like_files(project) -> None:
    project.write("queries/q.json", queries())
    (project.path / "queries/dangling.json").symlink_to(project.path / "none.json")
    (project.path / "queries/folder.json").mkdir()
    project.write(
        "queries/folder.json/queries/q.json", queries(graph_path="../../../graphs/g.json")
    )
    result = project.run()
    result.assert_outcomes(passed=2)
    project.run("queries/folder.json").assert_outcomes(passed=1)


def test_pipes_and_sockets_named_like_files_of_ours(project, monkeypatch) -> None:
    project.write("queries/q.json", queries())
    project.write("queries/undecodable.json", b"{")
    os.mkfifo(project.path / "queries/a.json")
    with socket.socket(socket.AF_UNIX) as bound:
        with monkeypatch.context() as here:
            # By its name: the whole path may be longer than that of a socket can be.
            here.chdir(project.path / "queries")
            bound.bind("socket.json")
        result = project.run("queries")
        result.assert_outcomes(errors=1)
        assert "undecodable.json" in result.stdout.str()
        for name in ("a", "socket"):
            # pytest itself leaves them alone.
            assert project.run(f"queries/{name}.json").ret == pytest.ExitCode.USAGE_ERROR


def test_a_graph_that_is_a_pipe(project) -> None:
    project.write("queries/q.json", queries(graph_path="../graphs/pipe.json"))
    os.mkfifo(project.path / "graphs/pipe.json")
    result = project.run("queries/q.json")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['*there is no file "../graphs/pipe.json"*'])


@pytest.mark.parametrize("place", ["queries/a::b.json", "a::b/queries/q.json"])
def test_a_file_that_no_node_id_can_name_is_refused(project, place) -> None:
    project.write(place, queries(graph_path=str(project.path / "graphs/g.json")))
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the path contains `::`*rename*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_pytests_own_ways_to_leave_files_out(project) -> None:
    project.write("queries/q.json", queries())
    project.write("queries/draft.json", b"{")
    project.run("--ignore=queries/draft.json").assert_outcomes(passed=1)
    project.run("--ignore-glob=*draft*").assert_outcomes(passed=1)


def test_recognise(tmp_path) -> None:
    path = tmp_path / "queries" / "q.json"
    path.parent.mkdir()
    path.write_text(json.dumps(queries(case())))
    found = recognise(path, named=False)
    assert found is not None
    assert found.kind.name == "retrieval"
    assert found.document == queries(case())
    forget = tmp_path / "forget" / "f.json"
    forget.parent.mkdir()
    forget.write_text('{"test_cases": []}')
    found = recognise(forget, named=False)
    assert found is not None
    assert found.kind.name == "forgetting"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_named_file_elsewhere_is_told_by_its_fields(tmp_path, kind):
    """Every kind of fixture of this project, and the minimal one of each kind."""
    folder = Path(__file__).parent.parent / "fixtures" / kind.places[0].split("/")[0]
    documents = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    documents.append(kind.load().example(tmp_path / "x.json")[tmp_path / "x.json"])
    assert len(documents) > 1
    for document in documents:
        elsewhere = tmp_path / "elsewhere.json"
        elsewhere.write_text(json.dumps(document), "utf-8")
        found = recognise(elsewhere, named=True)
        assert found
        assert found.kind == kind
