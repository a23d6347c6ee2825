"""The table of options, and what the text after each may be."""

from __future__ import annotations

import pytest
from projects import Project

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.option_values import PARSERS
from pytest_soulmem.options import OPTIONS

BY_NAME = {option.name: option for option in OPTIONS}


def test_only_options_that_hold_something_have_values() -> None:
    assert [name for name in PARSERS if BY_NAME[name].form == "flag"] == []
    assert all(BY_NAME[name].metavar for name in PARSERS)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_flag_holds_nothing_and_others_something(option) -> None:
    assert (option.metavar is None) == (option.form == "flag")


def test_what_is_not_read_further_is_kept_as_it_is() -> None:
    assert BY_NAME["instruction"].parsed(" 为 ") == " 为 "
    assert BY_NAME["k"].parsed("3,1,3") == (1, 3)


@pytest.mark.parametrize("said", ["soulmem_k = x", "soulmem_rank = nothing@x", "soulmem_laws = 1"])
def test_a_wrong_wish_ends_a_run_that_has_no_fixture(project: Project, said: str) -> None:
    project.write("pytest.ini", f"[pytest]\n{said}\n")
    project.write("test_own.py", "def test_own(): pass")
    result = project.run("test_own.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said.partition(" ")[0] in result.stderr.str()


def test_where_nothing_is_asked_nothing_is_left_behind(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass")
    project.pytester.runpytest_inprocess("test_own.py").assert_outcomes(passed=1)
    assert list(project.path.rglob(".pytest_cache/v"))
    assert not list(project.path.rglob(".pytest_cache/*/soulmem"))


@pytest.mark.parametrize("mark", ["soulmem", *(f"soulmem_{kind.name}" for kind in KINDS)])
def test_marks_are_known_where_there_is_no_fixture(project: Project, mark: str) -> None:
    project.write("test_own.py", f"import pytest\n@pytest.mark.{mark}\ndef test_own(): pass")
    project.run("--strict-markers", "test_own.py").assert_outcomes(passed=1)
