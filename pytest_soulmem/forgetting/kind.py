"""Forgetting as a kind of fixture: from a forget file to verdicts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pytest_soulmem.cases import BrokenCase, broken_verdict, digest
from pytest_soulmem.forgetting.authoring import advice, example, faults, schema
from pytest_soulmem.forgetting.fixture import (
    Effect,
    ForgetCase,
    ForgetFile,
    Magnitude,
    load_forget_file,
)
from pytest_soulmem.forgetting.result import Expected, ForgettingResult, System
from pytest_soulmem.forgetting.wording import curve_text
from pytest_soulmem.kinds import Failure, Progress, Verdict
from pytest_soulmem.naming import place_of
from pytest_soulmem.reporting.text import visible

# numpy, hypothesis and the segmenter wait until a case is judged.
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pytest

    from pytest_soulmem.forgetting.inferences import Finding
    from pytest_soulmem.forgetting.protocols import Reviser
    from pytest_soulmem.forgetting.subject import Subject
    from pytest_soulmem.reporting.table import Section
    from pytest_soulmem.settings import Settings
    from pytest_soulmem.users_code import Misbehaviour

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

Result = ForgettingResult


def recognises(document: object) -> bool:
    """Whether a document is a forget file, whole or faulty."""
    return isinstance(document, dict) and "test_cases" in document


def section(records: Sequence[Mapping[str, Any]]) -> Section:
    """The forgetting part of the terminal report."""
    from pytest_soulmem.forgetting.report import forgetting_section

    return forgetting_section(records)


def open_run(
    config: pytest.Config,
    settings: Settings,
    progress: Progress,
) -> ForgettingRun:
    """Start a session's run."""
    return ForgettingRun(config, settings)


@dataclass(frozen=True)
class Item:
    """A case of a file, usable or not."""

    file: ForgetFile
    case: ForgetCase | BrokenCase
    group: str = ""

    @property
    def name(self) -> str:
        """The item's name."""
        return visible(self.case.name)

    @property
    def fingerprint(self) -> str:
        """A digest of what is asked and what is expected."""
        case = self.case
        if isinstance(case, BrokenCase):
            return ""
        return digest(self.file.settings, msgspec.structs.replace(case, name=""))


@dataclass(frozen=True)
class LawItem:
    """A law that is tried on a file's curve and memories."""

    file: ForgetFile
    name: str
    key: str
    """Tells this law of this file from all others, on every machine."""
    group: str = "laws"

    @property
    def fingerprint(self) -> str:
        """A digest of the law, the curve and the memories."""
        file = self.file
        return digest(self.name, file.settings, file.memories, file.law_tolerance)


AnyItem: TypeAlias = Item | LawItem


