"""Forgetting: the curve that a file describes, and what was observed of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from pytest_soulmem.reporting.html import chart
from pytest_soulmem.reporting.html.chart import Chart, Label, Line, Mark
from pytest_soulmem.reporting.results import CaseResult

_SAMPLES = 64
_REFERENCES = 4
"""More curves than this in one drawing would hide the points."""
_SERIES = ("time_monotonic", "magnitude", "branch", "effect", "activation")


class Observation(Struct, frozen=True):
    """One observed point, and what the reference curve says there."""

    case: str
    inference: str
    outcome: str
    hours: float
    count: int
    degree: float
    reference: float
    action: str


class CurveView(Struct, frozen=True):
    """A drawing and the points in it."""

    chart: Chart
    observations: Sequence[Observation]


class FileCurves(Struct, frozen=True):
    """The drawings of a file: over time, over activations."""

    file: str
    drawings: Sequence[CurveView]
    legend: Sequence[tuple[Mark, str]]


def observed(case: CaseResult) -> bool:
    """Whether a case has points on a curve."""
    return bool(case.result.get("points")) and bool(case.result.get("curve"))


def file_curves(cases: Sequence[CaseResult]) -> FileCurves:
    """The drawings of one file's cases."""
    return FileCurves(cases[0].file, list(drawings(cases)), _legend(cases))


def drawings(cases: Sequence[CaseResult]) -> Iterator[CurveView]:
    """Cases that vary hours in one drawing per curve, those that vary activations in another."""
    groups: dict[tuple[bool, str], list[CaseResult]] = {}
    for case in cases:
        over_counts = len({point["retrieval_count"] for point in case.result["points"]}) > 1
        # One drawing over activations holds one moment: its curve is of that moment.
        moment = str(case.result["points"][0]["hours"]) if over_counts else ""
        groups.setdefault((over_counts, f"{case.result['curve']} {moment}"), []).append(case)
    for (over_counts, _), own in groups.items():
        yield _over_counts(own) if over_counts else _over_time(own)


def _over_time(cases: Sequence[CaseResult]) -> CurveView:
    settings = cases[0].result["curve"]
    observations = [one for case in cases for one in _observations(case)]
    last = max(one.hours for one in observations) or 2 * settings["base_half_life_hours"]
    x, y = chart.x_scale(0, last, chart.WIDE_RIGHT), chart.y_scale(0, 1)
    counts = sorted({one.count for one in observations})[:_REFERENCES]
    lines, ends = [], []
    hours = [last * step / _SAMPLES for step in range(_SAMPLES + 1)]
    for count in counts:
        degrees = _reference(hours, [count] * len(hours), settings)
        along = [(x(at), y(value)) for at, value in zip(hours, degrees, strict=True)]
        lines.append(chart.line(along, "curve"))
        ends.append((along[-1][1] + 4, f"{count} activations"))
    if any(one.action for one in observations):
        lines += [chart.line([(x(0), y(at)), (x(last), y(at))], "trigger") for at in (0.05, 0.15)]
        ends += [(y(0.15) + 1, "revise ≥ 0.15"), (y(0.05) + 4, "mask ≥ 0.05")]
    lines += _tolerances(cases, x, y)
    return CurveView(
        Chart(
            name="missing degree over time",
            x_title="hours since last touched",
            y_title="missing degree",
            x_ticks=chart.ticks(x, chart.nice_ticks(0, last)),
            y_ticks=chart.ticks(y, chart.nice_ticks(0, 1)),
            lines=lines,
            marks=[_mark(x(one.hours), y(one.degree), one) for one in observations],
            labels=chart.spread_labels(ends, chart.WIDTH - chart.WIDE_RIGHT + 6),
            summary=_in_words(observations),
            margin=chart.WIDE_RIGHT,
        ),
        observations,
    )


