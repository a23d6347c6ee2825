from msgspec.structs import replace

from pytest_soulmem.reporting.tuning import ranking_section
from reporting.samples import CASE


def case(name, label, file="queries/a.json", outcome="passed", **figures):
    return replace(
        CASE,
        nodeid=f"{file}::{name}[{label}]" if label else f"{file}::{name}",
        file=file,
        outcome=outcome,
        figures=figures,
        variation=label,
    )


def sweep(sets, **kwargs):
    return [
        case(str(number), label, rr=value, **kwargs)
        for label, values in sets.items()
        for number, value in enumerate(values)
    ]


def test_sets_are_ranked_and_those_that_cannot_be_told_apart_are_noted():
    many = [0.5, 0.6, 0.7, 0.8] * 10
    section = ranking_section(
        "rr",
        sweep(
            {
                "poor": [value - 0.4 for value in many],
                "best": many,
                "near": [value + (0.2 if n % 2 else -0.21) for n, value in enumerate(many)],
            }
        ),
    )
    (table,) = section.tables
    assert [row[:3] for row in table.rows] == [
        ["1", "best", "0.6500"],
        ["2 =", "near", "0.6450"],
        ["3", "poor", "0.2500"],
    ]
    assert table.rows[2][4:] == ["0.4000", "0.4000 to 0.4000"]
    assert table.marked == {0, 1}
    assert table.title == "queries/a.json  (40 cases)"


def test_equal_sets_keep_the_order_of_the_file():
    (table,) = ranking_section("rr", sweep({"b": [1, 0], "a": [1, 0]})).tables
    assert [row[0:2] for row in table.rows] == [["1", "b"], ["2 =", "a"]]


def test_only_cases_that_every_set_has_are_compared():
    cases = [*sweep({"a": [1.0, 0.0], "b": [0.5, 0.5]}), case("only-a", "a", rr=0.0)]
    (table,) = ranking_section("rr", cases).tables
    assert [row[2] for row in table.rows] == ["0.5000", "0.5000"]


def test_each_file_has_a_table_of_its_own():
    cases = [*sweep({"a": [1], "b": [0]}), *sweep({"a": [0], "b": [1]}, file="queries/z.json")]
    tables = ranking_section("rr", cases).tables
    assert [table.rows[0][1] for table in tables] == ["a", "b"]


def test_passing_can_rank_too():
    cases = [case("x", "a", outcome="failed"), case("x", "b")]
    (table,) = ranking_section("passed", cases).tables
    assert [row[1] for row in table.rows] == ["b", "a"]


def test_nothing_to_rank_is_told():
    for cases in (
        [],
        [case("x", "", rr=1.0)],
        sweep({"a": [1.0]}),
        [case("x", "a", rr=1.0), case("y", "b", rr=1.0)],
    ):
        section = ranking_section("rr", cases)
        assert not section.tables
        assert section.notes == ["no file sweeps weights over cases that have rr"]
