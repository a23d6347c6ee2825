import argparse
import json
import re

import msgspec
import pytest

from pytest_soulmem.reporting.baseline import (
    Allowance,
    BaselineError,
    baseline_path,
    compare,
    comparison_section,
    find_baseline,
    load_baseline,
    of_one_system,
    parse_allowance,
    parse_name,
    regressions,
)
from pytest_soulmem.reporting.results import Results, encode
from reporting.samples import CASE


def case(name, outcome="passed", system="e5", fingerprint="f", **figures):
    return msgspec.structs.replace(
        CASE,
        nodeid=f"queries/a.json::{name}",
        outcome=outcome,
        result={"system": {"name": system, "model": "m", "fingerprint": "1"}},
        figures=figures,
        fingerprint=fingerprint,
    )


def results(*cases):
    return Results(
        schema="pytest-soulmem-results-v1",
        version="0",
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        settings={},
        cases=cases,
        means=(),
        errors=(),
    )


@pytest.mark.parametrize(
    ("text", "allowance"),
    [
        ("recall@5:1%", Allowance("recall@5", 1.0, True)),
        ("rr:0.01", Allowance("rr", 0.01, False)),
        ("rr:0", Allowance("rr", 0.0, False)),
    ],
)
def test_allowances_as_they_are_written(text, allowance):
    assert parse_allowance(text) == allowance


@pytest.mark.parametrize("text", ["", "rr", "rr:", "rr:x", "rr:-1", "rr:nan", "rr:inf", ":1%"])
def test_what_is_no_allowance(text):
    with pytest.raises(argparse.ArgumentTypeError, match="recall@5:1%"):
        parse_allowance(text)


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "a b", "-x"])
def test_names_that_could_not_be_file_names(name):
    with pytest.raises(argparse.ArgumentTypeError):
        parse_name(name)


def test_a_name_may_be_chinese():
    assert parse_name("基线-1.0") == "基线-1.0"


def test_what_was_lost_and_won():
    old = results(case("a"), case("b", "failed"), case("c"), case("d", "error"))
    new = results(case("a", "failed"), case("b"), case("c"), case("d", "failed"))
    comparison = compare(old, new)
    assert comparison.lost == ["queries/a.json::a"]
    assert comparison.won == ["queries/a.json::b"]


def test_cases_that_changed_came_or_went_are_told_and_not_compared():
    old = results(case("same", rr=1.0), case("changed", rr=1.0), case("gone", rr=1.0))
    new = results(case("same", rr=0.5), case("changed", fingerprint="g", rr=0.0), case("new"))
    comparison = compare(old, new, [own.nodeid for own in new.cases])
    assert comparison.values("rr") == [(1.0, 0.5)]
    notes = "\n".join(comparison_section("base", comparison).notes)
    assert "changed since, not compared: 1\n  queries/a.json::changed" in notes
    assert "not in the baseline: 1\n  queries/a.json::new" in notes
    assert "only in the baseline: 1\n  queries/a.json::gone" in notes


@pytest.mark.parametrize(
    ("then", "now", "told"), [("1", "2", True), ("1", "1", False), (None, "2", False)]
)
def test_where_the_graph_changed_that_is_told(then, now, told):
    old, new = case("a"), case("a", fingerprint="g")
    for own, graph in ((old, then), (new, now)):
        own.result["graph"] = graph
    comparison = compare(results(old), results(new))
    assert comparison.changed == ["queries/a.json::a"]
    notes = "\n".join(comparison_section("base", comparison).notes)
    assert ("the graph of 1 of them changed" in notes) is told


