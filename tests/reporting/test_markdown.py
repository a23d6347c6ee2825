from pytest_soulmem.reporting.markdown import escaped, render_markdown
from pytest_soulmem.reporting.results import (
    CaseFailure,
    CaseResult,
    CollectionError,
    Results,
    means_of,
)


def case(name, outcome="passed", reason=None, **figures):
    return CaseResult(
        nodeid=f"queries/a.json::{name}",
        file="queries/a.json",
        kind="retrieval",
        outcome=outcome,
        seconds=0.1,
        failure=CaseFailure(reason, reason) if reason else None,
        result={},
        figures=figures,
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


def test_a_run_without_figures_has_no_table():
    assert rendered(case("a")) == "## Memory: 1 passed\n\n"


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
