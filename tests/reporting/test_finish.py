"""The end of a run: what is asked for, and what is not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from projects import EMBEDDER, LEAKING, case, failing, queries

GATES = [
    (["--soulmem-fail-under=rr=0.9"], 20, "*rr at least 0.9: no case has this figure*"),
    (["--soulmem-compare=main", "--soulmem-compare-fail=rr:0"], 21, "*rr: nothing to compare*"),
    (["--soulmem-compare=none"], 21, "*there is no baseline 'none'*"),
    (["--soulmem-save=main"], 22, "*not saved as main: no fixture ran*"),
]
INI = """[pytest]
soulmem_fail_under = rr=0.9
soulmem_json = r.json
soulmem_compare = main
soulmem_compare_fail = rr:0
soulmem_rank = rr
"""


SURROGATES = """
import pytest
from pytest_soulmem.retrieval import Retrieval, ranked

class Mine:
    def retrieve(self, query):
        {does}

def pytest_soulmem_retriever(config, graph):
    return Mine()
"""
OUTPUTS = {"json": "r.json", "html": "r.html", "md": "r.md", "save": "main"}
WRITTEN = ("r.json", "r.html", "r.md", ".soulmem/main.json")


@pytest.mark.parametrize(
    "does",
    [
        "raise RuntimeError('half \\ud800')",
        "pytest.fail('half \\ud800')",
        "pytest.skip('half \\ud800')",
        "return Retrieval(ranked(['half \\ud800']))",
        "return Retrieval(ranked(['tea']))",
    ],
)
def test_half_characters_of_users_spoil_no_output(project: Any, does: str) -> None:
    project.write("queries/q.json", queries())
    project.write("conftest.py", SURROGATES.format(does=does))
    result = project.run(*(f"--soulmem-{name}={place}" for name, place in OUTPUTS.items()))
    assert result.ret == int("Retrieval(ranked(['tea" not in does and "skip" not in does)
    for place in WRITTEN:
        content = (project.path / place).read_bytes()
        assert content.decode("utf-8")
    for place in ("r.json", ".soulmem/main.json"):
        text = (project.path / place).read_text("utf-8")
        assert json.loads(text)["cases"][0]["outcome"] in ("failed", "passed", "skipped")
        assert "\ud800" not in json.dumps(json.loads(text), ensure_ascii=False)
    assert "INTERNALERROR" not in result.stdout.str()


def test_file_names_that_are_no_utf_8(project: Any) -> None:
    project.write("queries/q.json", queries())
    name = os.fsdecode(b"queries/\xff.json")
    (project.path / "queries/q.json").rename(project.path / name)
    options = (f"--soulmem-{name}={place}" for name, place in OUTPUTS.items())
    environment = {key: value for key, value in os.environ.items() if key not in LEAKING}
    done = subprocess.run(
        # pytest's cache cannot hold such names.
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=project.path,
        capture_output=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stdout
    for place in WRITTEN:
        assert b"udcff" in (project.path / place).read_bytes()


@pytest.mark.parametrize("module", ["markdown", "html"])
def test_an_output_that_cannot_be_made_hides_no_other(project: Any, module: str) -> None:
    spoil = (
        f"import pytest_soulmem.reporting.{module} as module\n"
        "def fail(*_, **__): raise ValueError('why\\x1b')\n"
        f"module.render_{module} = fail\n"
    )
    project.write("conftest.py", f"{EMBEDDER}\n{spoil}")
    project.write("queries/q.json", queries())
    result = project.run_apart(*(f"--soulmem-{name}={place}" for name, place in OUTPUTS.items()))
    assert result.ret == 22
    place = {"markdown": "r.md", "html": "r.html"}[module]
    result.stdout.fnmatch_lines([f"*{place} could not be made: ValueError: why?x1b"])
    there = [name for name in WRITTEN if (project.path / name).exists()]
    assert there == [name for name in WRITTEN if name != place]
    assert "INTERNALERROR" not in result.stdout.str()


@pytest.fixture
def without(project: Any) -> Any:
    """A project with a baseline and a test of its own, and no fixture any more."""
    path = project.write("queries/q.json", queries())
    project.run("--soulmem-save=main").assert_outcomes(passed=1)
    path.unlink()
    project.write("test_other.py", "def test_it(): pass")
    return project


@pytest.mark.parametrize(("options", "status", "told"), GATES)
def test_a_gate_that_judged_nothing_does_not_pass(without, options, status, told) -> None:
    result = without.run(*options)
    assert result.ret == status
    result.stdout.fnmatch_lines([told])
    result.stdout.fnmatch_lines(["soulmem: no fixture ran"])


def test_under_xdist_too(without) -> None:
    result = without.run_apart("-n1", "-p", "no:cacheprovider", "--soulmem-fail-under=rr=0.9")
    assert result.ret == 20
    result.stdout.fnmatch_lines(["*rr at least 0.9: no case has this figure*"])


def test_a_save_of_nothing_keeps_the_baseline(without) -> None:
    before = (without.path / ".soulmem/main.json").read_bytes()
    without.run("--soulmem-save=main")
    assert (without.path / ".soulmem/main.json").read_bytes() == before


@pytest.mark.parametrize("options", [option for option, _, _ in GATES])
def test_pytests_own_status_stays(without, options) -> None:
    assert without.run("-k", "nothing", *options).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    without.write("test_other.py", "def test_it(): assert 0")
    assert without.run(*options).ret == pytest.ExitCode.TESTS_FAILED
    without.write("test_other.py", "syntax error")
    assert without.run(*options).ret == pytest.ExitCode.INTERRUPTED


def test_files_that_were_asked_for_are_written(without) -> None:
    options = ("--soulmem-json=r.json", "--soulmem-md=r.md", "--soulmem-html=r.html")
    result = without.run(*options)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["soulmem: no fixture ran"])
    assert json.loads((without.path / "r.json").read_bytes())["cases"] == []
    assert "no cases" in (without.path / "r.md").read_text("utf-8")
    assert (without.path / "r.html").exists()


def test_what_the_ini_file_asks_for_rests_where_no_fixture_ran(without) -> None:
    without.write("pytest.ini", INI)
    for options in ([], ["-n1"]):
        result = without.run_apart("-p", "no:cacheprovider", *options)
        assert result.ret == 0
        result.stdout.no_fnmatch_line("*soulmem: *")
    assert not (without.path / "r.json").exists()


@pytest.mark.parametrize("options", [["--soulmem-compare=main"], ["--soulmem-compare-fail=rr:0.5"]])
def test_a_comparison_and_its_limits_belong_together(without, options) -> None:
    without.write("pytest.ini", INI)
    assert without.run(*options).ret == 21


def test_collecting_alone_judges_nothing(without) -> None:
    result = without.run("--collect-only", "--soulmem-fail-under=rr=0.9", "--soulmem-json=r.json")
    assert result.ret == 0
    assert not (without.path / "r.json").exists()


@pytest.fixture
def fewer(project: Any) -> Any:
    """Two files with a baseline, of which one case went."""
    project.write("queries/p.json", queries(case("p")))
    project.write("queries/q.json", queries(failing("sea"), case("tea"), case("went")))
    project.run("--soulmem-save=main")
    project.write("queries/q.json", queries(failing("sea"), case("tea")))
    return project


SELECTIONS = [
    ([], 0),
    (["queries/q.json"], 1),
    (["queries/q.json::tea"], 2),
    (["-k", "q.json and tea"], 2),
    (["--deselect=queries/q.json::sea"], 1),
    (["--maxfail=1"], 1),
]


def told_after(result: Any, unrun: int) -> None:
    result.stdout.fnmatch_lines(["only in the baseline: 1", "  queries/q.json::went"])
    told = [line for line in result.outlines if line.startswith("in the baseline, not run now")]
    assert told == [f"in the baseline, not run now: {unrun} case(s)"] * bool(unrun)


@pytest.mark.parametrize(("selection", "unrun"), SELECTIONS)
def test_only_cases_that_went_are_named(fewer, selection, unrun) -> None:
    told_after(fewer.run(*selection, "--soulmem-compare=main"), unrun)


@pytest.mark.parametrize(("selection", "unrun"), SELECTIONS[:4:2])
def test_workers_tell_which_cases_went(fewer, selection, unrun) -> None:
    options = ("-n1", "-p", "no:cacheprovider", "--soulmem-compare=main")
    told_after(fewer.run_apart(*selection, *options), unrun)


def test_what_lf_leaves_out_has_not_gone(fewer) -> None:
    fewer.pytester.runpytest_inprocess()
    told_after(fewer.pytester.runpytest_inprocess("--lf", "--soulmem-compare=main"), 2)


def test_groups_of_cases_that_were_not_selected_have_not_gone(forget_project) -> None:
    options = ("-p", "no:cacheprovider")
    forget_project.runpytest_inprocess(*options, "--soulmem-save=main")
    saved = json.loads((forget_project.path / ".soulmem/main.json").read_bytes())["cases"]
    assert any(own["nodeid"].count("::") > 1 for own in saved), "laws stand in a group"
    chosen = next(own["nodeid"] for own in saved if own["nodeid"].count("::") == 1)
    result = forget_project.runpytest_inprocess(*options, chosen, "--soulmem-compare=main")
    assert f"in the baseline, not run now: {len(saved) - 1} case(s)" in result.outlines
    result.stdout.no_fnmatch_line("only in the baseline*")


@pytest.mark.parametrize("options", [["-x"], ["--maxfail=1"]])
def test_a_run_that_was_broken_off_keeps_the_baseline(project, options) -> None:
    project.write("queries/q.json", queries(case("a"), case("b"), case("c")))
    project.run("--soulmem-save=main")
    before = (project.path / ".soulmem/main.json").read_bytes()
    project.write("queries/q.json", queries(case("a"), failing("b"), case("c")))
    result = project.run("--soulmem-save=main", "--soulmem-json=r.json", *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*not saved as main: the run was broken off*"])
    assert (project.path / ".soulmem/main.json").read_bytes() == before
    # A file of this run alone tells what it found.
    assert len(json.loads((project.path / "r.json").read_bytes())["cases"]) == 2


def test_another_threshold_or_limit_is_compared_and_told(project) -> None:
    sweep = {"pairs": [{"damping": 0.75, "tag": 0.5}]}
    for threshold, limit in ((0, 5), (0.25, 3)):
        config = {"similarity_threshold": threshold, "max_results": limit}
        project.write("queries/q.json", queries(case("a"), config=config, blend_sweep=sweep))
        result = project.run(
            "--soulmem-save=main" if limit == 5 else "--soulmem-compare=main",
            "--soulmem-json=r.json",
        )
    assert "similarity_threshold 0.0 in the baseline, 0.25 now: 1 case(s)" in result.outlines
    assert "max_results 5 in the baseline, 3 now: 1 case(s)" in result.outlines
    (found,) = json.loads((project.path / "r.json").read_bytes())["cases"]
    told = {name: found["result"][name] for name in ("similarity_threshold", "max_results")}
    assert told == {"similarity_threshold": 0.25, "max_results": 3}
    assert found["result"]["changed_weights"] == {"tag": 0.5, "damping": 0.75}


def test_two_systems_are_compared_where_that_is_asked_for(project) -> None:
    project.write("queries/q.json", queries(case("a"), failing("b")))
    project.run("--soulmem-save=main")
    retriever = (
        "from pytest_soulmem.retrieval import Retrieval, ranked\n"
        "class Mine:\n"
        "    def retrieve(self, query): return Retrieval(ranked(['sea']))\n"
        "def pytest_soulmem_retriever(config, graph): return Mine()\n"
    )
    project.write("conftest.py", retriever)
    refused = project.run("--soulmem-compare=main")
    assert "to compare two systems, add --soulmem-compare-systems" in refused.outlines
    compared = project.run(
        "--soulmem-compare=main", "--soulmem-compare-systems", "--soulmem-md=r.md"
    )
    title = "retrieval: old is fake noise 1, new is Mine"
    assert title in compared.outlines
    assert f"**{title}**" in (project.path / "r.md").read_text("utf-8")
    compared.stdout.fnmatch_lines(["  rr *1.0000  0.5000 *-0.5000 *"])
    compared.stdout.no_fnmatch_line("not compared*")


def test_an_interrupted_run_keeps_the_baseline(project) -> None:
    project.write("queries/q.json", queries(case("a"), case("b")))
    project.run("--soulmem-save=main")
    before = (project.path / ".soulmem/main.json").read_bytes()
    stop = "def pytest_runtest_setup(item):\n    if '::b' in item.nodeid: raise KeyboardInterrupt\n"
    project.write("queries/conftest.py", stop)
    result = project.run_apart("-p", "no:cacheprovider", "--soulmem-save=main")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*not saved as main: the run was broken off*"])
    assert (project.path / ".soulmem/main.json").read_bytes() == before


def test_markdown_tells_gates_and_the_comparison(project) -> None:
    project.write("queries/q.json", queries(case("a")))
    project.run("--soulmem-save=main")
    gates = ("--soulmem-fail-under=rr=0.5", "--soulmem-fail-under=precision@5=0.99")
    result = project.run("--soulmem-md=r.md", "--soulmem-k=5", "--soulmem-compare=main", *gates)
    assert result.ret == 20
    text = (project.path / "r.md").read_text("utf-8")
    assert "* ✅ rr at least 0.5: 1.0000 over 1 case" in text
    assert "* ❌ precision@5 at least 0.99: " in text
    assert "### comparison with main" in text


def test_two_results_in_a_stream_are_both_written(project) -> None:
    project.write("queries/q.json", queries(case("a")))
    options = ("--soulmem-json=/dev/stdout", "--soulmem-md=/dev/stdout")
    text = project.run_apart("-p", "no:cacheprovider", *options).stdout.str()
    assert '"pytest-soulmem-results-v1"' in text
    assert "## Memory: 1 passed" in text
