"""What the page shows of a run, worked out before the template writes it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct, field

from pytest_soulmem.reporting.finish import Ending
from pytest_soulmem.reporting.html.curves import (
    CurveView,
    FileCurves,
    drawings,
    file_curves,
    observed,
)
from pytest_soulmem.reporting.html.sweeps import Family, FileFigures, families_of, file_figures
from pytest_soulmem.reporting.results import CaseResult, Mean, Results

OUTCOMES = {"passed": "✓", "failed": "✕", "error": "!", "skipped": "–"}
"""Every outcome with its sign, for colour is not the only carrier."""
_SLOWEST = 10
_FAILURES = 50


class Texts(Struct, frozen=True):
    """A memory before and after forgetting; the masked text in pieces, None for a lost one."""

    before: str
    masked: Sequence[str | None] | None
    revised: str | None
    note: str


class FactTable(Struct, frozen=True):
    """A list of alike things that a kind found: a row each."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class CaseView(Struct, frozen=True):
    """One case and its drill-down."""

    number: int
    case: CaseResult
    name: str
    key_figures: Sequence[tuple[str, str]]
    figures: Sequence[tuple[str, str]]
    """Every figure, by what stands before ``@``."""
    rankings: Any
    sub_queries: Any
    """As its record has both, perhaps unread: the script of the page draws them."""
    curves: Sequence[CurveView]
    texts: Texts | None
    facts: Sequence[tuple[str, str]]
    """Whatever else its kind found, by name."""
    tables: Sequence[FactTable]

    @property
    def sign(self) -> str:
        """The sign of its outcome."""
        return OUTCOMES[self.case.outcome]

    @property
    def reason(self) -> str:
        """Why it failed, in a line."""
        return self.case.failure.reason if self.case.failure else ""


class FileView(Struct, frozen=True):
    """One file's cases."""

    number: int
    name: str
    kinds: str
    seconds: float
    counts: Mapping[str, int]
    cases: Sequence[CaseView]


class Page(Struct, frozen=True):
    """The whole page."""

    results: Results
    headline: str
    counts: Mapping[str, int]
    systems: Sequence[tuple[str, str]]
    settings: Sequence[tuple[str, str]]
    files: Sequence[FileView]
    figures: Sequence[FileFigures]
    curves: Sequence[FileCurves]
    slowest: Sequence[CaseView]
    failures: Sequence[CaseView]
    more_failures: int
    kinds: Sequence[str]
    ending: Ending = field(default_factory=Ending)
    outcomes: Mapping[str, str] = field(default_factory=lambda: OUTCOMES)


def build_page(results: Results, ending: Ending | None = None) -> Page:
    """What the page shows of a run."""
    views = [case_view(number, case) for number, case in enumerate(results.cases, start=1)]
    counts = _counts(results.cases)
    failures = [view for view in views if view.case.outcome in ("failed", "error")]
    with_points = [case for case in results.cases if observed(case)]
    return Page(
        results=results,
        headline=_headline(counts, len(results.errors)),
        counts=counts,
        systems=_systems(results.cases),
        settings=[(name, _plain(value)) for name, value in results.settings.items() if value],
        files=_files(views),
        figures=figures_by_file(results.means),
        curves=[file_curves(list(own)) for _, own in groupby(with_points, lambda c: c.file)],
        slowest=sorted(views, key=lambda view: -view.case.seconds)[:_SLOWEST],
        failures=failures[:_FAILURES],
        more_failures=max(0, len(failures) - _FAILURES),
        kinds=list(dict.fromkeys(case.kind for case in results.cases)),
        ending=ending or Ending(),
    )


def figures_by_file(means: Sequence[Mean]) -> list[FileFigures]:
    """The tables and charts of all files that have means."""
    return [file_figures(list(own)) for _, own in groupby(means, lambda mean: mean.file)]


def _counts(cases: Sequence[CaseResult]) -> dict[str, int]:
    found: Counter[str] = Counter(case.outcome for case in cases)
    return {outcome: found[outcome] for outcome in OUTCOMES if outcome in found}


def _headline(counts: Mapping[str, int], errors: int) -> str:
    total = sum(counts.values())
    passed = counts.get("passed", 0)
    text = f"{passed} of {total} cases passed" if total else "No case ran"
    return f"{text}, {errors} file{'s' if errors > 1 else ''} could not be used" if errors else text


def _files(views: Sequence[CaseView]) -> list[FileView]:
    files: dict[str, list[CaseView]] = {}
    for view in views:
        files.setdefault(view.case.file, []).append(view)
    return [
        FileView(
            number,
            name,
            ", ".join(dict.fromkeys(view.case.kind for view in own)),
            sum(view.case.seconds for view in own),
            _counts([view.case for view in own]),
            own,
        )
        for number, (name, own) in enumerate(files.items(), start=1)
    ]