def _over_counts(cases: Sequence[CaseResult]) -> CurveView:
    settings = cases[0].result["curve"]
    observations = [one for case in cases for one in _observations(case)]
    hours = observations[0].hours
    last = max(one.count for one in observations)
    x, y = chart.x_scale(0, last, chart.WIDE_RIGHT), chart.y_scale(0, 1)
    counts = [last * step / _SAMPLES for step in range(_SAMPLES + 1)]
    degrees = _reference([hours] * len(counts), counts, settings)
    along = [(x(at), y(value)) for at, value in zip(counts, degrees, strict=True)]
    cap = settings["max_activation_cap"]
    lines = [chart.line(along, "curve")]
    labels = chart.spread_labels(
        [(along[-1][1] + 4, f"after {hours:g} h")], chart.WIDTH - chart.WIDE_RIGHT + 6
    )
    if cap <= last:
        lines.append(chart.line([(x(cap), y(0)), (x(cap), y(1))], "trigger"))
        labels.append(Label(x(cap) + 5, y(1) + 12, f"cap at {cap}"))
    return CurveView(
        Chart(
            name=f"missing degree after {hours:g} hours over activations",
            x_title="activations",
            y_title="missing degree",
            x_ticks=chart.ticks(x, chart.nice_ticks(0, last)),
            y_ticks=chart.ticks(y, chart.nice_ticks(0, 1)),
            lines=lines,
            marks=[_mark(x(one.count), y(one.degree), one) for one in observations],
            labels=labels,
            summary=_in_words(observations),
            margin=chart.WIDE_RIGHT,
        ),
        observations,
    )


def _observations(case: CaseResult) -> Iterator[Observation]:
    points = case.result["points"]
    references = _reference(
        [point["hours"] for point in points],
        [point["retrieval_count"] for point in points],
        case.result["curve"],
    )
    for point, reference in zip(points, references, strict=True):
        yield Observation(
            case.nodeid.rpartition("::")[2],
            case.result["inference"],
            case.outcome,
            point["hours"],
            point["retrieval_count"],
            point["degree"],
            reference,
            point["action"] or "",
        )


def _reference(
    hours: Sequence[float], counts: Sequence[float], settings: Mapping[str, Any]
) -> list[float]:
    """The curve of a file's config, whatever the forgetter under test does."""
    from pytest_soulmem.forgetting.curve import missing_degree
    from pytest_soulmem.forgetting.terms import CurveSettings

    degrees: list[float] = missing_degree(hours, counts, CurveSettings(**settings)).tolist()
    return degrees


def _mark(x: float, y: float, one: Observation) -> Mark:
    text = f"{one.case}: {one.degree:.4g} missing after {one.hours:g} h, {one.count} activations"
    decided = f", {one.action}" if one.action else ""
    failed = ", failed" if one.outcome == "failed" else ""
    return chart.mark(x, y, text + decided + failed, _shape(bool(failed), one.inference), "seen")


def _shape(failed: bool, inference: str) -> int:
    if failed:
        return chart.CROSS
    return _SERIES.index(inference) % chart.CROSS if inference in _SERIES else 0


def _legend(cases: Sequence[CaseResult]) -> list[tuple[Mark, str]]:
    meanings: dict[int, dict[str, None]] = {}
    for case in cases:
        failed = case.outcome == "failed"
        inference = case.result["inference"]
        meaning = "a case that failed" if failed else inference.replace("_", " ")
        meanings.setdefault(_shape(failed, inference), {})[meaning] = None
    return [
        (chart.mark(6, 6, "", series, "seen"), ", ".join(own))
        for series, own in sorted(meanings.items())
    ]


def _tolerances(cases: Sequence[CaseResult], x: chart.Scale, y: chart.Scale) -> Iterator[Line]:
    """What each magnitude case allows, as a vertical line through its moment."""
    for case in cases:
        expected = case.result.get("expected") or {}
        if "tolerance" in expected:
            at = x(case.result["points"][0]["hours"])
            low, high = (
                min(max(expected["degree"] + sign * expected["tolerance"], 0.0), 1.0)
                for sign in (-1, 1)
            )
            yield chart.line([(at, y(low)), (at, y(high))], "allowed")


def _in_words(observations: Sequence[Observation]) -> list[str]:
    farthest = max(observations, key=lambda one: abs(one.degree - one.reference))
    distance = abs(farthest.degree - farthest.reference)
    low, high = (find(one.degree for one in observations) for find in (min, max))
    if len(observations) == 1:
        words = [f"{low:.4g} missing"]
    else:
        words = [f"{len(observations)} observed points, {low:.3g} to {high:.3g} missing"]
    if distance < 1e-9:
        words.append("on the reference curve")
    else:
        words.append(f"farthest from the reference curve by {distance:.3g}: {farthest.case}")
    return words
