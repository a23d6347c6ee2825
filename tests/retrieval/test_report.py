"""The retrieval part of the terminal report."""

import msgspec
import pytest

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting.table import lines
from pytest_soulmem.retrieval.outcome import AbstractMetrics, ActionMetrics, Metrics, figures
from pytest_soulmem.retrieval.report import section
from retrieval.builders import at_k, outcome


def record(file="q.json", passed=True, **changes):
    own = outcome(**changes)
    return {
        "nodeid": f"{file}::case",
        "outcome": "passed" if passed else "failed",
        "figures": figures(own),
        **msgspec.to_builtins(own),
    }


def tag(value):
    """What an outcome says of a weight set."""
    variant = round(1 - value, 6)
    return {"weights": f"tag:{value}-variant:{variant}", "tag": value, "variant": variant}


def scored(ndcg, rr=1.0, **changes):
    """A record with these two figures."""
    return record(metrics=Metrics(rr, (at_k(1, ndcg=1 - ndcg), at_k(10, ndcg=ndcg))), **changes)


def negative(**changes):
    return record(negative=True, metrics=None, expected=(), **changes)


def rows(found, position=0):
    """The rows of a table by their first cell, each as a dictionary."""
    table = found.tables[position]
    return {row[0]: dict(zip(table.header[1:], row[1:], strict=True)) for row in table.rows}


def test_the_kind_declares_every_figure():
    full = outcome(
        metrics=Metrics(1.0, (at_k(7),)),
        actions=ActionMetrics(1.0, ((7, 1.0),)),
        abstract=AbstractMetrics(1.0, 1.0),
    )
    (kind,) = (kind for kind in KINDS if kind.name == "retrieval")
    assert {name.replace("@7", "@K") for name in figures(full)} == set(kind.figures)


def test_one_row_with_the_means():
    found = section([scored(1.0), scored(0.5, rr=0.5, passed=False)])
    (table,) = found.tables
    assert table.title == "q.json  (fake; mode full; check order)"
    assert rows(found) == {
        "tag:0.3-variant:0.7": {
            "passed": "1/2",
            **{
                f"{name}@{k}": "0.000"
                for name in ("recall", "precision", "success")
                for k in (1, 10)
            },
            "ndcg@1": "0.250",
            "ndcg@10": "0.750",
            "rr": "0.750",
        }
    }
    assert found.title == "retrieval"
    assert found.notes == []
    assert table.marked == frozenset()


def test_columns_are_grouped_by_metric():
    header = section([scored(1.0)]).tables[0].header
    assert header == [
        "weights",
        "passed",
        *(f"{name}@{k}" for name in ("recall", "precision", "ndcg", "success") for k in (1, 10)),
        "rr",
    ]


def test_negative_cases_are_counted_but_left_out_of_the_means():
    found = section([scored(0.8), negative(retrieved=("x",)), negative(retrieved=())])
    (row,) = rows(found).values()
    assert (row["passed"], row["ndcg@10"]) == ("3/3", "0.800")
    assert found.notes == ["2 negative case(s), left out of every mean; something came back in 1"]


def test_negative_cases_alone_have_no_figures():
    found = section([negative()])
    assert found.tables[0].header == ["weights", "passed"]


def test_one_table_per_file_and_one_row_per_weight_set():
    found = section(
        [
            scored(0.1, file="a.json", **tag(0.1)),
            scored(0.2, file="a.json", **tag(0.2)),
            scored(0.3, file="a.json", **tag(0.1)),
            scored(0.4, file="b.json"),
        ]
    )
    assert [table.title.split()[0] for table in found.tables] == ["a.json", "b.json"]
    assert {label: row["ndcg@10"] for label, row in rows(found).items()} == {
        "tag:0.1-variant:0.9": "0.200",
        "tag:0.2-variant:0.8": "0.200",
    }
    assert list(rows(found, 1)) == ["tag:0.3-variant:0.7"]


def swept(*pairs):
    """The marked rows of a sweep, from each weight set's nDCG and reciprocal rank."""
    found = section([scored(ndcg, rr, **tag(n / 10)) for n, (ndcg, rr) in enumerate(pairs)])
    (table,) = found.tables
    starred = {position for position, row in enumerate(table.rows) if row[0].endswith(" *")}
    assert starred == table.marked
    return sorted(starred), found.notes