def test_the_cases_that_moved_most_are_told_with_the_figure_that_did():
    before = [case(str(n), rr=0.5, recall=0.5) for n in range(14)]
    after = [case(str(n), rr=0.5 - n / 100, recall=0.5 - n / 200) for n in range(12)]
    after += [case("12", rr=0.75, recall=0.25), case("13", rr=0.50004, recall=0.5)]
    notes = comparison_section("base", compare(results(*before), results(*after))).notes
    fell = notes.index("fell most: 12")
    assert notes[fell + 1 : fell + 3] == [
        "  recall 0.5000 -> 0.2500  queries/a.json::12",
        "  rr 0.5000 -> 0.3900  queries/a.json::11",
    ]
    assert notes[fell + 11 :] == [
        "  and 2 more",
        "rose most: 1",
        "  rr 0.5000 -> 0.7500  queries/a.json::12",
    ]


def test_cases_that_were_not_selected_are_counted_and_not_named():
    elsewhere = msgspec.structs.replace(CASE, nodeid="queries/b.json::x", file="queries/b.json")
    old = results(case("a"), case("b"), case("gone"), elsewhere)
    new = results(case("a"))
    held = ["queries/a.json::a", "queries/a.json::b"]
    notes = comparison_section("base", compare(old, new, held)).notes
    assert notes == [
        "only in the baseline: 1",
        "  queries/a.json::gone",
        "in the baseline, not run now: 2 case(s)",
    ]
    assert comparison_section("base", compare(old, new)).notes == [
        "in the baseline, not run now: 3 case(s)"
    ]


def test_a_case_that_could_not_run_is_lost_and_not_changed():
    old = results(case("died", rr=1.0), case("came to life", "error", fingerprint=""))
    new = results(case("died", "failed", fingerprint=""), case("came to life", rr=1.0))
    comparison = compare(old, new)
    assert comparison.changed == []
    assert comparison.lost == ["queries/a.json::died"]
    assert comparison.won == ["queries/a.json::came to life"]


TWO_SYSTEMS = (
    results(case("a", rr=1.0), case("b", rr=0.5)),
    results(case("a", system="bge\x1b", rr=0.0), case("b", "failed", system="bge\x1b", rr=0.25)),
)


def test_another_embedder_is_not_compared():
    comparison = of_one_system(compare(*TWO_SYSTEMS))
    assert not comparison.pairs
    section = comparison_section("base", comparison)
    assert not section.tables
    assert section.notes[:2] == [
        "not compared: retrieval: the baseline was made with e5 m 1, this run with bge\\x1b m 1",
        "to compare two systems, add --soulmem-compare-systems",
    ]
    assert regressions(comparison, [Allowance("rr", 50.0, True)]) == ["rr: nothing to compare"]


def test_another_embedder_is_compared_below_both_names_where_that_is_meant():
    comparison = compare(*TWO_SYSTEMS)
    section = comparison_section("base", comparison)
    (table,) = section.tables
    assert table.title == "retrieval: old is e5 m 1, new is bge\\x1b m 1"
    assert [row[:4] for row in table.rows] == [
        ["passed", "1.0000", "0.5000", "-0.5000"],
        ["rr", "0.7500", "0.1250", "-0.6250"],
    ]
    assert section.notes[:2] == ["lost: 1", "  queries/a.json::b"]
    assert len(regressions(comparison, [Allowance("rr", 50.0, True)])) == 1


def test_one_system_is_compared_without_a_title():
    comparison = compare(TWO_SYSTEMS[0], TWO_SYSTEMS[0])
    assert of_one_system(comparison) == comparison
    (table,) = comparison_section("base", comparison).tables
    assert table.title == ""


def under(name, outcome="passed", **ran):
    """A case with the check or mode that it ran with."""
    found = case(name, outcome, rr=0.5)
    return msgspec.structs.replace(found, result=found.result | ran)


