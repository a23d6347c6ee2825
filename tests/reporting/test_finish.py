"""The end of a run: what is asked for, and what is not there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from projects import queries

GATES = [
    (["--soulmem-fail-under=rr=0.9"], 20, "*rr at least 0.9: no case has this figure*"),
    (["--soulmem-compare=main", "--soulmem-compare-fail=rr:0"], 21, "*rr: nothing to compare*"),
    (["--soulmem-compare=none"], 21, "*there is no baseline 'none'*"),
    (["--soulmem-save=main"], 22, "*nothing to save as main*"),
]
INI = """[pytest]
soulmem_fail_under = rr=0.9
soulmem_json = r.json
soulmem_compare = main
soulmem_compare_fail = rr:0
soulmem_rank = rr
"""


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
