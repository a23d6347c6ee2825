from __future__ import annotations

from pathlib import Path

from projects import unprintable

from pytest_soulmem.faults import Fault, FixtureError, listing, owned_by, suggestion, summary

FILE = Path("q.json")
ONE, TWO = Fault("$.a", "is wrong"), Fault("$.b", "is missing", 'case "c"')


def test_a_fault_as_text() -> None:
    assert str(ONE) == "$.a: is wrong"
    assert str(TWO) == '$.b (case "c"): is missing'
    assert str(Fault("", "is empty")) == "is empty"


def test_a_fault_is_one_line_and_safe_to_print() -> None:
    text = str(Fault("$", "\x1b[31m\n\u202e", 'node "\r\x9b"'))
    assert unprintable(text) == []
    assert "\n" not in text
    assert text == '$ (node "\\x0d\\x9b"): \\x1b[31m\\x0a\\u202e'


def test_a_listing() -> None:
    assert listing(FILE, [ONE]) == "q.json: $.a: is wrong"
    assert listing(FILE, [ONE, TWO]).split("\n") == [
        "q.json: 2 faults",
        "  $.a: is wrong",
        '  $.b (case "c"): is missing',
    ]
    assert listing(Path("a\x1b.json"), [ONE]) == "a\\x1b.json: $.a: is wrong"


def test_a_summary_is_one_line() -> None:
    assert summary([ONE]) == "$.a: is wrong"
    assert summary([TWO, ONE]) == '2 faults; the first: $.b (case "c"): is missing'


def test_an_error_shows_its_faults() -> None:
    error = FixtureError(FILE, [ONE, TWO])
    assert str(error) == listing(FILE, [ONE, TWO])
    assert error.reason == summary([ONE, TWO])


def test_the_only_fault_of_another_file_stays_in_the_line() -> None:
    fault = FixtureError(Path("g.json"), [ONE]).at("$.graph_path")
    assert listing(FILE, [fault]) == "q.json: $.graph_path: g.json: $.a: is wrong"


def test_several_faults_of_another_file_stand_below() -> None:
    fault = FixtureError(Path("g.json"), [ONE, TWO]).at("$.graph_path")
    below = ["$.a: is wrong", '$.b (case "c"): is missing']
    assert listing(FILE, [fault]).split("\n") == [
        "q.json: $.graph_path: g.json: 2 faults",
        *(f"  {line}" for line in below),
    ]
    assert listing(FILE, [fault, ONE]).split("\n") == [
        "q.json: 2 faults",
        "  $.graph_path: g.json: 2 faults",
        *(f"    {line}" for line in below),
        "  $.a: is wrong",
    ]


def test_owned_by() -> None:
    assert owned_by('case "x"', [ONE]) == [Fault("$.a", "is wrong", 'case "x"')]


def test_suggestion() -> None:
    assert suggestion("mem_rst", ["mem_rust", "mem_python"]) == '; did you mean "mem_rust"?'
    assert suggestion("zzz", ["mem_rust"]) == ""
    assert suggestion("x", []) == ""
