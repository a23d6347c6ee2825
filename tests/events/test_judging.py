from pathlib import Path

from events.samples import file, finish, scenario, text
from pytest_soulmem.events import Outcome, Step
from pytest_soulmem.events.fixture import load_event_file
from pytest_soulmem.events.judging import Judgement, explain


def judged(found, *events, **expected):
    own = scenario(*events, expected=expected)
    (loaded,) = load_event_file(Path("x.json"), file(own)).usable
    judgement = Judgement(Step(1, 1), loaded.expected.given, found)
    return judgement, explain(loaded, [judgement], "mine.reduce")


def test_only_what_is_expected_is_judged():
    found = Outcome("failed", error_code="x", partial_text="甲")
    assert judged(found, text("甲"), terminal_state="failed")[1] is None
    assert judged(found, text("甲"), error_code="y")[0].wrong == ["error_code"]
    assert judged(found, text("甲"), error_code=None)[0].wrong == ["error_code"]


def test_usage_is_compared_figure_by_figure():
    found = Outcome("completed", "known", usage={"inputTokens": 1.0})
    assert judged(found, usage={"inputTokens": 1})[1] is None
    assert judged(found, usage={"inputTokens": 1, "outputTokens": 0})[0].wrong == ["usage"]


def test_every_violation_is_told_the_first_one_first():
    found = Outcome("completed", finish_reason="stop")
    failure = judged(found, finish("length"), terminal_state="truncated", finish_reason="length")[1]
    assert failure.reason == "terminal_state: truncated expected, completed found"
    assert failure.text.splitlines()[:3] == [
        failure.reason,
        "finish_reason: length expected, stop found",
        "reducer mine.reduce",
    ]


def test_long_streams_and_texts_are_cut():
    events = [finish("stop"), text("长" * 100)] * 50
    failure = judged(Outcome("failed"), *events, terminal_state="completed")[1]
    lines = failure.text.splitlines()
    assert lines[-1] == "  … and 60 more"
    assert all(len(line) < 90 for line in lines)