class ForgettingRun:
    """A session's forgetter and reviser."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config = config
        self._settings = settings

    def cases(self, path: Path, document: object) -> Sequence[AnyItem]:
        """The cases of a forget file, then its laws."""
        file = load_forget_file(path, document)
        items: list[AnyItem] = [Item(file, case) for case in file.cases]
        place = place_of(path, self._config.rootpath)
        # Without a usable case there is no text to try a law on.
        if self._settings.laws and file.memories:
            items += [LawItem(file, law, f"{place}::{law}") for law in file.laws]
        return items

    def prepare(self, cases: Sequence[AnyItem]) -> None:
        """Nothing: the curve needs no preparation."""

    def obstacle(self, case: AnyItem) -> str | None:
        """Nothing keeps a case from being judged."""
        return None

    def judge(self, case: AnyItem) -> Verdict:
        """Ask the forgetter, and compare."""
        from pytest_soulmem.users_code import Misbehaviour

        __tracebackhide__ = True
        if isinstance(case, Item) and isinstance(case.case, BrokenCase):
            return broken_verdict(case.file.path, case.case)
        try:
            if isinstance(case, LawItem):
                return self._judge_law(case)
            return self._judge_case(case)
        except Misbehaviour as error:
            return _misbehaved(case, error)

    @cached_property
    def _subject(self) -> Subject:
        """The forgetter under test, asked for once, when the first case needs it."""
        from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
        from pytest_soulmem.forgetting.subject import Subject, as_subject
        from pytest_soulmem.users_code import ask_hook

        hook = self._config.hook.pytest_soulmem_forgetter
        found = ask_hook("pytest_soulmem_forgetter", lambda: hook(config=self._config))
        return Subject(EbbinghausForgetter()) if found is None else as_subject(found)

    @cached_property
    def _reviser(self) -> Reviser | None:
        from pytest_soulmem.forgetting.subject import as_reviser
        from pytest_soulmem.users_code import ask_hook

        hook = self._config.hook.pytest_soulmem_reviser
        return as_reviser(ask_hook("pytest_soulmem_reviser", lambda: hook(config=self._config)))

    def _judge_case(self, item: Item) -> Verdict:
        from pytest_soulmem.forgetting.inferences import Trial, examine

        file, case = item.file, item.case
        assert not isinstance(case, BrokenCase)  # noqa: S101 - told apart by the caller
        trial = Trial(self._subject, file.settings, file.law_tolerance, self._reviser)
        finding = examine(case, trial)
        result = ForgettingResult(
            inference=case.kind,
            system=System(trial.subject.name),
            text=case.text,
            curve=trial.settings,
            points=finding.points,
            expected=_expected(case),
            effect=finding.effect,
        )
        failure = _case_failure(file, case, trial.subject, finding)
        return _verdict(item, result, failure, _properties(case.kind, finding))

    def _judge_law(self, item: LawItem) -> Verdict:
        from pytest_soulmem.forgetting.laws import LAWS, Domain, try_law

        file = item.file
        domain = Domain(self._subject, file.settings, file.memories, file.law_tolerance)
        result = ForgettingResult(law=item.name, system=System(self._subject.name))
        lacking = LAWS[item.name].lacking(self._subject, file.memories)
        if lacking:
            return replace(_verdict(item, result, None, {"kind": "law"}), skipped=lacking)
        return _verdict(item, result, try_law(item.name, domain, item.key), {"kind": "law"})


def _verdict(
    item: AnyItem,
    result: ForgettingResult,
    failure: Failure | None,
    properties: Mapping[str, str | int | float],
) -> Verdict:
    return Verdict(
        failure,
        properties,
        msgspec.to_builtins(result),
        figures=result.figures,
        fingerprint=item.fingerprint,
    )


def _misbehaved(item: AnyItem, error: Misbehaviour) -> Verdict:
    """The verdict on a user's code that raised or returned nonsense."""
    if isinstance(item, LawItem):
        return _verdict(item, ForgettingResult(law=item.name), error.failure, {"kind": "law"})
    kind = getattr(item.case, "kind", "")
    return _verdict(item, ForgettingResult(inference=kind), error.failure, {"kind": kind})


def _case_failure(
    file: ForgetFile, case: ForgetCase, subject: Subject, finding: Finding
) -> Failure | None:
    if not finding.violations:
        return None
    first, *others = finding.violations
    count = f", retrieval_count {case.memory.retrieval_count}" if case.kind != "activation" else ""
    text = [
        f"{case.kind}: {first}",
        *others,
        f"forgetter {subject.name}; {curve_text(file.settings)}{count}",
        f"text: {case.text}",
        "",
        *finding.details,
    ]
    return Failure(visible(first), "\n".join(map(visible, text)))


def _properties(kind: str, finding: Finding) -> dict[str, str | int | float]:
    """The figures for JUnit; a case of several moments gives JSON arrays, in its order."""
    properties: dict[str, str | int | float] = {
        "kind": kind,
        "missing_degree": _one_or_array(finding.degrees),
    }
    if finding.actions:
        properties["action"] = _one_or_array(finding.actions)
    effect = finding.effect
    if effect and effect.similarity is not None:
        properties["similarity"] = effect.similarity
    if effect and effect.fallback:
        properties["fallback"] = effect.fallback
    return properties


def _one_or_array(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else json.dumps(values)


def _expected(case: ForgetCase) -> Expected | None:
    if isinstance(case, Magnitude):
        return Expected(degree=case.expected_missing_degree, tolerance=case.tolerance)
    if isinstance(case, Effect):
        own = case.expected
        return Expected(should_forget=own.should_forget, min_action=own.min_action)
    return None
