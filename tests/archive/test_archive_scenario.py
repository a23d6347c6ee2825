"""What a failing scenario says."""

from __future__ import annotations

import archive_mutants as mutants
from archive_helpers import ARCHIVE, FLAG, PUT, TRANSFER, outcome

from pytest_soulmem.archive.chain import SqliteChain
from pytest_soulmem.archive.fixture import Cast
from pytest_soulmem.archive.scenario import run_folder

GC = {"step": "gc", "min_age_hours": 0}
UNUSABLE = [{"subject": "水平", "relation": "分割", "object": "成"}]


def test_a_failure_says_what_was_told_and_what_there_is():
    found = outcome(
        PUT,
        TRANSFER,
        {**ARCHIVE, "expect": {"document": "kept", "written": 0, "released": []}},
        chain=mutants.ReleasesThoughNothingWritten,
        documents=[{"name": "notes", "text": "一张图", "triples": UNUSABLE}],
    )
    assert found.failure.reason == (
        "steps[2] archive document notes: document: gone; expected kept"
    )
    assert found.failure.text.splitlines() == [
        "steps[2] archive document notes: document: gone; expected kept",
        "  also released: flag was not expected",
        "chain archive_mutants.ReleasesThoughNothingWritten",
        "",
        "ok      [0] put media flag context chat",
        "ok      [1] transfer context chat document notes",
        "FAILED  [2] archive document notes",
        "        told: written 0, skipped 1, document gone",
        "        bound none; released flag; kept none",
        "",
        "what the chain holds now:",
        "  documents: none",
        "  stored: flag",
        "  files: flag",
    ]


def test_the_graph_and_references_are_shown():
    found = outcome(PUT, TRANSFER, {**ARCHIVE, "expect": {"document": "kept"}})
    lines = found.failure.text.splitlines()
    assert "  graph_sentence -> flag" in lines
    assert any(line.startswith("  图片 ") and line.endswith("-描述-> 三色旗") for line in lines)


def test_both_entries_of_recall_are_judged():
    recall = {"step": "recall", "entity": "{entity:flag}", "expect": {"recalled": ["flag"]}}
    steps = (PUT, TRANSFER, ARCHIVE, recall)
    assert outcome(*steps).failure is None
    by_itself = outcome(*steps, chain=mutants.RecallsOnlyByItself).failure.reason
    assert by_itself.endswith("recalled by recall: flag is missing")
    when_asked = outcome(*steps, chain=mutants.RecallsOnlyWhenAsked).failure.reason
    assert when_asked.endswith("recalled by context_for: flag is missing")


def test_every_expectation_can_fail():
    """None of them is read and then forgotten."""
    wrong = {
        "document": "kept",
        "written": 9,
        "skipped": 9,
        "bound": [],
        "released": [],
        "kept": {"flag": "not_bound"},
        "lookup_failed": True,
        "stored": [],
        "files": [],
        "documents": ["notes"],
        "references": {"flag": []},
        "reference_counts": {"flag": 9},
        "entities": [],
        "graph": [],
    }
    for name, value in wrong.items():
        found = outcome(PUT, TRANSFER, {**ARCHIVE, "expect": {name: value}})
        assert found.failure, name
    assert outcome(PUT, {**GC, "expect": {"collected": ["flag"]}}).failure


def test_a_crash_point_that_is_not_passed_fails():
    crash = {"step": "crash_at", "point": "gc.unlinked", "during": GC}
    found = outcome(PUT, crash)
    assert found.failure.reason.endswith("the point gc.unlinked was not passed")


def test_a_wrong_digest_fails():
    class Md5(SqliteChain):
        def put(self, *arguments):
            super().put(*arguments)
            return "d41d8cd98f00b204e9800998ecf8427e"

    assert "not the SHA-256" in outcome(PUT, chain=Md5).failure.reason


def test_a_chain_without_crash_points_is_judged_up_to_the_crash():
    class Immortal(SqliteChain):
        crash_points = frozenset()

    crash = {"step": "crash_at", "point": "archive.bound", "during": ARCHIVE}
    found = outcome(PUT, TRANSFER, crash, ARCHIVE, chain=Immortal)
    assert found.failure is None
    assert found.skipped == (
        f"steps[2] crashes at archive.bound; {Immortal.__module__}.{Immortal.__qualname__} has "
        "no such crash point; it and what follows was not judged"
    )
    early = outcome({**PUT, "expect": {"stored": []}}, TRANSFER, crash, chain=Immortal)
    assert early.failure
    assert not early.skipped


def test_a_chain_that_tells_no_files_is_not_asked_for_them():
    class Silent(SqliteChain):
        files = None

    assert outcome({**PUT, "expect": {"files": []}}, chain=Silent).failure is None


def test_time_moves_only_when_a_step_says_so():
    put = {"step": "put", "media": "flag"}
    later = {"step": "advance_hours", "hours": 0.5}
    assert outcome(put, {**GC, "expect": {"collected": []}}).failure is None
    assert outcome(put, later, {**GC, "expect": {"collected": ["flag"]}}).failure is None


def test_a_description_enters_the_markers_of_later_documents():
    describe = {"step": "describe", "media": "flag", "description": "一面\n**新旗**"}
    graph = [["{entity:flag}", "类型", "图片"], ["{entity:flag}", "描述", "一面 新旗"]]
    late = outcome(PUT, describe, TRANSFER, {**ARCHIVE, "expect": {"graph": graph}})
    assert late.failure is None
    early = outcome(PUT, TRANSFER, describe, {**ARCHIVE, "expect": {"graph": graph}})
    assert early.failure


def test_unknown_media_are_named_by_their_digest():
    assert Cast().media_name("ab" * 32) == "unknown media abababababab"


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_soulmem.archive.scenario._MEMORY", tmp_path)
    outcome(PUT, TRANSFER, {**ARCHIVE, "expect": {"document": "kept"}}, media=[FLAG])
    assert list(tmp_path.iterdir()) == []
    with run_folder() as folder:
        assert folder.startswith(str(tmp_path))
