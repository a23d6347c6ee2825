"""The page in a real Chromium: what it shows, what it asks for, how it is used."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from html_samples import (
    FOUND_BY_SUB_QUERIES,
    HOSTILE,
    MOVED,
    QUOTED,
    SUB_QUERIES,
    TEXTS,
    hit,
    hostile_results,
    nine,
    ranking,
    results,
    retrieval_case,
)

from pytest_soulmem.reporting.finish import Ending
from pytest_soulmem.reporting.html import render_html
from pytest_soulmem.reporting.results import CollectionError, Results
from pytest_soulmem.reporting.table import Section, Table, clip
from pytest_soulmem.reporting.text import visible

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
ARGUMENTS = (
    "--no-sandbox",  # Chromium as root, as in most containers, has none
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 10_000
"""Milliseconds; Playwright's own 30 s only delay a failure."""


def missing(what: str) -> None:
    if os.environ.get("SOULMEM_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{what} is not installed, and SOULMEM_REQUIRE_BROWSER is set")
    pytest.skip(f"{what} is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM:
        missing("Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", event =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""
Open = Callable[..., Any]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a run offline; whatever it complains about or asks for fails the test."""
    trouble: list[str] = []
    contexts = []
    pages = []

    def show(
        found: Results | None = None, ending: Ending | None = None, before: str = "", **options: Any
    ) -> Any:
        path = tmp_path / "report.html"
        path.write_bytes(render_html(found or results(), ending or Ending()))
        context = browser.new_context(offline=True, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        pages.append(page)
        page.add_init_script(WATCH + before)
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: trouble.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: request.url == path.as_uri() or trouble.append(f"asks {request.url}"),
        )
        page.goto(path.as_uri())
        return page

    yield show
    for page in pages:
        trouble += page.evaluate("window.violations ?? []")
    for context in contexts:
        context.close()
    assert trouble == []


def everything(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(own => own.open = true)")


def shown(page: Any) -> list[str]:
    return page.locator(".case:visible .name").all_inner_texts()


def matches(page: Any) -> Any:
    return page.get_by_role("status")


def opened(page: Any, name: str = "") -> Any:
    """The first case of that name, opened by hand."""
    case = page.locator(".case", has_text=name).first
    case.locator("summary").click()
    expect(case.locator(".inside")).to_be_visible()
    expect(case.locator("h4").first).to_be_visible()
    return case


def expect(locator: Any) -> Any:
    from playwright.sync_api import expect

    return expect(locator)


# Charts.


def test_charts_have_marks_where_the_page_is_seen(show):
    page = show()
    charts = page.locator("#figures svg, #forgetting figure svg")
    assert charts.count() == 6
    for chart in charts.all():
        box = chart.bounding_box()
        assert box["width"] > 200
        assert chart.locator(".mark").count() >= 1
        assert chart.locator("polyline").count() >= 1
        for mark in chart.locator(".mark").all():
            own = mark.bounding_box()
            assert box["x"] <= own["x"] <= box["x"] + box["width"]
            assert box["y"] - 1 <= own["y"] <= box["y"] + box["height"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_names_of_lines_stay_apart_and_inside(show, scheme):
    page = show(results(*nine()), color_scheme=scheme)
    charts = page.locator("#figures svg")
    assert charts.count() == 3
    for chart in charts.all():
        inside = chart.bounding_box()
        names = [name.bounding_box() for name in chart.locator(".names text").all()]
        assert len(names) == 3
        for above, below in pairwise(sorted(names, key=lambda box: box["y"])):
            assert above["y"] + above["height"] * 0.8 <= below["y"] + below["height"] * 0.2
        assert all(box["x"] + box["width"] <= inside["x"] + inside["width"] for box in names)


def test_charts_exist_without_javascript(show):
    page = show(java_script_enabled=False)
    assert page.locator("#figures polyline").count() > 4
    assert page.locator("#filter").is_hidden()
    page.locator(".case").first.locator("summary").first.click()
    assert page.locator(".case").first.locator("svg .mark").count() == 3
    page.locator(".case.failed summary").last.click()
    assert "the whole text" in page.locator(".case.failed pre").last.inner_text()


def test_without_javascript_a_sentence_says_what_is_missing(browser):
    # Where Playwright switches scripts off, Chromium parses as if they ran; not so in a sandbox.
    page = browser.new_page()
    written = escape(render_html(results()).decode())
    page.set_content(f'<iframe sandbox="allow-same-origin" srcdoc="{written}"></iframe>')
    sentence, case = page.evaluate(
        """() => ["noscript p", ".case"].map(selector =>
            frames[0].document.querySelector(selector).getBoundingClientRect().y)"""
    )
    assert 0 < sentence < case
    page.close()


def test_a_point_says_its_value_and_lines_do_not_catch_the_pointer(show):
    page = show()
    titles = page.locator("#figures .mark title").all_text_contents()
    assert "recall@3 0.950, tag 0.1" in titles
    assert (
        page.locator("#figures .line").first.evaluate("own => getComputedStyle(own).pointerEvents")
        == "none"
    )


def colours(page: Any) -> tuple[str, str, str]:
    return tuple(
        page.locator(selector).first.evaluate(f"own => getComputedStyle(own).{name}")
        for selector, name in (
            ("body", "backgroundColor"),
            ("body", "color"),
            ("#figures .line.s0", "stroke"),
        )
    )


def test_dark_and_light_follow_the_system(show):
    light, dark = (colours(show(color_scheme=scheme)) for scheme in ("light", "dark"))
    assert all(a != b for a, b in zip(light, dark, strict=True))


# The filter.


def test_the_filter_filters_by_text(show):
    page = show()
    page.get_by_role("searchbox").fill("BOTH tag:0.9")
    expect(matches(page)).to_have_text("1 of 13 cases")
    (only,) = shown(page)
    assert "asks for both[tag:0.9-variant:0.1]" in only


def test_the_filter_finds_what_stands_in_a_closed_case(show):
    page = show()
    page.get_by_role("searchbox").fill("lake")
    expect(matches(page)).to_have_text("1 of 13 cases")
    page.get_by_role("searchbox").fill("no such thing")
    expect(matches(page)).to_have_text("0 of 13 cases")


def test_the_filter_filters_by_outcome_kind_and_file(show):
    page = show()
    page.get_by_role("combobox", name="Outcome").select_option("failed")
    expect(matches(page)).to_have_text("2 of 13 cases")
    page.get_by_role("combobox", name="Kind").select_option("forgetting")
    expect(matches(page)).to_have_text("1 of 13 cases")
    page.get_by_role("button", name="Clear").click()
    expect(matches(page)).to_have_text("13 cases")
    page.get_by_role("combobox", name="File").select_option("queries/overrides.json")
    expect(matches(page)).to_have_text("2 of 13 cases")
    assert page.locator("#cases h3:visible").all_inner_texts() == ["queries/overrides.json"]


def test_the_number_of_matches_is_announced(show):
    page = show()
    assert matches(page).get_attribute("aria-live") == "polite"


# Links and the keyboard.


def test_a_link_opens_its_case_even_where_the_filter_hides_it(show):
    page = show()
    page.get_by_role("combobox", name="Kind").select_option("events")
    expect(matches(page)).to_have_text("1 of 13 cases")
    page.locator("#failures a").first.click()
    case = page.locator(".case.failed").first
    expect(case.locator("pre")).to_be_in_viewport()
    expect(matches(page)).to_have_text("13 cases")


def test_the_page_is_used_by_keyboard(show):
    page = show()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the cases"
    expect(page.get_by_role("link", name="To the cases")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "text"
    page.keyboard.type("stream")
    expect(matches(page)).to_have_text("1 of 13 cases")
    for _ in range(5):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    expect(page.locator(".case[open] dl.facts")).to_be_visible()


def test_focus_is_visible(show):
    page = show()
    for selector in ("nav a", "#filter input", "#filter select", ".case summary"):
        own = page.locator(selector).first
        page.keyboard.press("Tab")
        own.focus()
        style = own.evaluate(
            "own => getComputedStyle(own).outlineStyle + ' ' + getComputedStyle(own).outlineWidth"
        )
        assert style.startswith("solid")
        assert float(style.split()[1].removesuffix("px")) >= 2


# Rankings.


def number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value + 0.0:.{digits}f}".replace("-0.0000", "0.0000")


def expected_rows(found: dict[str, Any]) -> list[list[str]]:
    """The rows of a ranking without the column of moves, by the results document alone."""
    channels: list[str] = []
    rows = [*found["retrieved"]]
    rows += [own for own in found["expected"] if own["rank"] is None]
    for own in rows:
        channels += [name for name in own["channels"] if name not in channels]
    keyed = any(own["key"] is not None for own in rows)
    lines = [["rank", "expected", "memory", "score", *(["key"] if keyed else []), *channels]]
    place = 0
    places = {}
    for own in found["expected"]:
        place += own["role"] == "must"
        places[own["id"]] = str(place) if own["role"] == "must" else "bonus"
    for own in rows:
        line = [str(own["rank"] or "missing"), places.get(own["id"], ""), own["id"]]
        line.append(number(own["score"], 4))
        if keyed:
            line.append(number(own["key"], 4))
        own_channels = own["channels"]
        line += [number(own_channels[n], 3) if n in own_channels else "·" for n in channels]
        lines.append(line)
    return lines


def drawn_rows(table: Any) -> list[list[str]]:
    rows: list[list[str]] = table.evaluate(
        "own => [...own.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return rows


def varied() -> list[dict[str, Any]]:
    """Rankings with every figure that is rounded in a way of its own, none of which moved."""
    values = (0.0625, 0.1875, 0.03125, 0.09375, 0.0005, 1.0005, 0.29, 2.5, 7.0, -0.3, 1 / 3, 1e-9)
    values += (134217728.03125, 2147483648.0625)
    rounded = ranking(
        *(
            hit(f"m{at}", at, "must" if at % 2 else "", value, None)
            for at, value in enumerate(sorted(values, reverse=True), start=1)
        ),
        missing=[hit("gone", None, "must", 0.5, None), hit("more", None, "bonus", 0.2, None)],
    )
    bare = hit("bare", 1) | {"channels": {}, "key": None, "score": 0.125}
    own = hit("own", 2) | {"channels": {"constructor": 0.25, "__proto__": 0.5}, "key": None}
    return [rounded, ranking(bare, own) | {"title": "sub-query 0"}]


def test_a_drawn_table_has_the_rows_of_the_document(show):
    found = varied()
    case = opened(show(results(retrieval_case("varied", rankings=found))))
    tables = case.locator("table.ranking").all()
    assert [drawn_rows(table) for table in tables] == [expected_rows(own) for own in found]


def test_what_sub_queries_found_stands_where_there_are_several(show):
    several = retrieval_case("several", sub_queries=SUB_QUERIES)
    page = show(results(several, retrieval_case("single", sub_queries=SUB_QUERIES[:1])))
    found = opened(page, "several").locator("h4:text-is('Sub-queries') + dl > div")
    pairs = "all => all.map(one => [...one.children].map(child => child.textContent))"
    assert found.evaluate_all(pairs) == FOUND_BY_SUB_QUERIES
    assert opened(page, "single").locator("h4:text-is('Sub-queries')").count() == 0
    page.locator("#filter [name=text]").fill("<i>lamp")
    expect(page.locator("output")).to_have_text("1 of 2 cases")


def test_an_older_browser_draws_rankings_too(show):
    page = show(results(retrieval_case()), before="\ndelete Intl.Segmenter;")
    assert opened(page).locator("figure.slopes").count() == 1


def test_a_ranking_stands_first_in_what_opens_after_the_failure(show):
    case = opened(show(results(retrieval_case(outcome="failed"))))
    inside = case.locator(".inside").evaluate("own => [...own.children].map(one => one.className)")
    assert inside[:4] == ["failure", "", "scroll", "slopes"]
    case = opened(show(results(retrieval_case())))
    inside = case.locator(".inside").evaluate("own => [...own.children].map(one => one.className)")
    assert inside[:3] == ["", "scroll", "slopes"]


def test_a_case_is_drawn_when_it_is_opened_and_only_once(show):
    page = show(results(retrieval_case("one"), retrieval_case("two")))
    assert page.locator("table.ranking").count() == 0
    case = opened(page, "two")
    assert page.locator("table.ranking").count() == 1
    for _ in range(2):
        case.locator("summary").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert [own.locator("table.ranking").count() for own in page.locator(".case").all()] == [1, 1]
    label = case.get_by_role("group", name="combined ranking, case 2")
    assert label.get_attribute("tabindex") == "0"


def test_a_link_draws_its_case_before_it_scrolls_there(show):
    page = show(results(*(retrieval_case(f"case {at}", outcome="failed") for at in range(30))))
    page.evaluate("location.hash = 'c30'")
    expect(page.locator("#c30 table.ranking")).to_have_count(1)
    assert page.locator("table.ranking").count() == 1


def test_what_association_moved_is_told_and_drawn(show):
    case = opened(show(results(retrieval_case())))
    rows = drawn_rows(case.locator("table.ranking"))
    assert rows[0][:4] == ["rank", "expected", "memory", "moved"]
    assert [row[:4] for row in rows[1:]] == [
        ["1", "1", "tea", ""],
        ["2", "2", "lamp", "▲ 1"],
        ["3", "", "sea", "▼ 1"],
        ["missing", "bonus", "cup", ""],
    ]
    assert [row[:3] + row[4:] for row in rows] == expected_rows(MOVED)
    classes = "own => [...own.rows].map(row => row.className)"
    assert case.locator("table.ranking").evaluate(classes) == [
        "",
        "wanted",
        "wanted",
        "",
        "missing",
    ]
    drawing = case.get_by_role("img")
    words = "Moved up: lamp up 1 (PageRank above similarity)"
    order = "combined ranking: order by similarity alone against the final order"
    assert drawing.get_attribute("aria-label") == f"{order}. {words}"
    assert case.locator("figcaption").inner_text() == f"{words}."
    slopes = drawing.locator("path").evaluate_all(
        "all => all.map(one => [one.getAttribute('class'), one.getAttribute('d')])"
    )
    assert slopes == [
        ["slope", "M154 41L226 41"],
        ["slope lifted up", "M154 79L226 60"],
        ["slope down", "M154 60L226 79"],
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [hit("tea", 1, "must", 0.9), hit("sea", 2)],
        [hit("tea", 1, "must", 0.1, None), hit("sea", 2, "", 0.5, None)],
    ],
    ids=["nothing moved", "no association"],
)
def test_nothing_is_drawn_where_nothing_moved(show, rows):
    case = opened(show(results(retrieval_case(rankings=[ranking(*rows)]))))
    assert "moved" not in drawn_rows(case.locator("table.ranking"))[0]
    assert case.locator("svg").count() == 0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.9, ["b90 strong", "0.900"]),
        (-0.3, ["b0", "-0.300"]),
        (7.0, ["b100 strong", "7.000"]),
        (1e30, ["b100 strong", "1e+30"]),
        (-0.0, ["b0", "0.000"]),
        (-0.0001, ["b0", "0.000"]),
        (0.29, ["b29 strong", "0.290"]),
        (0.9996, ["b100 strong", "1.000"]),
    ],
)
def test_bars_are_as_long_as_the_channels(show, value, shown):
    found = ranking(hit("x", 1, similarity=value, pagerank=0.0))
    case = opened(show(results(retrieval_case(rankings=[found]))))
    cell = case.locator("table.ranking td").nth(-2)
    assert cell.evaluate("own => [own.className, own.textContent]") == shown
    bar = "own => getComputedStyle(own).getPropertyValue('--v')"
    length = float(shown[0].split()[0].removeprefix("b")) / 100
    assert float(cell.evaluate(bar) or 0) == length


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_has_no_number_for_has_a_dot(show, value):
    found = ranking(hit("x", 1, similarity=value, pagerank=0.0))
    case = opened(show(results(retrieval_case(rankings=[found]))))
    assert drawn_rows(case.locator("table.ranking"))[1][-2:] == ["·", "0.000"]


def test_an_empty_ranking_says_so(show):
    case = opened(show(results(retrieval_case(rankings=[ranking()]))))
    assert "combined ranking nothing was expected" in case.inner_text().lower()
    assert "Nothing came back." in case.inner_text()


@pytest.mark.parametrize(
    "name", ["a" * 21, "猫" * 11, "👩‍👩‍👧" * 11, "abc猫" * 9, "a" * 20, "猫" * 10]
)
def test_a_long_name_is_cut_beside_the_drawing_and_whole_in_the_table(show, name):
    found = ranking(hit(name, 1, "", 0.1, 0.6), hit("sea", 2, "", 0.5, 0.05))
    case = opened(show(results(retrieval_case(rankings=[found]))))
    assert case.locator("tbody th").first.inner_text() == name
    assert case.locator("svg text").nth(3).text_content() == clip(name, 20)


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_id_is_text_in_table_and_drawing(show, text):
    found = ranking(hit(text, 1, "must", 0.1, 0.6), hit("sea", 2, "", 0.5, 0.05))
    page = show(results(retrieval_case("a", rankings=[found])))
    case = opened(page)
    assert drawn_rows(case.locator("table.ranking"))[1][2] == visible(text)
    assert visible(text) in case.locator("svg").get_attribute("aria-label")
    assert page.title() != "pwned"


def test_the_filter_finds_a_memory_before_and_after_its_case_was_opened(show):
    other = ranking(hit('the <"cup">', 1), missing=[hit("bell", None, "must")])
    page = show(results(retrieval_case("one"), retrieval_case("two", rankings=[other])))
    for _ in range(2):
        for words, count in (('<"cup">', 1), ("bell missing", 1), ("lamp", 1), ("channels", 0)):
            page.get_by_role("searchbox").fill(words)
            expect(matches(page)).to_have_text(f"{count} of 2 cases")
        page.get_by_role("button", name="Clear").click()
        expect(matches(page)).to_have_text("2 cases")
        opened(page, "two")
        page.locator(".case[open] summary").click()


# For those who do not see it.


def test_the_accessibility_tree_carries_the_findings(show):
    page = show(results(errors=[CollectionError("queries/bad.json", "queries/bad.json: broken")]))
    tree = page.locator("body").aria_snapshot()
    for part in (
        'heading "11 of 13 cases passed, 1 file could not be used" [level=1]',
        'navigation "On this page"',
        "main:",
        "search",
        'heading "Files that could not be used" [level=2]',
        'img "recall by tag weight"',
        "recall@3 up to 0.950 (tag 0.1), down to 0.550 (tag 0.9)",
        'img "missing degree over time"',
        "farthest from the reference curve by 0.2: magnitude",
        'rowheader "tag:0.1-variant:0.9"',
        'columnheader "recall"',
    ):
        assert part in tree, part


def test_an_opened_case_is_in_the_accessibility_tree(show):
    page = show()
    case = page.locator(".case", has_text="asks for tea[tag:0.1").first
    assert "lamp" not in case.aria_snapshot()
    case.locator("summary").click()
    tree = case.aria_snapshot()
    for part in (
        "passed: asks for tea[tag:0.1-variant:0.9]",
        'heading "combined ranking 2 of 2 expected and 0 of 1 bonus came back" [level=4]',
        'row "2 2 lamp ▲ 1 0.6000 0.6500 1.000 0.000 0.100 0.600"',
        'row "missing bonus cup',
        "Moved up: lamp up 1 (PageRank above similarity)",
    ):
        assert part in tree, part


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_axe_finds_nothing(show, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    section = Section("comparison", [Table(["", "old"], [["recall@3", "0.9"]])], ["lost: 1"])
    errors = [CollectionError("queries/bad.json", "queries/bad.json: broken")]
    page = show(
        results(errors=errors),
        Ending(["recall@3: short"], ["rr: reached"], [section]),
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )
    everything(page)
    expect(page.locator("figure.slopes")).to_have_count(8)
    found = axe.run(page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]][:5]) for one in found] == []


# Any width, any medium.


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_shadow_shows_where_a_table_has_more(show, scheme):
    page = show(color_scheme=scheme, viewport={"width": 400, "height": 900})
    table = page.locator("#figures .scroll").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()

    def corner(x: float) -> bytes:
        """A piece of a table's edge above all text, as a picture."""
        clip = {"x": round(x), "y": round(box["y"]) + 1, "width": 2, "height": 2}
        found: bytes = page.screenshot(clip=clip)
        return found

    left, right, outside = box["x"], box["x"] + box["width"] - 2, box["x"] - 8
    plain = corner(outside)
    assert corner(left) == plain
    assert corner(right) != plain
    table.evaluate("own => own.scrollLeft = own.scrollWidth")
    assert corner(left) != plain
    assert corner(right) == plain


@pytest.mark.parametrize("make", [results, hostile_results])
@pytest.mark.parametrize("width", [320, 360, 768])
def test_a_phone_needs_no_sideways_scrolling(show, make, width):
    page = show(make(), viewport={"width": width, "height": 700})
    everything(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_tables_and_charts_stay_inside(show):
    page = show(viewport={"width": 360, "height": 700})
    everything(page)
    for own in page.locator(".scroll, figure, pre, dl").all():
        box = own.bounding_box()
        assert box is None or box["x"] + box["width"] <= 360.5


def test_print_opens_what_is_closed(show):
    page = show()
    inside = page.locator(".case .inside").first
    assert not inside.is_visible()
    assert page.locator("table.ranking").count() == 0
    page.emulate_media(media="print")
    height = inside.evaluate("own => own.getBoundingClientRect().height")
    assert height > 50
    assert page.locator("#filter").is_hidden()
    assert page.pdf()[:5] == b"%PDF-"
    assert page.locator("table.ranking").count() == 8


def test_what_the_filter_hides_is_not_drawn_for_print(show):
    page = show()
    page.get_by_role("searchbox").fill("both tag:0.9")
    expect(matches(page)).to_have_text("1 of 13 cases")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("table.ranking").count() == 1


# Hostile texts.


def test_hostile_texts_are_shown_and_do_nothing(show):
    page = show(hostile_results())
    everything(page)
    expect(page.locator("table.ranking")).to_have_count(len(TEXTS))
    page.wait_for_timeout(200)
    assert "pwned" not in page.title()
    assert page.locator("img, b:has-text('bold')").count() == 0
    assert page.locator("script").count() == 2
    text = page.locator("main").inner_text()
    for hostile in (HOSTILE, QUOTED, "left\\u202eright\\u2066", "\\x1b[31mred", "half \\ud800 a"):
        assert hostile in text


def test_hostile_texts_can_be_searched(show):
    page = show(hostile_results())
    page.get_by_role("searchbox").fill("</script>")
    expect(matches(page)).to_have_text(f"3 of {3 * len(TEXTS)} cases")


# Many cases.


def test_a_thousand_cases_stay_usable(show):
    page = show(results(*(retrieval_case(f"case {number}") for number in range(1000))))
    page.get_by_role("searchbox").fill("case 999")
    expect(matches(page)).to_have_text("1 of 1000 cases")
