"""The commands of ``python -m pytest_soulmem``, run in this process."""

import json
import os
import subprocess
import sys

import pytest
from projects import Project, case, queries, sub_query

from pytest_soulmem.cli import main

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(path, edit):
    document = json.loads(path.read_text("utf-8"))
    edit(document)
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1), "utf-8")


KINDS = ["query", "forget"]
FOLDERS = {"query": "queries", "forget": "forget"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_file_is_valid_and_obeys_its_schema(project, capsys, kind):
    path = project / FOLDERS[kind] / "猫.json"
    assert main(["new", kind, str(path)]) == 0
    assert main(["check", str(project)]) == 0
    assert "0 error(s), 0 warning(s)" in capsys.readouterr().out
    assert main(["schema", kind]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(path.read_text("utf-8")), schema)


def test_new_overwrites_nothing(project, capsys):
    assert main(["new", "query", "queries/a.json"]) == 0
    before = (project / "queries/a.json").read_bytes()
    assert main(["new", "query", "queries/a.json"]) == 2
    assert "exists" in capsys.readouterr().err
    assert (project / "queries/a.json").read_bytes() == before


def test_new_says_where_files_are_collected(project, capsys):
    assert main(["new", "query", "mine.json"]) == 0
    err = capsys.readouterr().err
    assert "queries/*.json and */question*.json" in err
    assert "pytest mine.json" in err
    assert main(["new", "query", "queries/mine.json"]) == 0
    assert main(["new", "forget", "forget/mine.json"]) == 0
    assert capsys.readouterr().err == ""


def test_new_where_nothing_can_be_written(project, capsys):
    (project / "queries").write_text("a file, not a folder", "utf-8")
    assert main(["new", "query", "queries/a.json"]) == 2
    assert capsys.readouterr().err.startswith("queries/a.json could not be written: ")


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Run ``show`` on a file of three cases, in a process of its own."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    project = Project(tmp_path)
    two = [sub_query(), sub_query("大海")]
    cases = case("asks for tea", sub_queries=two), case("asks for the sea"), case("喝茶")
    sweep = {"tag_sweep": [0.3, 0.5]}
    project.write("queries/q.json", queries(*cases, blend_sweep=sweep))

    def show(*arguments, **options):
        command = [sys.executable, "-m", "pytest_soulmem", "show", "queries/q.json", *arguments]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.run(command, cwd=tmp_path, encoding="utf-8", check=False, **streams)

    return show


def test_show_explains_a_case_with_every_weight_set(shown):
    result = shown("--case", "喝茶")
    assert result.returncode == 0
    assert result.stdout.count("q.json::喝茶[tag:") == 2
    assert "asks for tea" not in result.stdout
    assert shown("--case", "喝茶[tag:0.5-variant:0.5]").stdout.count("q.json::喝茶") == 1


def test_show_tells_what_each_of_several_sub_queries_found(shown):
    text = shown("--case", "asks for tea[tag:0.3-variant:0.7]").stdout
    assert text.count("sub-query 0: ") == 2  # its table, expected and came back
    assert text.count("sub-query 1: sea ") == 1
    assert "sub-query 1" not in shown("--case", "喝茶").stdout


def test_show_tells_what_is_asked_and_what_memories_say(shown):
    text = shown("--case", "asks for tea[tag:0.3-variant:0.7]").stdout
    asked = "\n\nsub-query 0 asks: priority 1, tags 茶\n  Semantic 茶: 茶\nsub-query 1 asks: "
    assert asked in text
    assert "  memory\n" in text
    assert any(line.split()[:2] == ["1", "tea"] and "茶" in line for line in text.splitlines())


@pytest.mark.parametrize("workers", ["-n 2", "--dist load --tx 2*popen"])
def test_show_collects_in_its_own_process_whatever_the_ini_file_says(shown, tmp_path, workers):
    pytest.importorskip("xdist")
    Project(tmp_path).write("pytest.ini", f"[pytest]\naddopts = {workers}\n")
    text = shown("--case", "喝茶").stdout
    assert text.count("q.json::") == 2
    assert text.count(" asks: ") == 2


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("ask for tea", '; did you mean "asks for tea"?'),
        ("喝奶茶", '; did you mean "喝茶"?'),
        ("zzzzzz", '; there are "asks for tea", "asks for the sea", "喝茶"'),
    ],
)
def test_show_of_a_misspelt_case_tells_those_there_are(shown, asked, told):
    result = shown("--case", asked)
    assert result.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert result.stderr == f'there is no case "{asked}"{told}\n'


@pytest.mark.parametrize("kind", ["forget", "events", "archive"])
def test_show_tells_what_was_observed_in_files_of_every_kind(project, capsys, kind):
    path = project / kind / "a.json"
    main(["new", kind, str(path)])
    capsys.readouterr()
    assert main(["show", str(path), "--soulmem-laws=off"]) == 0
    told = capsys.readouterr().out
    for block in told.strip().split("\n\n"):
        first, *facts = block.split("\n")
        assert first.endswith(": passed")
        assert any(line.startswith("  system: ") for line in facts)
        assert len(facts) >= 3
    observed = {
        "forget": "  points[0]: hours ",
        "events": "].found: ",
        "archive": "  counts: steps ",
    }
    assert observed[kind] in told


