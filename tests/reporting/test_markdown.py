import re

import msgspec
import pytest
from projects import EMBEDDER, queries
from projects import case as query_case
from retrieval.builders import outcome as retrieval_outcome

from pytest_soulmem.cli import main
from pytest_soulmem.reporting.markdown import escaped, render_markdown
from pytest_soulmem.reporting.results import (
    CaseFailure,
    CaseResult,
    CollectionError,
    Results,
    means_of,
    read_results,
)
from pytest_soulmem.retrieval.outcome import Metrics


def case(name, outcome="passed", reason=None, rr=1.0, **result):
    found = retrieval_outcome(metrics=Metrics(rr, ()), **result)
    return CaseResult(
        nodeid=f"queries/a.json::{name}",
        file="queries/a.json",
        kind="retrieval",
        outcome=outcome,
        seconds=0.1,
        failure=CaseFailure(reason, reason) if reason else None,
        result=msgspec.to_builtins(found),
        figures={"rr": rr},
        variation="tag:0.3-variant:0.7",
        fingerprint="",
    )


def rendered(*cases, errors=()):
    results = Results(
        schema="pytest-soulmem-results-v1",
        version="0",
        started="",
        seconds=1.0,
        settings={},
        cases=cases,
        means=tuple(means_of(cases)),
        errors=errors,
    )
    return render_markdown(results).decode()


def test_counts_means_and_failures():
    text = rendered(case("a", rr=1.0), case("b", "failed", "order: x", rr=0.5))
    assert text.startswith("## Memory: 1 passed, 1 failed\n")
    assert "| weights | passed | rr |\n| :-- | --: | --: |\n" in text
    assert "| tag:0.3-variant:0.7 | 1/2 | 0.750 |" in text
    assert "* queries/a.json::b: order: x" in text


def test_many_failures_are_cut():
    text = rendered(*(case(str(n), "failed", "no") for n in range(25)))
    assert text.count("* queries/a.json::") == 20
    assert "* and 5 more" in text


def test_what_could_not_run_is_told():
    text = rendered(msgspec.structs.replace(case("a", "error"), result={}))
    assert text.startswith("## Memory: 1 error\n")
    assert "* 1 case\\(s\\) could not run: see their failures" in text


def test_every_kind_that_ran_has_its_part(pytester):
    folders = {"query": "queries", "forget": "forget", "events": "events", "archive": "archive"}
    for kind, folder in folders.items():
        main(["new", kind, str(pytester.path / folder / "a.json")])
    pytester.makeconftest(EMBEDDER)
    pytester.runpytest_inprocess("--soulmem-md=a.md", "-p", "no:cacheprovider")
    text = (pytester.path / "a.md").read_text("utf-8")
    titles = ("retrieval", "forgetting", "model events", "archive chain")
    assert [line for line in text.splitlines() if line.startswith("### ")] == [
        f"### {title}" for title in titles
    ]
    assert "| laws | 10 | 10 | 100% | - |" in text
    assert "| scenarios | 1 | 1 | 100% |" in text


@pytest.mark.parametrize("sweep", [{}, {"blend_sweep": {"tag_sweep": [0.3, 0.5]}}])
def test_terminal_results_page_and_summary_count_alike(project, sweep):
    negative = query_case("nothing", expected_combined_ranking=[], expected_per_query=[])
    broken = query_case("broken", sub_queries=[])
    project.write("queries/q.json", queries(query_case(), negative, broken, **sweep))
    options = [f"--soulmem-{kind}=a.{kind}" for kind in ("json", "md", "html")]
    terminal = project.run(*options, "--soulmem-k=1").stdout.str()
    sets = 2 if sweep else 1
    assert len(re.findall(r"^  tag\S+ +\*? *2/2 ", terminal, re.MULTILINE)) == sets
    means = read_results(project.path / "a.json").means
    assert [(mean.passed, mean.cases) for mean in means] == [(2, 2)] * sets
    assert (project.path / "a.md").read_text("utf-8").count("| 2/2 |") == sets
    assert (project.path / "a.html").read_text("utf-8").count("<td>2/2") == sets


def test_files_that_could_not_be_used_are_told():
    text = rendered(errors=(CollectionError("queries/b.json", "queries/b.json: not JSON\nmore"),))
    assert "* **could not be used**: queries/b.json: not JSON" in text


def test_nothing_of_a_fixture_is_obeyed():
    hostile = "<script>alert(1)</script> | `x` [a](b) \x1b[31m *b*"
    text = escaped(hostile)
    assert "<" not in text.replace("\\<", "")
    assert "\x1b" not in text
    assert "\\|" in text
    assert "\\`x\\`" in text
    assert rendered(case(hostile, "failed", hostile)).count("\n* ") == 1
