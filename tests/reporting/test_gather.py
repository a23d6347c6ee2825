from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_soulmem.kinds import KINDS
from pytest_soulmem.reporting.gather import Gatherer, attach, attached
from pytest_soulmem.reporting.results import case_result
from pytest_soulmem.retrieval.outcome import Retrieved


def report_of(record: dict[str, Any] | None = None, **fields: Any) -> Any:
    report: Any = SimpleNamespace(duration=0.5, **fields)
    if record is not None:
        report.nodeid = record.get("nodeid", f"a.json::{record['index']}")
        attach(report, record, "passed")
    return report


def test_what_is_attached_is_plain_text_and_reads_back() -> None:
    report = report_of({"kind": "retrieval", "index": 3, "ids": ["记忆\u202e"]})
    assert isinstance(report.soulmem, str)
    assert attached(report) == {
        "kind": "retrieval",
        "index": 3,
        "ids": ["记忆\u202e"],
        "outcome": "passed",
        "seconds": 0.5,
    }
    json.loads(report.soulmem)


@pytest.mark.parametrize("name", ["tea", "记忆\u202e", "half \ud800 a character"])
def test_structs_are_attached_as_plain_data(name: str) -> None:
    report = report_of({"index": 0, "found": [Retrieved(name, 0.5)]})
    record = attached(report)
    assert record is not None
    assert record["found"] == [{"id": name, "score": 0.5}]


@pytest.mark.parametrize("report", [report_of(), SimpleNamespace(soulmem=7), object()])
def test_reports_of_others_hold_nothing(report: object) -> None:
    assert attached(report) is None


def test_records_come_back_in_the_order_of_collection() -> None:
    gatherer = Gatherer()
    assert not gatherer.found_something()
    for index, kind in [(3, "a"), (0, "b"), (2, "a"), (1, "a")]:
        gatherer.pytest_runtest_logreport(report_of({"kind": kind, "index": index}))
    gatherer.pytest_runtest_logreport(report_of())
    assert gatherer.found_something()
    kinds = gatherer.by_kind()
    assert list(kinds) == ["b", "a"]
    assert [record["index"] for record in kinds["a"]] == [1, 2, 3]


def test_what_comes_after_records_were_asked_for_counts_too() -> None:
    """pytest-html asks for them before the files do."""
    gatherer = Gatherer()
    for index in (1, 0):
        gatherer.pytest_runtest_logreport(report_of({"kind": "a", "index": index}))
        assert gatherer.ordered()[0]["index"] == index


def crash_of(nodeid: str, root: Path) -> Any:
    """What pytest-xdist reports of a worker that died."""
    return SimpleNamespace(
        when="???",
        nodeid=nodeid,
        outcome="failed",
        longrepr="worker crashed",
        longreprtext="worker crashed",
        node=SimpleNamespace(config=SimpleNamespace(rootpath=root)),
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_crash_is_a_record_in_its_place(tmp_path: Path, kind: Any) -> None:
    for path, document in kind.load().example(tmp_path / "mine.json").items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), "utf-8")
    (tmp_path / "other.json").write_text("{}")
    gatherer = Gatherer()
    ids = ["test_a.py::x", "other.json::x", "mine.json::a", "mine.json::b"]
    gatherer.pytest_xdist_node_collection_finished(ids)
    kept = report_of({"kind": kind.name, "index": 3, "nodeid": ids[3], "figures": {"rr": 1.0}})
    gatherer.pytest_runtest_logreport(kept)
    for nodeid in ids:
        gatherer.pytest_runtest_logreport(crash_of(nodeid, tmp_path))
    records = gatherer.ordered()
    assert [record["nodeid"] for record in records] == ids[2:]
    for record in records:
        assert (record["kind"], record["outcome"]) == (kind.name, "failed")
        assert record["failure"] == ["worker crashed", "worker crashed"]
    # What the case had found before its worker died stays.
    assert [record["figures"] for record in records] == [{}, {"rr": 1.0}]
    section = kind.load_report().section(records[:1])
    assert section.notes or [table.rows for table in section.tables if table.rows]
    case_result(records[0])


def test_a_file_that_cannot_be_collected_counts_as_found() -> None:
    gatherer = Gatherer()
    for node_id, failed in (("test_a.py", True), ("queries/a.json", False)):
        report: Any = SimpleNamespace(nodeid=node_id, failed=failed, longrepr="x")
        gatherer.pytest_collectreport(report)
    assert not gatherer.found_something()
    broken: Any = SimpleNamespace(nodeid="queries/a.json", failed=True, longrepr="x")
    gatherer.pytest_collectreport(broken)
    assert gatherer.found_something()