def test_show_tells_a_text_of_several_lines_in_one(project, capsys):
    path = project / "forget/a.json"
    main(["new", "forget", str(path)])
    change(path, lambda file: file["test_cases"][0].update(text="one\ntwo\x1b"))
    capsys.readouterr()
    main(["show", str(path), "--soulmem-laws=off"])
    assert "  text: one\\x0atwo\\x1b\n" in capsys.readouterr().out


def test_a_reader_that_has_had_enough_sees_no_traceback(shown):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = shown(stdout=writing)
    finally:
        os.close(writing)
    assert result.stderr == ""
    assert result.returncode == 1


def test_check_tells_file_line_column_and_place(project, capsys):
    main(["new", "query", "queries/a.json"])
    capsys.readouterr()
    change(project / "queries/a.json", lambda file: file["config"].update(max_results=0))
    assert main(["check", "queries/a.json"]) == 1
    out = capsys.readouterr().out
    assert "queries/a.json:7:18: error: $.config.max_results: expected `int` >= 1\n" in out
    assert "1 file(s) checked: 1 error(s), 0 warning(s)" in out


def test_check_tells_faults_of_cases_and_graphs(project, capsys):
    main(["new", "query", "queries/a.json"])
    change(
        project / "queries/a.json",
        lambda file: file["test_cases"][0].update(expected_combined_ranking=["cta"]),
    )
    change(project / "graphs/a.json", lambda nodes: nodes[1].update(id="cat"))
    capsys.readouterr()
    assert main(["check", "."]) == 1
    out = capsys.readouterr().out
    assert "graphs/a.json" in out
    assert 'the id "cat" is taken by $[0]' in out


def test_check_warns_of_wording_without_failing(project, capsys):
    main(["new", "query", "queries/a.json"])

    def ask(file):
        variant = file["test_cases"][0]["sub_queries"][0]["variant"]
        variant["Semantic"][0]["description"] = "她在做什么？"

    change(project / "queries/a.json", ask)
    capsys.readouterr()
    assert main(["check", "queries/a.json"]) == 0
    out = capsys.readouterr().out
    assert (
        'warning: $.test_cases[0].sub_queries[0].variant.Semantic[0].description (case "the' in out
    )


def test_check_for_editors(project, capsys):
    (project / "queries").mkdir()
    (project / "queries/a.json").write_text('{\n "name": ,\n}', "utf-8")
    assert main(["check", "--json", "queries/a.json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["message"].startswith("not JSON")
    where = finding["file"], finding["line"], finding["column"]
    assert where == ("queries/a.json", 2, 10)
    (project / "queries/a.json").write_text('{"test_cases": []}', "utf-8")
    assert main(["check", "--json", "queries/a.json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert {finding["severity"] for finding in findings} == {"error"}
    assert {finding["line"] for finding in findings} == {1}


def test_check_of_what_is_not_there(project, capsys):
    assert main(["check", "nothing"]) == 2
    assert "there is no nothing" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["graph", "query", "forget", "results"])
def test_every_schema_is_a_schema(name, capsys):
    assert main(["schema", name]) == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


def test_a_graph_schema_tells_two_variants_at_once(project, capsys):
    main(["new", "query", "queries/a.json"])
    capsys.readouterr()
    main(["schema", "graph"])
    validator = jsonschema.Draft202012Validator(json.loads(capsys.readouterr().out))
    nodes = json.loads((project / "graphs/a.json").read_text("utf-8"))
    assert validator.is_valid(nodes)
    nodes[0]["mem_type"]["Procedure"] = {"action": {"content": "x", "action_type": "Speak"}}
    assert not validator.is_valid(nodes)


@pytest.mark.parametrize(
    "arguments", [[], ["chek"], ["schema", "x"], ["check", ".", "--soulmem-k=1"]]
)
def test_wrong_usage_ends_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err


def test_check_tells_an_undecodable_file_of_a_folder(project, capsys):
    (project / "queries").mkdir()
    (project / "queries/a.json").write_text('{"test_cases": [,]}', "utf-8")
    assert main(["check", "."]) == 1
    assert "not JSON" in capsys.readouterr().out


def test_check_warns_of_a_case_that_cannot_fail(project, capsys):
    main(["new", "query", "queries/a.json"])

    def misname(file):
        case = file["test_cases"][0]
        case["expected_ranking"] = case.pop("expected_combined_ranking")

    change(project / "queries/a.json", misname)
    capsys.readouterr()
    assert main(["check", "queries/a.json"]) == 0
    assert "nothing is expected, so this never fails" in capsys.readouterr().out


def test_check_waits_for_no_pipe(project, capsys):
    main(["new", "query", "queries/a.json"])
    os.mkfifo(project / "queries/pipe.json")
    capsys.readouterr()
    assert main(["check", "queries"]) == 0
    assert "2 file(s)" not in capsys.readouterr().out
    assert main(["check", "queries/pipe.json"]) == 1
    out = capsys.readouterr().out
    assert "queries/pipe.json:1:1: error: cannot be read: not a regular file\n" in out


def test_check_refuses_what_no_node_id_can_name(project, capsys):
    main(["new", "query", "queries/a::b.json"])
    capsys.readouterr()
    assert main(["check", "queries"]) == 1
    assert "the path contains `::`" in capsys.readouterr().out