def test_outcomes_of_two_checks_are_not_compared_while_metrics_are():
    old = [under("a", check="hit"), under("b", "failed", check="hit"), under("c", check="exact")]
    new = [under("a", "failed", check="exact"), under("b", check="exact")]
    comparison = compare(results(*old), results(*new, under("c", "failed", check="exact")))
    assert comparison.lost == ["queries/a.json::c"]
    assert comparison.won == []
    assert comparison.values("passed") == [(1.0, 0.0)]
    assert len(comparison.values("rr")) == 3
    notes = comparison_section("base", comparison).notes
    assert notes[0] == (
        "check hit in the baseline, exact now: 2 case(s) left out of passed, lost and won"
    )


def test_where_every_check_differs_there_are_no_outcomes_to_compare():
    comparison = compare(
        results(under("a", check="hit")), results(under("a", "failed", check="none"))
    )
    (table,) = comparison_section("base", comparison).tables
    assert [row[0] for row in table.rows] == ["rr"]
    assert regressions(comparison, [Allowance("passed", 0, False)]) == [
        "passed: nothing to compare"
    ]


def test_a_case_that_could_not_run_has_no_check_and_is_lost():
    comparison = compare(results(under("a", check="hit")), results(case("a", "error")))
    assert comparison.lost == ["queries/a.json::a"]
    assert not comparison.other_checks


def test_modes_are_compared_and_told():
    old, new = results(under("a", mode="full")), results(under("a", "failed", mode="embedding"))
    comparison = compare(old, new)
    assert comparison.lost == ["queries/a.json::a"]
    notes = comparison_section("base", comparison).notes
    assert notes[0] == "mode full in the baseline, embedding now: 1 case(s)"


@pytest.mark.parametrize(
    ("name", "then", "now"), [("similarity_threshold", 0.0, 0.5), ("max_results", 5, 3)]
)
def test_another_setting_of_the_file_is_compared_and_told(name, then, now):
    old = results(under("a", **{name: then}), under("b", **{name: then}), case("older", rr=0.5))
    new = results(*(under(own, **{name: now}) for own in ("a", "b", "older")))
    comparison = compare(old, new)
    assert len(comparison.values("rr")) == len(comparison.values("passed")) == 3
    notes = comparison_section("base", comparison).notes
    assert notes == [f"{name} {then} in the baseline, {now} now: 2 case(s)"]
    assert comparison_section("base", compare(new, new)).notes == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("check", "mode") for value in (7, ["hit"], {})),
        ("similarity_threshold", "0"),
        ("max_results", 0.5),
    ],
)
def test_a_setting_that_is_none_is_told_with_its_place(tmp_path, name, value):
    path = tmp_path / "x.json"
    path.write_bytes(encode(results(case("a"), under("b", **{name: value}))))
    with pytest.raises(BaselineError, match=rf"`\$\.cases\[1\]\.result\.{name}`"):
        load_baseline(path)


def test_the_table_has_old_new_difference_and_interval():
    old = results(*(case(str(n), rr=0.5) for n in range(4)))
    new = results(*(case(str(n), rr=0.5 + n / 10) for n in range(4)))
    (table,) = comparison_section("base", compare(old, new)).tables
    passed, rr = table.rows
    assert passed[:4] == ["passed", "1.0000", "1.0000", "+0.0000"]
    assert rr[:4] == ["rr", "0.5000", "0.6500", "+0.1500"]
    low, high = rr[4].split(" to ")
    assert 0 <= float(low) < 0.15 < float(high) <= 0.3


@pytest.mark.parametrize(
    ("allowance", "falls"),
    [
        (Allowance("rr", 10, True), False),
        (Allowance("rr", 9, True), True),
        (Allowance("rr", 0.08, False), False),
        (Allowance("rr", 0.07, False), True),
        (Allowance("passed", 0, False), False),
    ],
)
def test_a_mean_that_fell_by_more_than_is_allowed(allowance, falls):
    comparison = compare(results(case("a", rr=0.8)), results(case("a", rr=0.72)))
    lines = regressions(comparison, [allowance])
    assert bool(lines) is falls
    if falls:
        assert lines[0].startswith("rr: fell from 0.8000 to 0.7200, by more than")


