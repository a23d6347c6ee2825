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


def test_a_listing_of_a_file_that_is_not_there() -> None:
    assert listing(FILE, [ONE]) == "q.json: $.a: is wrong"
    assert listing(FILE, [ONE, TWO]).split("\n") == [
        "q.json: 2 faults",
        "  q.json: $.a: is wrong",
        '  q.json: $.b (case "c"): is missing',
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
    below = ["g.json: $.a: is wrong", 'g.json: $.b (case "c"): is missing']
    assert listing(FILE, [fault]).split("\n") == [
        "q.json: $.graph_path: g.json: 2 faults",
        *(f"  {line}" for line in below),
    ]
    assert listing(FILE, [fault, ONE]).split("\n") == [
        "q.json: 2 faults",
        "  q.json: $.graph_path: g.json: 2 faults",
        *(f"    {line}" for line in below),
        "  q.json: $.a: is wrong",
    ]


def test_a_listing_tells_line_and_column(tmp_path) -> None:
    query, memories = tmp_path / "q\x1b.json", tmp_path / "g.json"
    query.write_text('{"graph_path": "g.json",\n "a": 1, "b": 2}', "utf-8")
    memories.write_text('{"b": 1,\n\n "a": 1}', "utf-8")
    shown = f"{tmp_path}/q\\x1b.json"
    assert listing(query, [ONE]) == f"{shown}:2:7: $.a: is wrong"
    assert listing(query, [ONE, TWO]).split("\n") == [
        f"{shown}: 2 faults",
        f"  {shown}:2:7: $.a: is wrong",
        f'  {shown}:2:15: $.b (case "c"): is missing',
    ]
    only = FixtureError(memories, [ONE]).at("$.graph_path")
    assert listing(query, [only]) == f"{shown}:1:16: $.graph_path: {memories}:3:7: $.a: is wrong"
    both = FixtureError(memories, [ONE, TWO]).at("$.graph_path")
    assert listing(query, [both]).split("\n") == [
        f"{shown}:1:16: $.graph_path: {memories}: 2 faults",
        f"  {memories}:3:7: $.a: is wrong",
        f'  {memories}:1:7: $.b (case "c"): is missing',
    ]


def test_owned_by() -> None:
    assert owned_by('case "x"', [ONE]) == [Fault("$.a", "is wrong", 'case "x"')]


def test_suggestion() -> None:
    assert suggestion("mem_rst", ["mem_rust", "mem_python"]) == '; did you mean "mem_rust"?'
    assert suggestion("zzz", ["mem_rust"]) == ""
    assert suggestion("x", []) == ""
