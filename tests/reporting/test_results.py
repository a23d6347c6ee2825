"""The document of a run."""

import json

from html_samples import results, retrieval_case
from projects import case, queries

from pytest_soulmem.reporting.html import render_html
from pytest_soulmem.reporting.results import means_of


def negative(name="asks for nothing"):
    found = retrieval_case(name)
    return type(found)(
        **{field: getattr(found, field) for field in found.__struct_fields__}
        | {"figures": {}, "result": found.result | {"negative": True}}
    )


def test_a_negative_case_counts_and_leaves_the_means_alone():
    (mean,) = means_of([retrieval_case(), negative()])
    assert (mean.passed, mean.cases) == (2, 2)
    assert mean.figures == retrieval_case().figures


def test_a_file_of_negative_cases_has_no_figures_to_draw():
    found = results(negative("a"), negative("b"))
    assert [(mean.cases, mean.figures) for mean in found.means] == [(2, {})]
    assert "<td>2/2" in render_html(found).decode()


def test_the_settings_are_those_that_users_know(project):
    project.write("queries/q.json", queries(case()))
    project.run("--soulmem-json=r.json", "--soulmem-k=1", "--html=page.html")
    told = json.loads((project.path / "r.json").read_text("utf-8"))["settings"]
    assert told["k"] == [1]
    assert "rows" not in told
