"""A case as reports are given it, for tests to change."""

from pytest_soulmem.reporting.results import CaseResult

CASE = CaseResult(
    nodeid="queries/a.json::x",
    file="queries/a.json",
    kind="retrieval",
    outcome="passed",
    seconds=0.1,
    failure=None,
    result={},
    figures={},
    variation="",
    fingerprint="",
)
