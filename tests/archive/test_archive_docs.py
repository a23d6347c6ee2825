"""The examples of docs/archive.md do what it says."""

from __future__ import annotations

import re

import archive_helpers
import pytest

from pytest_soulmem.archive.crash import CRASH_POINTS
from pytest_soulmem.archive.laws import LAWS
from pytest_soulmem.archive.protocols import REQUIRED
from pytest_soulmem.archive.steps import STEP_TYPES, Expect

TEXT = (archive_helpers.ROOT / "docs" / "archive.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture
def project(pytester):
    def make(*names):
        for name in names:
            path = pytester.path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(BLOCKS[name], encoding="utf-8")
        return pytester.runpytest_inprocess("archive", "--soulmem-laws=off")

    return make


def test_the_example_passes(project):
    project("archive/pictures.json").assert_outcomes(passed=4)


def test_the_chain_of_the_example_fails_where_it_should(project):
    result = project("archive/pictures.json", "conftest.py")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*recalled by recall: flag is missing"])


@pytest.mark.parametrize(
    "words",
    [CRASH_POINTS, LAWS, REQUIRED, STEP_TYPES, Expect.__struct_fields__],
    ids=["points", "laws", "methods", "steps", "expectations"],
)
def test_nothing_is_left_out(words):
    told = re.findall(r"`([\w.-]+)(?:\([^)]*\))?`", TEXT)
    assert set(words) <= set(told)


def test_the_statements_of_laws_are_the_ones_that_failures_show():
    for name, law in LAWS.items():
        assert f"| `{name}` | {law.statement} |" in TEXT
