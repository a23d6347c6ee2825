"""The archive chain as a kind of fixture: from an archive file to verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pytest_soulmem.archive.authoring import advice, example, faults, schema
from pytest_soulmem.archive.digests import sha256
from pytest_soulmem.archive.fixture import ArchiveFile, Scenario, load_archive_file
from pytest_soulmem.archive.result import ArchiveResult, System
from pytest_soulmem.archive.steps import as_json
from pytest_soulmem.cases import BrokenCase, broken_verdict
from pytest_soulmem.kinds import Failure, Progress, Verdict
from pytest_soulmem.naming import place_of
from pytest_soulmem.reporting.text import visible

# hypothesis, sqlite3 and filelock wait until a case is judged.
if TYPE_CHECKING:
    import pytest

    from pytest_soulmem.archive.clock import Clock
    from pytest_soulmem.archive.machine import Findings
    from pytest_soulmem.archive.subject import Subject
    from pytest_soulmem.reporting.table import Section
    from pytest_soulmem.settings import Settings
    from pytest_soulmem.users_code import Misbehaviour


def recognises(document: object) -> bool:
    """Whether a document is an archive file, whole or faulty."""
    return isinstance(document, dict) and "test_cases" in document


__all__ = [
    "Result",
    "advice",
    "example",
    "faults",
    "open_run",
    "recognises",
    "schema",
    "section",
]

Result = ArchiveResult


def section(records: Sequence[Mapping[str, Any]]) -> Section:
    """The archive part of the terminal report."""
    from pytest_soulmem.archive.report import archive_section

    return archive_section(records)


def open_run(config: pytest.Config, settings: Settings, progress: Progress) -> ArchiveRun:
    """Start a session's run."""
    return ArchiveRun(config, settings)


@dataclass(frozen=True)
class Item:
    """A scenario of a file, usable or not."""

    file: ArchiveFile
    case: Scenario | BrokenCase
    group: str = ""

    @property
    def name(self) -> str:
        """The item's name."""
        return visible(self.case.name)

    @property
    def fingerprint(self) -> str:
        """A digest of the media, the documents, the steps and what is expected."""
        if isinstance(self.case, BrokenCase):
            return ""
        return _digest(self.file.cast.told, [as_json(step) for step in self.case.steps])


@dataclass(frozen=True)
class LawItem:
    """A law that is tried on a file's media and documents."""

    file: ArchiveFile
    name: str
    key: str
    """Tells this file from all others, on every machine."""
    group: str = "laws"

    @property
    def fingerprint(self) -> str:
        """A digest of the law and of what it is tried on."""
        return _digest(self.name, self.file.cast.told)


def _digest(*parts: object) -> str:
    return sha256(msgspec.json.encode(parts))[:16]


AnyItem: TypeAlias = Item | LawItem


class ArchiveRun:
    """A session's chains: one for each scenario, started anew after each crash."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings
        self._findings: dict[str, Findings | Misbehaviour] = {}
        """By file: one search tries all of its laws, and each item tells of its own."""

    def cases(self, path: Path, document: object) -> Sequence[AnyItem]:
        """The scenarios of an archive file, then its laws."""
        file = load_archive_file(path, document)
        items: list[AnyItem] = [Item(file, case) for case in file.cases]
        place = place_of(path, self._config.rootpath)
        # Without media and documents there is nothing to try a law on.
        if self._settings.laws and file.cast.media:
            items += [LawItem(file, law, place) for law in file.laws]
        return items

    def prepare(self, cases: Sequence[AnyItem]) -> None:
        """Nothing: every scenario makes its own chain."""

    def obstacle(self, case: AnyItem) -> str | None:
        """Nothing keeps a case from being judged."""
        return None

    def judge(self, case: AnyItem) -> Verdict:
        """Run a scenario, or try a law."""
        from pytest_soulmem.users_code import Misbehaviour

        __tracebackhide__ = True
        if isinstance(case, Item) and isinstance(case.case, BrokenCase):
            return broken_verdict(case.file.path, case.case)
        try:
            if isinstance(case, LawItem):
                return self._judge_law(case)
            return self._judge_scenario(case)
        except Misbehaviour as error:
            return _verdict(case, ArchiveResult(), error.failure)

    def _open_chain(self, path: Path, clock: Clock) -> Subject:
        from pytest_soulmem.archive.chain import SqliteChain
        from pytest_soulmem.archive.subject import Subject, as_subject
        from pytest_soulmem.users_code import ask_hook

        hook = self._config.hook.pytest_soulmem_archive
        found = ask_hook(
            "pytest_soulmem_archive", lambda: hook(config=self._config, path=path, clock=clock)
        )
        return Subject(SqliteChain(path, clock)) if found is None else as_subject(found)

    def _judge_scenario(self, item: Item) -> Verdict:
        from pytest_soulmem.archive.scenario import run_scenario

        assert isinstance(item.case, Scenario)  # noqa: S101 - told apart by the caller
        outcome = run_scenario(item.case, item.file.cast, self._open_chain)
        result = ArchiveResult(
            system=System(outcome.chain), counts=outcome.counts, unsupported=outcome.skipped
        )
        return _verdict(item, result, outcome.failure)

    def _judge_law(self, item: LawItem) -> Verdict:
        from pytest_soulmem.archive.machine import Domain, try_laws
        from pytest_soulmem.users_code import Misbehaviour

        if item.key not in self._findings:
            domain = Domain(self._open_chain, item.file.cast)
            try:
                self._findings[item.key] = try_laws(domain, item.file.laws, item.key)
            except Misbehaviour as error:
                self._findings[item.key] = error
        found = self._findings[item.key]
        if isinstance(found, Misbehaviour):
            raise found
        result = ArchiveResult(system=System(found.chain), unsupported=found.lacking(item.name))
        return _verdict(item, result, found.failures.get(item.name))


def _verdict(item: AnyItem, result: ArchiveResult, failure: Failure | None) -> Verdict:
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
        fingerprint=item.fingerprint,
    )
