from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from html_samples import (
    FORGET,
    FORGET_RUN,
    FORGETTING,
    HOSTILE,
    MOVED,
    NINE,
    OVERRIDES,
    SWEEP,
    TEXTS,
    effect_case,
    forgetting_case,
    hit,
    hostile_results,
    nine,
    other_case,
    overrides,
    point,
    ranking,
    results,
    retrieval_case,
    sweep,
)

from pytest_soulmem.reporting.finish import Ending
from pytest_soulmem.reporting.html import render_html
from pytest_soulmem.reporting.html.chart import HEIGHT, TOP, nice_ticks, spread_labels
from pytest_soulmem.reporting.html.curves import file_curves
from pytest_soulmem.reporting.html.markup import shown
from pytest_soulmem.reporting.html.page import build_page
from pytest_soulmem.reporting.html.sweeps import families_of, file_figures
from pytest_soulmem.reporting.results import CollectionError, Results, means_of
from pytest_soulmem.reporting.table import Section, Table

VOID = {"meta", "input"}
CLOSED_BY_OTHERS = {"td", "th", "tr", "dt", "dd", "thead", "tbody", "option"}


class Reader(HTMLParser):
    """The elements of a page, and what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID | CLOSED_BY_OTHERS:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in CLOSED_BY_OTHERS:
            return
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(found: Results | None = None, ending: Ending | None = None) -> str:
    return render_html(found or results(), ending or Ending()).decode()


def read(found: Results | None = None) -> Reader:
    return Reader(page_of(found))


def plain_text(text: str) -> str:
    return re.sub(r"<[^>]+>", " ", text)


@pytest.mark.parametrize("make", [results, hostile_results])
def test_every_element_is_closed_and_every_id_unique(make):
    reader = read(make())
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert (reader.faults, reader.open) == ([], [])
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("make", [results, hostile_results])
def test_every_reference_leads_to_an_element(make):
    reader = read(make())
    ids = {attributes.get("id") for _, attributes in reader.elements}
    links = [link["href"] for link in reader.all("a")]
    described = [svg["aria-describedby"] for svg in reader.all("svg") if "aria-describedby" in svg]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert described
    assert set(described) <= ids


def test_the_policy_allows_exactly_the_style_and_script_of_the_page():
    text = page_of()
    policy = next(
        meta["content"]
        for meta in Reader(text).all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("make", [results, hostile_results])
def test_nothing_in_the_page_needs_what_the_policy_forbids(make):
    reader = read(make())
    attributes = {name for _, own in reader.elements for name in own}
    assert not {name for name in attributes if name.startswith("on") or name in ("style", "src")}
    assert {tag for tag, _ in reader.elements} & {
        "img",
        "link",
        "iframe",
        "object",
        "base",
    } == set()
    assert len(reader.all("style")) == 1
    assert [script.get("type") for script in reader.all("script")] == ["application/jsonl", None]


@pytest.mark.parametrize("text", TEXTS)
def test_a_fixtures_text_is_only_text(text):
    whole = page_of(hostile_results())
    assert HOSTILE not in whole
    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\u200b\ud800-\udfff]", whole
    )
    assert "&lt;/script&gt;" in whole
    assert "{{ 7 * 7 }}" in whole
    assert "\\u202e" in whole
    assert "\\x1b[31mred" in whole


def test_the_header_says_what_ran():
    text = plain_text(page_of())
    assert "11 of 13 cases passed" in text
    assert "1 June 2026, 08:05 UTC" in text
    assert "12.5 s" in text
    assert "e5 small 1" in text
    assert "mine.Forgetter" in text


def test_headings_go_down_one_level_at_a_time():
    levels = [int(tag[1]) for tag, _ in read().elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_page_works_without_its_script():
    text = re.sub("<script>.*?</script>", "", page_of(), flags=re.DOTALL)
    form = next(own for own in Reader(text).all("form"))
    assert "hidden" in form
    assert len(Reader(text).all("details")) > 13
    assert Reader(text).all("polyline")


def test_a_run_without_cases_has_a_page():
    errors = [CollectionError("queries/a.json", "queries/a.json: broken\n  $.name")]
    empty = Results(
        "pytest-soulmem-results-v1", "1", "2026-06-01T08:05:00+00:00", 0, {}, (), (), tuple(errors)
    )
    assert "No case ran, 1 file could not be used" in plain_text(page_of(empty))


def test_gates_and_the_comparison_are_shown():
    section = Section(
        "comparison with base", [Table(["", "old"], [["recall@3", "0.9"]])], ["lost: 1", "  x"]
    )
    text = page_of(ending=Ending(["recall@3: short"], ["rr: reached"], [section]))
    assert "recall@3: short" in text
    assert "Comparison with base" in text
    assert '<li class="deep">x</li>' in text
    assert "✓  rr: reached" in plain_text(text)
    reached = page_of(ending=Ending(reached=["rr: reached"]))
    assert 'href="#gates"' in reached
    assert "✓  rr: reached" in plain_text(reached)
    assert 'id="gates"' not in page_of(results(fail_under=["recall@3 at least 0.9"]))


# Figures and sweeps.


def test_figures_are_grouped_by_what_stands_before_the_cut_off():
    families = families_of(("recall@1", "rr", "recall@5", "action recall@1"))
    assert [(family.name, family.columns) for family in families] == [
        ("recall", ["1", "5"]),
        ("rr", [""]),
        ("action recall", ["1"]),
    ]


def test_where_only_tag_and_variant_vary_the_tag_weight_is_the_axis():
    found = file_figures(means_of(sweep()))
    recall = found.charts[0]
    assert recall.x_title == "tag weight"
    assert [tick.label for tick in recall.x_ticks] == ["0.1", "0.3", "0.9"]
    positions = [float(xy.split(",")[0]) for xy in recall.lines[0].points.split()]
    assert positions[1] - positions[0] < positions[2] - positions[1]
    assert "recall@3 up to 0.950 (tag 0.1), down to 0.550 (tag 0.9)" in recall.summary


def test_where_other_weights_vary_the_weight_sets_stand_in_order():
    found = file_figures(means_of(overrides()))
    assert found.numbered
    assert found.charts[0].x_title == "weight set"
    assert [tick.label for tick in found.charts[0].x_ticks] == ["1", "2"]


def test_every_metric_is_drawn_with_a_mark_per_weight_set():
    found = file_figures(means_of(sweep()))
    drawn = [mark.text.split()[0] for chart in found.charts for mark in chart.marks]
    assert {name: drawn.count(name) for name in drawn} == {
        "recall@1": 3,
        "recall@3": 3,
        "ndcg@3": 3,
        "rr": 3,
    }


def test_no_chart_where_nothing_is_swept():
    assert not file_figures(means_of([retrieval_case()])).charts


def test_the_best_of_a_column_is_marked_where_one_is():
    rows = file_figures(means_of(sweep())).rows
    best = [[cell.best for cell in row.cells] for row in rows]
    assert best == [[True, True, True, False], [False] * 4, [False] * 4]


def test_the_lines_of_a_chart_differ_in_style():
    charts = file_figures(means_of(nine())).charts
    assert [len(chart.lines) for chart in charts] == [3, 3, 3]
    for chart in charts:
        styles = [line.style for line in chart.lines]
        assert len(set(styles)) == len(styles)
    drawn = [mark.text.rpartition(" 1.000")[0] for chart in charts for mark in chart.marks]
    assert tuple(filter(None, drawn)) == NINE


def test_a_metric_that_some_weight_sets_lack_leaves_a_gap():
    found = sweep()
    del found[1].figures["rr"], found[4].figures["rr"]
    singles = file_figures(means_of(found)).charts[-1]
    assert len([mark for mark in singles.marks if mark.text.startswith("rr")]) == 2


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 168, [0, 50, 100, 150]),
        (0, 0.03, [0, 0.01, 0.02, 0.03]),
        (5, 5, [5]),
    ],
)
def test_ticks_are_round(low, high, ticks):
    assert nice_ticks(low, high) == ticks


def test_labels_keep_apart_and_inside():
    labels = spread_labels([(200, "a"), (200, "b"), (201, "c"), (TOP, "d")], 9)
    heights = [label.y for label in labels]
    assert all(after - before >= 12.9 for before, after in pairwise(heights))
    assert max(heights) < HEIGHT


# Rankings, which the script draws: see test_html_browser.py.


def rankings_in(text: str) -> list[dict[str, list[dict[str, Any]]]]:
    (lines,) = re.findall(
        '<script type="application/jsonl" id="rankings">(.*?)</script>', text, re.S
    )
    return [json.loads(line) for line in lines.split("\n")]


def test_the_rankings_of_each_case_are_a_line_of_data():
    found = results(other_case(), retrieval_case(), other_case())
    none: dict[str, Any] = {"rankings": [], "sub_queries": []}
    assert rankings_in(page_of(found)) == [none, none | {"rankings": [MOVED]}, none]


UNPRINTABLE = ("\n", "\t", "\x7f", "\u2028", "\u202e", "\ud800", "\x00", "\U000e0001")


@pytest.mark.parametrize("text", [*TEXTS, "<!--<script>", "a\\", '"', *UNPRINTABLE])
def test_data_says_what_text_says_and_has_no_tag(text):
    own = hit(text, 1, "must")
    own["channels"] = {text: 0.5}
    written = page_of(results(retrieval_case("a", rankings=[ranking(own)])))
    (line,) = rankings_in(written)
    (found,) = line["rankings"]
    assert found["retrieved"][0]["id"] == shown(text)
    assert list(found["expected"][0]["channels"]) == [shown(text)]
    (lines,) = re.findall('id="rankings">(.*?)</script>', written, re.S)
    assert "<" not in lines


def test_a_sentence_says_what_needs_javascript():
    (sentence,) = re.findall("<noscript>(.*?)</noscript>", page_of())
    assert "rankings of cases" in sentence


# Forgetting.


def test_points_lie_on_drawings_over_time_and_over_activations():
    time, counts = file_curves(FORGETTING).drawings
    assert (time.chart.x_title, len(time.chart.marks)) == ("hours since last touched", 5)
    assert (counts.chart.x_title, len(counts.chart.marks)) == ("activations", 4)
    assert any(label.text == "cap at 50" for label in counts.chart.labels)


def test_the_reference_curve_is_the_one_of_the_config():
    (drawing,) = file_curves([forgetting_case()]).drawings
    assert [round(one.reference, 9) for one in drawing.observations] == [0, 0.5, 0.75]
    assert drawing.chart.summary[-1] == "on the reference curve"


def test_what_departs_from_the_curve_is_told():
    (drawing,) = file_curves([forgetting_case(points=[point(24, 0.3)])]).drawings
    assert "0.2" in drawing.chart.summary[-1]


def test_a_failed_case_has_a_mark_and_a_meaning_of_its_own():
    found = file_curves(FORGETTING)
    failed = [mark for mark in found.drawings[0].chart.marks if mark.text.endswith("failed")]
    assert [mark.style for mark in failed] == ["s4 seen"]
    assert "a case that failed" in [meaning for _, meaning in found.legend]


def test_cases_of_other_curves_or_moments_have_drawings_of_their_own():
    slow = forgetting_case(
        curve={**forgetting_case().result["curve"], "base_half_life_hours": 99.0}
    )
    later = forgetting_case("activation", [point(9, 0.7), point(9, 0.3, 20)])
    sooner = forgetting_case("activation", [point(1, 0.2), point(1, 0.1, 20)])
    assert len(file_curves([forgetting_case(), slow, later, sooner]).drawings) == 4


def test_texts_before_and_after_are_shown():
    text = page_of(results(effect_case(revised="a memory of the lake")))
    assert "<dt>before<dd>a memory of the sea" in text
    assert '<dt>masked<dd>a<span class="gone">[masked]</span>of the<span class="gone">' in text
    assert "<dt>revised<dd>a memory of the lake" in text
    assert "not: no reviser" in page_of(results(effect_case()))


# Other kinds.


def test_a_kind_that_the_page_does_not_know_shows_what_it_found():
    (view,) = build_page(results(other_case()), Ending()).files[0].cases
    assert dict(view.facts) == {"steps": "3", "held": "yes"}
    (table,) = view.tables
    assert (table.name, table.columns) == ("seen", ["event", "found state"])
    assert table.rows == [["a", "done"], ["b", ""]]


def test_the_slowest_cases_come_first():
    slowest = build_page(results(), Ending()).slowest
    assert [view.case.seconds for view in slowest[:3]] == [0.9, 0.9, 0.3]


def test_files_are_listed_with_their_counts():
    files = build_page(results(), Ending()).files
    assert [(file.name, dict(file.counts)) for file in files][:3] == [
        (FORGET, {"passed": 3, "failed": 1}),
        (SWEEP, {"passed": 5, "failed": 1}),
        (OVERRIDES, {"passed": 2}),
    ]


# Under pytest.


def test_the_option_writes_the_page(forget_project):
    run = forget_project.runpytest_inprocess(*FORGET_RUN, "--soulmem-html=out/report.html")
    text = (forget_project.path / "out" / "report.html").read_text("utf-8")
    assert run.ret == 0
    assert "soulmem: wrote" in run.stdout.str()
    assert "2 of 2 cases passed" in text
    assert "机器学习是人工智能的一个重要分支" in text
    assert '<span class="gone">[masked]</span>' in text
    assert '<polyline class="line curve"' in text


def test_the_page_is_whole_under_xdist(forget_project):
    run = forget_project.runpytest_subprocess(*FORGET_RUN, "-n", "2", "--soulmem-html=r.html")
    assert run.ret == 0
    assert "2 of 2 cases passed" in (forget_project.path / "r.html").read_text("utf-8")


def test_every_gate_is_in_the_page_and_only_what_is_not_reached_in_the_terminal(forget_project):
    gates = ("rr=0.9", "passed=0.5")
    run = forget_project.runpytest_inprocess(
        *FORGET_RUN, "--soulmem-html=r.html", *(f"--soulmem-fail-under={gate}" for gate in gates)
    )
    assert run.ret == 20
    text = plain_text((forget_project.path / "r.html").read_text("utf-8"))
    assert "✕  rr at least 0.9: no case has this figure" in text
    assert "✓  passed at least 0.5: 1.0000 over 2 case(s)" in text
    run.stdout.no_fnmatch_line("*passed at least*")


def test_without_jinja2_the_run_ends_at_once_and_names_the_extra(forget_project, monkeypatch):
    monkeypatch.setattr("pytest_soulmem.option_values.find_spec", lambda name: None)
    run = forget_project.runpytest_inprocess(*FORGET_RUN, "--soulmem-html=r.html")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert "pip install 'pytest-soulmem[html]'" in run.stderr.str()
    forget_project.path.joinpath("pytest.ini").write_text("[pytest]\nsoulmem_html = r.html\n")
    run = forget_project.runpytest_inprocess(*FORGET_RUN)
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert "pip install 'pytest-soulmem[html]'" in run.stderr.str()


def test_without_the_option_nothing_of_the_page_is_imported(forget_project):
    forget_project.makeconftest(
        "import sys\n"
        "def pytest_unconfigure():\n"
        "    print('LOADED', [n for n in ('jinja2', 'pytest_soulmem.reporting.rows')"
        " if n in sys.modules])\n"
    )
    run = forget_project.runpytest_subprocess(*FORGET_RUN, "-p", "no:html", "-p", "no:metadata")
    assert "LOADED []" in run.stdout.str()


def test_templates_are_files_of_the_package():
    import pytest_soulmem.reporting

    folder = Path(pytest_soulmem.reporting.__file__).parent / "templates"
    assert {"page.html.j2", "page.css", "page.js", "rankings.js"} <= {
        path.name for path in folder.iterdir()
    }
