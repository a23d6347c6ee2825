"""What memories and sub-queries say, in short lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.reporting.table import width
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.retrieval.excerpts import (
    LINE_COLUMNS,
    MEMORY_COLUMNS,
    asked,
    memory_excerpt,
)
from retrieval.builders import (
    abstract,
    concept_query,
    graph_of,
    procedure,
    scene_query,
    semantic,
    specific,
    sub_queries_of,
    tag_query,
)


def excerpt(raw):
    return memory_excerpt(graph_of([raw]).nodes[0])


@pytest.mark.parametrize(
    ("memory", "shown"),
    [
        (semantic("n", "Rust", description="a language", aliases=["rs"]), "Rust: a language"),
        (semantic("n", "Rust", description=""), "Rust"),
        (specific("n", "他问我\n Rust 是什么"), "他问我 Rust 是什么"),
        (specific("n", ""), ""),
        (abstract("n", "Location", {"name": "酒馆", "coordinates": "东"}), "酒馆, 东"),
        (abstract("n", "Participant", {"name": "甲", "role": "兵"}), "甲, 兵"),
        (abstract("n", "Environment", {"atmosphere": "静", "tone": "暗"}), "静, 暗"),
        (abstract("n", "Event", {"action": "打", "target": "乙"}), "打, 乙"),
        (procedure("n", "说话"), "说话"),
    ],
)
def test_a_memory_of_every_kind_says_something(memory, shown):
    assert excerpt(memory) == shown


def test_a_long_memory_is_clipped_by_columns_not_characters():
    shown = excerpt(specific("n", "记" * 100))
    assert shown == "记" * (MEMORY_COLUMNS // 2 - 1) + "…"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_an_excerpt_is_one_safe_line(text):
    shown = excerpt(specific("n", text))
    assert shown == visible(shown)
    assert width(shown) <= MEMORY_COLUMNS


def test_what_is_asked():
    raw = [
        concept_query("Rust", "a language", tag=["code", "语言"], priority=3),
        scene_query(
            {
                "narrative": "他问我",
                "location": [{"name": "酒馆"}],
                "participants": [{"name": "甲", "role": "兵"}, {"name": "乙"}],
                "event": [{"action": "问"}],
            },
            {"environment": {"tone": "暗"}},
            {},
        ),
        tag_query("only"),
    ]
    assert asked(sub_queries_of(raw)) == [
        "sub-query 0 asks: priority 3, tags code, 语言",
        "  Semantic Rust: a language",
        "sub-query 1 asks: priority 1, no tags",
        "  Situation 他问我; 酒馆; 甲, 乙; 兵; 问",
        "  Situation 暗",
        "  Situation nothing",
        "sub-query 2 asks: priority 1, tags only",
    ]


def test_what_is_asked_is_safe_and_no_wider_than_a_line():
    long = "很" * 200
    raw = [
        concept_query(f"\x1b[31m{long}", tag=[f"a\u202e{long}"]),
        scene_query({"narrative": long}),
    ]
    lines = asked(sub_queries_of(raw))
    assert len(lines) == 4
    assert all(line.isprintable() and width(line) <= LINE_COLUMNS for line in lines)
    assert lines[1].startswith("  Semantic \\x1b[31m很")
    assert all(line.endswith("…") for line in lines if "很" in line)