def test_the_best_row_has_the_highest_ndcg_at_the_largest_k():
    note = "* best row(s) of a sweep: highest nDCG at the largest k, then highest RR"
    assert swept((0.2, 1.0), (0.9, 0.1), (0.5, 0.5)) == ([1], [note])


def test_reciprocal_rank_breaks_ties():
    assert swept((0.9, 0.2), (0.9, 0.3), (0.1, 1.0))[0] == [1]


def test_equal_best_rows_are_all_marked_but_never_all_rows():
    assert swept((0.9, 0.3), (0.9, 0.3), (0.1, 1.0))[0] == [0, 1]
    assert swept((0.9, 0.3), (0.9, 0.3))[0] == []
    assert swept((0.1 + 0.2, 1), (0.3, 1), (0.2, 1))[0] == [0, 1]


def test_without_a_sweep_nothing_is_marked():
    assert swept((0.9, 0.3)) == ([], [])


def test_a_sweep_without_a_best_row_needs_no_note():
    assert swept((0.9, 0.3), (0.9, 0.3))[1] == []


def test_actions_and_abstract_situations_have_their_own_means():
    found = section(
        [
            record(actions=ActionMetrics(1.0, ((5, 0.5),)), abstract=AbstractMetrics(1.0, 0.0)),
            record(actions=ActionMetrics(0.0, ((5, 0.0),))),
            record(abstract=AbstractMetrics(0.0, None)),
            record(),
        ]
    )
    (row,) = rows(found).values()
    assert row["action hit"] == "0.500"
    assert row["action recall@5"] == "0.250"
    assert row["abstract"] == "0.500"
    assert row["direct"] == "0.000"


def test_a_figure_that_a_row_lacks():
    found = section([record(**tag(0.1), abstract=AbstractMetrics(1.0, 1.0)), record(**tag(0.2))])
    assert rows(found)["tag:0.2-variant:0.8"]["abstract"] == "·"


def test_further_overrides_stand_in_a_legend():
    label = "tag:0.3-variant:0.7-sem_concept:0.9"
    (table,) = section([scored(0.5, weights=label), scored(0.6, **tag(0.2))]).tables
    assert [row[0] for row in table.rows] == ["tag:0.3-variant:0.7 (1)", "tag:0.2-variant:0.8 *"]
    assert table.notes == ["(1) sem_concept:0.9"]


def test_settings_that_differ_between_cases():
    found = section([record(mode="full"), record(mode="embedding", check="hit")])
    assert found.tables[0].title == "q.json  (fake; mode full, embedding; check order, hit)"


def test_notes():
    broken = {"nodeid": "q.json::x", "outcome": "failed"}
    found = section([record(actions_unjudged=True, mode="embedding"), broken])
    assert found.notes == [
        "1 case(s) expect actions, but none were inferred (mode embedding)",
        "1 case(s) could not run: see their failures",
    ]
    (row,) = rows(found).values()
    assert row["passed"] == "1/1"


def test_only_broken_cases():
    found = section([{"nodeid": "q.json::x", "outcome": "failed"}])
    assert found.tables == []
    assert found.notes == ["1 case(s) could not run: see their failures"]


@pytest.mark.parametrize("name", ["\x1b[31m.json", "a\u202eb.json"])
def test_hostile_names_are_made_visible(name):
    (table,) = section([record(file=name)]).tables
    assert table.title.startswith(("\\x1b[31m.json  (", "a\\u202eb.json  ("))


def test_figures_are_in_the_order_of_the_columns():
    whole = outcome(actions=ActionMetrics(1.0, ((5, 1.0),)), abstract=AbstractMetrics(1.0, 1.0))
    assert list(figures(whole)) == [
        "recall@5",
        "precision@5",
        "ndcg@5",
        "success@5",
        "rr",
        "action hit",
        "action recall@5",
        "abstract",
        "direct",
    ]
    assert figures(outcome(metrics=None)) == {}


def test_tables_can_be_written():
    (table,) = section([scored(0.5, **tag(0.1)), scored(0.6, **tag(0.2))]).tables
    assert [line.split()[0] for line in lines(table)] == [
        "weights",
        "tag:0.1-variant:0.9",
        "tag:0.2-variant:0.8",
    ]


def test_damping_where_nothing_walks_is_told():
    label = {"weights": "tag:0.3-variant:0.7-damping:0.9"}
    found = section([record(mode="embedding", **label), record(**label), record(mode="embedding")])
    assert found.notes == ["1 case(s) set damping in mode embedding, where PageRank does not run"]
