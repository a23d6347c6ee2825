"""Forgetting as a kind of fixture: from a forget file to verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pytest_soulmem.cases import digest
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
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.running import AnyItem, CaseItem, Judged, LawfulRun, LawItem
from pytest_soulmem.users_code import ask_hook

# numpy, hypothesis and the segmenter wait until a case is judged.
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pytest

    from pytest_soulmem.forgetting.inferences import Finding
    from pytest_soulmem.forgetting.protocols import Reviser
    from pytest_soulmem.forgetting.subject import Subject
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

Result = ForgettingResult


def recognises(document: object) -> bool:
    """Whether a document is a forget file, whole or faulty."""
    return isinstance(document, dict) and "test_cases" in document


def open_run(
    config: pytest.Config,
    settings: Settings,
    progress: Progress,
) -> ForgettingRun:
    """Start a session's run."""
    return ForgettingRun(config, settings)


_Item: TypeAlias = Judged[ForgetFile, ForgetCase]


class ForgettingRun(LawfulRun[ForgetFile, ForgetCase]):
    """A session's forgetter and reviser."""

    def cases(self, path: Path, document: object) -> Sequence[AnyItem[ForgetFile, ForgetCase]]:
        """The cases of a forget file, then its laws."""
        file = load_forget_file(path, document)
        # Without a usable case there is no text to try a law on.
        return self._items(path, file, file.cases, file.laws if file.memories else ())

    @cached_property
    def _subject(self) -> Subject:
        """The forgetter under test, asked for once, when the first case needs it."""
        from pytest_soulmem.forgetting.forgetter import EbbinghausForgetter
        from pytest_soulmem.forgetting.subject import Subject, as_subject

        hook = self._config.hook.pytest_soulmem_forgetter
        found = ask_hook("pytest_soulmem_forgetter", lambda: hook(config=self._config))
        return Subject(EbbinghausForgetter()) if found is None else as_subject(found)

    @cached_property
    def _reviser(self) -> Reviser | None:
        from pytest_soulmem.forgetting.subject import as_reviser

        hook = self._config.hook.pytest_soulmem_reviser
        return as_reviser(ask_hook("pytest_soulmem_reviser", lambda: hook(config=self._config)))

    def _judge_case(self, item: CaseItem[ForgetFile, ForgetCase]) -> Verdict:
        from pytest_soulmem.forgetting.inferences import Trial, examine

        file, case = item.file, item.case
        trial = Trial(self._subject, file.settings, file.law_tolerance, self._reviser)
        finding = examine(case, trial)
        result = ForgettingResult(
            system=System(trial.subject.name),
            text=case.text,
            curve=trial.settings,
            points=finding.points,
            expected=_expected(case),
            effect=finding.effect,
        )
        failure = _case_failure(file, case, trial.subject, finding)
        return _verdict(item, result, failure, _properties(finding))

    def _judge_law(self, item: LawItem[ForgetFile]) -> Verdict:
        from pytest_soulmem.forgetting.laws import LAWS, Domain, try_law

        file = item.file
        domain = Domain(self._subject, file.settings, file.memories, file.law_tolerance)
        result = ForgettingResult(system=System(self._subject.name))
        lacking = LAWS[item.name].lacking(self._subject, file.memories)
        if lacking:
            return replace(_verdict(item, result, None), skipped=lacking)
        return _verdict(item, result, try_law(item.name, domain, item.key))

    def _misbehaved(self, item: _Item, failure: Failure) -> Verdict:
        return _verdict(item, ForgettingResult(), failure)


def _verdict(
    item: _Item,
    result: ForgettingResult,
    failure: Failure | None,
    properties: Mapping[str, str | int | float] | None = None,
) -> Verdict:
    if isinstance(item, LawItem):
        kind, named = "law", msgspec.structs.replace(result, law=item.name)
    else:
        kind, named = item.case.kind, msgspec.structs.replace(result, inference=item.case.kind)
    return Verdict(
        failure,
        {"kind": kind, **(properties or {})},
        msgspec.to_builtins(named),
        figures=result.figures,
        fingerprint=_fingerprint(item),
    )


def _fingerprint(item: _Item) -> str:
    """A digest of what is asked and expected, or of a law, the curve and the memories."""
    file = item.file
    if isinstance(item, LawItem):
        return digest(item.name, file.settings, file.memories, file.law_tolerance)
    return digest(file.settings, msgspec.structs.replace(item.case, name=""))


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


def _properties(finding: Finding) -> dict[str, str | int | float]:
    """The figures for JUnit; a case of several moments gives JSON arrays, in its order."""
    properties: dict[str, str | int | float] = {
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