def test_a_rise_is_no_regression():
    comparison = compare(results(case("a", rr=0.1)), results(case("a", rr=0.9)))
    assert regressions(comparison, [Allowance("rr", 0.0, False)]) == []


def test_a_baseline_is_found_by_name_or_by_path(tmp_path):
    path = baseline_path(tmp_path, "main")
    path.parent.mkdir()
    path.write_bytes(encode(results(case("a"))))
    assert find_baseline(tmp_path, "main", tmp_path / "elsewhere") == path
    assert (
        find_baseline(tmp_path, ".soulmem/main.json", tmp_path) == tmp_path / ".soulmem/main.json"
    )
    assert load_baseline(path).cases[0].nodeid == "queries/a.json::a"
    with pytest.raises(BaselineError, match="saved here: main"):
        find_baseline(tmp_path, "other", tmp_path)


def test_a_file_that_is_no_baseline_is_told(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(msgspec.json.encode({"schema": "pytest-soulmem-results-v0"}))
    with pytest.raises(BaselineError, match="no results file of this version"):
        load_baseline(path)


@pytest.mark.parametrize(
    "system", ["text", 7, ["e5"], True, {"name": 7}, {"name": ["e5"]}, {"name": {}}]
)
def test_a_system_that_is_none_is_told_with_its_place(tmp_path, system):
    path = tmp_path / "x.json"
    whole = results(case("a"), case("b"))
    whole.cases[1].result["system"] = system
    path.write_bytes(encode(whole))
    with pytest.raises(BaselineError) as raised:
        load_baseline(path)
    assert str(raised.value).startswith(f"{path} is no results file of this version: ")
    assert "`$.cases[1].result.system" in str(raised.value)


@pytest.mark.parametrize("system", [None, {}, {"name": "e5"}, {"name": None}])
def test_a_system_that_says_little_is_compared(tmp_path, system):
    path = tmp_path / "x.json"
    whole = results(case("a", rr=1.0))
    whole.cases[0].result["system"] = system
    path.write_bytes(encode(whole))
    assert comparison_section("x", compare(load_baseline(path), whole)).tables


FOREIGN = {
    "empty": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "a deep result": b'{"schema": "pytest-soulmem-results-v1", "settings": ' + b'{"a":' * 100_000,
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_told(tmp_path, name):
    path = tmp_path / "x.json"
    path.write_bytes(FOREIGN[name])
    with pytest.raises(BaselineError, match="no results file of this version"):
        load_baseline(path)


DAMAGES = [
    ("nodeid", 7),
    ("outcome", "fine"),
    ("figures", {"rr": "1"}),
    ("figures", {"rr": None}),
    ("figures", []),
    ("result", []),
    ("fingerprint", None),
]


@pytest.mark.parametrize(("field", "value"), DAMAGES)
def test_a_damaged_field_is_told_with_its_place(tmp_path, field, value):
    path = tmp_path / "x.json"
    document = json.loads(encode(results(case("a"))))
    document["cases"][0][field] = value
    path.write_text(json.dumps(document))
    with pytest.raises(BaselineError, match=re.escape(f"$.cases[0].{field}").replace("0", ".")):
        load_baseline(path)


@pytest.mark.parametrize("figure", ["1e999", "1" * 400])
def test_a_figure_beyond_all_numbers_is_told(tmp_path, figure):
    path = tmp_path / "x.json"
    text = encode(results(case("a", rr=0.25))).decode()
    path.write_text(text.replace("0.25", figure))
    with pytest.raises(BaselineError, match="no results file of this version"):
        load_baseline(path)


def test_a_name_that_no_file_can_have_is_told(tmp_path):
    for name in ("x" * 300, "x" * 300 + "/y", "a\0b"):
        with pytest.raises(BaselineError, match="there is no baseline"):
            find_baseline(tmp_path, name, tmp_path)