def _systems(cases: Sequence[CaseResult]) -> list[tuple[str, str]]:
    """What was under test, per kind."""
    found: dict[str, dict[str, None]] = {}
    for case in cases:
        system = case.result.get("system")
        if isinstance(system, dict):
            system = " ".join(str(value) for value in system.values() if value)
        if system:
            found.setdefault(case.kind, {})[str(system)] = None
    return [(kind, ", ".join(names)) for kind, names in found.items()]


def case_view(number: int, case: CaseResult) -> CaseView:
    """One case and its drill-down."""
    others = _others(case)
    families = families_of(tuple(case.figures))
    return CaseView(
        number=number,
        case=case,
        name=case.nodeid.removeprefix(f"{case.file}::"),
        key_figures=_key_figures(families, case.figures),
        figures=[(family.name, _listed(family, case.figures)) for family in families],
        rankings=case.result.get("rankings") or (),
        sub_queries=case.result.get("sub_queries") or (),
        curves=list(drawings([case])) if observed(case) else (),
        texts=_texts(case.result),
        facts=[(name, _plain(value)) for name, value in others.items() if not _tabular(value)],
        tables=[_table(name, value) for name, value in others.items() if _tabular(value)],
    )


def _listed(family: Family, figures: Mapping[str, float]) -> str:
    return "   ".join(
        [
            f"@{column} {figures[name]:.3f}" if column else f"{figures[name]:.3f}"
            for name, column in zip(family.figures, family.columns, strict=True)
        ]
    )


def _key_figures(families: Sequence[Family], figures: Mapping[str, float]) -> list[tuple[str, str]]:
    """The figures by which a case is known in a list: at the largest cut-off, at most three."""
    last = {family.name: family.figures[-1] for family in families}
    known = [last[name] for name in ("recall", "ndcg", "rr") if name in last]
    chosen = known or list(last.values())[:3]
    return [(name, f"{figures[name]:.2f}") for name in chosen]


def _texts(result: Mapping[str, Any]) -> Texts | None:
    effect = result.get("effect")
    if not isinstance(effect, dict) or "text" not in result:
        return None
    from pytest_soulmem.forgetting.terms import PLACEHOLDER

    masked = effect.get("masked_text")
    return Texts(
        result["text"],
        None if masked is None else _pieces(masked, PLACEHOLDER),
        effect.get("revised_text"),
        effect.get("fallback") or "",
    )


def _pieces(text: str, placeholder: str) -> list[str | None]:
    pieces: list[str | None] = []
    for kept in text.split(placeholder):
        pieces += [kept, None]
    return [piece for piece in pieces[:-1] if piece != ""]


_SHOWN_AS_TEXTS = ("masked_text", "revised_text", "fallback")
_SHOWN_ELSEWHERE = {
    "figures": ("metrics", "actions", "abstract"),
    "rankings": ("rankings", "retrieved", "expected"),
    "sub_queries": ("sub_queries",),
    "points": ("points",),
    "effect": ("text",),
}
"""What the drill-down already shows, by what it shows it from."""


def _others(case: CaseResult) -> dict[str, object]:
    """What the drill-down does not show in a way of its own."""
    hidden = {"case", "weights", "laws"}
    for source, names in _SHOWN_ELSEWHERE.items():
        if case.figures if source == "figures" else case.result.get(source):
            hidden.update(names)
    return {
        name.replace("_", " "): _without_texts(value) if name == "effect" else value
        for name, value in case.result.items()
        if name not in hidden and value not in (None, "", [], {})
    }


def _tabular(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(own, dict) for own in value)


def _table(name: str, things: Any) -> FactTable:
    flat = [_flat(own) for own in things]
    columns = list(dict.fromkeys(column for own in flat for column in own))
    return FactTable(name, columns, [[own.get(column, "") for column in columns] for own in flat])


def _flat(thing: Mapping[str, Any]) -> dict[str, str]:
    """A map as cells; what it holds in a map of its own, by both names."""
    cells: dict[str, str] = {}
    for name, value in thing.items():
        if isinstance(value, dict):
            cells |= {f"{name} {inner}": _shown(own) for inner, own in value.items()}
        else:
            cells[name] = _shown(value)
    return cells


def _shown(value: object) -> str:
    return "" if value is None else _plain(value)


def _without_texts(effect: object) -> object:
    if not isinstance(effect, dict):
        return effect
    return {name: value for name, value in effect.items() if name not in _SHOWN_AS_TEXTS}


def _plain(value: object) -> str:
    """A value in a table: a string as it is, a flat map as words, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict) and not any(isinstance(own, (dict, list)) for own in value.values()):
        return ", ".join(
            [
                f"{name.replace('_', ' ')} {_plain(own)}"
                for name, own in value.items()
                if own not in (None, "")
            ]
        )
    if isinstance(value, list) and all(isinstance(own, (str, int, float)) for own in value):
        return ", ".join(map(_plain, value))
    return json.dumps(value, ensure_ascii=False)
