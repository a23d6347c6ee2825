"""The archive chain as a kind of fixture: from an archive file to verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from pytest_soulmem.archive.authoring import advice, example, faults, schema
from pytest_soulmem.archive.fixture import ArchiveFile, Scenario, load_archive_file
from pytest_soulmem.archive.result import ArchiveResult, System
from pytest_soulmem.archive.steps import as_json
from pytest_soulmem.cases import digest
from pytest_soulmem.kinds import Failure, Progress, Verdict
from pytest_soulmem.running import AnyItem, CaseItem, Judged, LawfulRun, LawItem
from pytest_soulmem.users_code import Misbehaviour, ask_hook

# hypothesis, sqlite3 and filelock wait until a case is judged.
if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.archive.clock import Clock
    from pytest_soulmem.archive.machine import Findings
    from pytest_soulmem.archive.subject import Subject
    from pytest_soulmem.settings import Settings

__all__ = [
    "Result",
    "advice",
    "example",
    "faults",
    "open_run",
    "recognises",
    "schema",
]

Result = ArchiveResult


def recognises(document: object) -> bool:
    """Whether a document is an archive file, whole or faulty."""
    return isinstance(document, dict) and "test_cases" in document


def open_run(config: pytest.Config, settings: Settings, progress: Progress) -> ArchiveRun:
    """Start a session's run."""
    return ArchiveRun(config, settings)


_Item: TypeAlias = Judged[ArchiveFile, Scenario]


class ArchiveRun(LawfulRun[ArchiveFile, Scenario]):
    """A session's chains: one for each scenario, started anew after each crash."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        super().__init__(config, settings)
        self._findings: dict[str, Findings | Misbehaviour] = {}
        """By file: one search tries all of its laws, and each item tells of its own."""

    def cases(self, path: Path, document: object) -> Sequence[AnyItem[ArchiveFile, Scenario]]:
        """The scenarios of an archive file, then its laws."""
        file = load_archive_file(path, document)
        # Without media and documents there is nothing to try a law on.
        return self._items(path, file, file.cases, file.laws if file.cast.media else ())

    def _open_chain(self, path: Path, clock: Clock) -> Subject:
        from pytest_soulmem.archive.chain import SqliteChain
        from pytest_soulmem.archive.subject import Subject, as_subject

        hook = self._config.hook.pytest_soulmem_archive
        found = ask_hook(
            "pytest_soulmem_archive", lambda: hook(config=self._config, path=path, clock=clock)
        )
        return Subject(SqliteChain(path, clock)) if found is None else as_subject(found)

    def _judge_case(self, item: CaseItem[ArchiveFile, Scenario]) -> Verdict:
        from pytest_soulmem.archive.scenario import run_scenario

        outcome = run_scenario(item.case, item.file.cast, self._open_chain)
        result = ArchiveResult(
            system=System(outcome.chain), counts=outcome.counts, unsupported=outcome.skipped
        )
        return _verdict(item, result, outcome.failure)

    def _judge_law(self, item: LawItem[ArchiveFile]) -> Verdict:
        from pytest_soulmem.archive.machine import Domain, try_laws

        if item.place not in self._findings:
            domain = Domain(self._open_chain, item.file.cast)
            try:
                self._findings[item.place] = try_laws(domain, item.file.laws, item.place)
            except Misbehaviour as error:
                self._findings[item.place] = error
        found = self._findings[item.place]
        if isinstance(found, Misbehaviour):
            raise found
        result = ArchiveResult(system=System(found.chain), unsupported=found.lacking(item.name))
        return _verdict(item, result, found.failures.get(item.name))

    def _misbehaved(self, item: _Item, failure: Failure) -> Verdict:
        return _verdict(item, ArchiveResult(), failure)


def _verdict(item: _Item, result: ArchiveResult, failure: Failure | None) -> Verdict:
    kind = "law" if isinstance(item, LawItem) else "scenario"
    properties: dict[str, str | int | float] = {"kind": kind}
    if result.system:
        properties["chain"] = result.system.chain
    if result.counts:
        properties.update(msgspec.structs.asdict(result.counts))
    return Verdict(
        failure,
        properties,
        msgspec.to_builtins(msgspec.structs.replace(result, **{kind: item.name})),
        skipped=result.unsupported,
        fingerprint=_fingerprint(item),
    )


def _fingerprint(item: _Item) -> str:
    """A digest of the media, the documents and the steps, or of a law and what it is tried on."""
    told = item.file.cast.told
    if isinstance(item, LawItem):
        return digest(item.name, told)
    return digest(told, [as_json(step) for step in item.case.steps])
