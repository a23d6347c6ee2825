"""An outcome against what was expected of it, and the text of a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_soulmem.events.fixture import Scenario
from pytest_soulmem.events.reducer import gather
from pytest_soulmem.events.terms import FIELDS, Outcome, Step
from pytest_soulmem.events.wording import basis, event_rows, shown
from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.table import Table, clip, lines
from pytest_soulmem.reporting.text import visible

_COLUMNS = 72
"""How much of a text is shown in a table."""

_ROWS = 40
"""How many events are listed."""


@dataclass(frozen=True)
class Judgement:
    """What was expected of a step and what was found."""

    step: Step
    expected: dict[str, object]
    found: Outcome

    @property
    def wrong(self) -> list[str]:
        """The fields that are not as expected."""
        return [name for name in self.expected if self.expected[name] != self.value(name)]

    def value(self, field: str) -> object:
        """What was found in a field."""
        value = getattr(self.found, field)
        return dict(value) if field == "usage" and value is not None else value


def explain(scenario: Scenario, judgements: Sequence[Judgement], reducer: str) -> Failure | None:
    """The failure of a scenario, if any of its steps is not as expected."""
    failed = [judgement for judgement in judgements if judgement.wrong]
    if not failed:
        return None
    # With one step there is nothing to tell apart.
    several = len({judgement.step for judgement in judgements}) > 1
    text: list[str] = []
    for judgement in failed:
        text += _violations(judgement, several=several)
    text.append(f"reducer {reducer}")
    for judgement in failed:
        text += ["", *_details(scenario, judgement)]
    return Failure(text[0], "\n".join(text))


def _violations(judgement: Judgement, *, several: bool) -> Iterator[str]:
    where = f"{judgement.step}: " if several else ""
    for field in judgement.wrong:
        expected = _cell(judgement.expected[field])
        yield f"{where}{field}: {expected} expected, {_cell(judgement.value(field))} found"


def _details(scenario: Scenario, judgement: Judgement) -> Iterator[str]:
    seen = gather(scenario.events, judgement.step)
    yield f"{judgement.step}: {visible(basis(seen))}"
    if seen.disagrees:
        yield "the text of the chunks is not the text of the receipt"
    yield from lines(_comparison(judgement), "  ")
    yield "events, as folded:"
    rows = [
        (position, kind, _clipped(text))
        for position, kind, text in event_rows(scenario.events, judgement.step)
    ]
    hidden = len(rows) - _ROWS
    yield from lines(Table(("at", "", ""), rows[:_ROWS], left=(1, 2)), "  ")
    if not rows:
        yield "  none"
    if hidden > 0:
        yield f"  … and {hidden} more"


def _comparison(judgement: Judgement) -> Table:
    rows = []
    for field in FIELDS:
        given = field in judgement.expected
        expected = _cell(judgement.expected[field]) if given else "·"
        mark = "<-" if field in judgement.wrong else ""
        rows.append((field, expected, _cell(judgement.value(field)), mark))
    return Table(("", "expected", "found", ""), rows, left=(0, 1, 2, 3))


def _cell(value: object) -> str:
    return _clipped(shown(value))


def _clipped(text: str) -> str:
    return clip(visible(text), _COLUMNS)
