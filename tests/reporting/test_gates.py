import argparse
import re

import pytest
from msgspec.structs import replace

from pytest_soulmem.reporting.gates import Gate, Judgement, judged, parse_gate, parse_metric
from reporting.samples import CASE


def case(nodeid="queries/a.json::x", outcome="passed", **figures):
    file = nodeid.split("::")[0]
    return replace(CASE, nodeid=nodeid, file=file, outcome=outcome, figures=figures)


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("recall@5=0.9", Gate("recall@5", 0.9)),
        ("queries/*.json:rr=1", Gate("rr", 1.0, "queries/*.json")),
        ("a:b.json:action hit=0", Gate("action hit", 0.0, "a:b.json")),
        ("passed=1", Gate("passed", 1.0)),
    ],
)
def test_gates_as_they_are_written(text, gate):
    assert parse_gate(text) == gate


@pytest.mark.parametrize(
    "text",
    ["", "recall@5", "=0.9", "recall@5=", "recall@5=x", "rr=nan", "rr=1.1", "rr=-0.1", "x:=1"],
)
def test_what_is_no_gate(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"recall@5=0\.9"):
        parse_gate(text)


FIGURES = [
    "passed",
    "recall@1",
    "precision@10",
    "ndcg@5",
    "success@999999",
    "rr",
    "action hit",
    "action recall@3",
    "abstract",
    "direct",
    "missing_degree",
    "triggered",
]


@pytest.mark.parametrize("metric", FIGURES)
def test_metrics(metric):
    assert parse_metric(metric) == metric


def test_what_is_no_metric_and_like_none_is_told_with_all_there_are():
    with pytest.raises(argparse.ArgumentTypeError) as raised:
        parse_metric("something else")
    said = str(raised.value)
    assert said.startswith("'something else' is no metric; there are passed, recall@K, ")
    for name in FIGURES:
        assert re.sub(r"\d+", "K", name) in said


def test_a_gate_that_is_reached_says_by_what():
    found = judged(Gate("rr", 0.75), [case(rr=0.5), case(rr=1.0)])
    assert found == Judgement(True, "rr at least 0.75: 0.7500 over 2 case(s)")


def test_a_gate_says_by_how_much_a_mean_is_short():
    found = judged(Gate("rr", 0.9), [case(rr=0.5), case(rr=1.0), case()])
    assert found == Judgement(False, "rr at least 0.9: 0.7500 over 2 case(s), short by 0.1500")


def test_a_gate_over_files_leaves_others_out():
    cases = [case("queries/a.json::x", rr=1.0), case("queries/b.json::x", rr=0.0)]
    assert judged(Gate("rr", 1.0, "queries/a.json"), cases).reached
    found = judged(Gate("rr", 1.0, "queries/b*"), cases)
    assert not found.reached
    assert found.text.startswith("queries/b*: rr at least 1: 0.0000 over 1 case(s)")


def test_a_figure_that_no_case_has_is_no_silent_pass():
    found = judged(Gate("recal@5", 0.1), [case(rr=1.0)])
    assert found == Judgement(False, "recal@5 at least 0.1: no case has this figure")


def test_the_share_of_passed_cases_is_a_figure_too():
    cases = [case(), case(outcome="failed"), case(outcome="error"), case(outcome="skipped")]
    assert "0.3333 over 3 case(s)" in judged(Gate("passed", 0.5), cases).text
