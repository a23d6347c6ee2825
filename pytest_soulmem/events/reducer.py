"""The reference reducer: what the events of one step, taken together, say about its end.

The order of events matters in two places only: the text of chunks is put together in order, and
of several errors the first names the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_soulmem.events.stream import (
    Error,
    Event,
    Finish,
    Receipt,
    Text,
    Unknown,
    read_stream,
)
from pytest_soulmem.events.terms import (
    CONTRADICTORY_FINISH,
    CONTRADICTORY_MESSAGE,
    Outcome,
    Raw,
    Step,
    TerminalState,
)


def reduce_events(events: Sequence[Raw], turn: int, step: int) -> Outcome:
    """The verdict on one step of a stream; events of other steps and unknown ones change nothing.

    A step without events has no basis for completion.

    Raises:
        ValueError: an event of a known type is malformed.

    Example:
        >>> reduce_events([], turn=1, step=1).terminal_state
        'no_completion_basis'
    """
    return verdict(gather(read_stream(events), Step(turn, step)))


@dataclass(frozen=True)
class Seen:
    """The events of one step, by what they are."""

    texts: Sequence[str] = ()
    finishes: Sequence[str] = ()
    receipts: Sequence[Receipt] = ()
    errors: Sequence[Error] = ()

    @property
    def partial_text(self) -> str | None:
        """The text of the chunks."""
        return "".join(self.texts) if self.texts else None

    @property
    def final_text(self) -> str | None:
        """The receipt's text, where receipts agree on one."""
        return _only(receipt.text for receipt in self.receipts)

    @property
    def disagrees(self) -> bool:
        """Whether the text of the chunks is another than the receipt's."""
        partial = self.partial_text
        return partial is not None and any(own.text != partial for own in self.receipts)


def gather(events: Iterable[Event], step: Step) -> Seen:
    """What there is of one step in a stream."""
    texts: list[str] = []
    finishes: list[str] = []
    receipts: list[Receipt] = []
    errors: list[Error] = []
    for event in events:
        if isinstance(event, Unknown) or event.step != step:
            continue
        if isinstance(event, Text):
            texts.append(event.text)
        elif isinstance(event, Finish):
            finishes.append(event.kind)
        elif isinstance(event, Receipt):
            receipts.append(event)
        else:
            errors.append(event)
    return Seen(texts, finishes, receipts, errors)


def verdict(seen: Seen) -> Outcome:
    """What a step's events amount to."""
    usage = _known_usage(seen.receipts)
    code = _error_code(seen)
    return Outcome(
        terminal_state="failed" if code is not None else _state(seen),
        usage_state="unknown" if usage is None else "known",
        finish_reason=_only(seen.finishes),
        final_text=seen.final_text,
        error_code=code,
        partial_text=seen.partial_text,
        usage=usage,
    )


def _state(seen: Seen) -> TerminalState:
    """The state of a step that did not fail."""
    if "length" in seen.finishes:
        return "truncated"
    if "stop" in seen.finishes and seen.receipts:
        return "completed"
    return "no_completion_basis"


def _error_code(seen: Seen) -> str | None:
    if seen.errors:
        return seen.errors[0].code
    if len(set(seen.finishes)) > 1:
        return CONTRADICTORY_FINISH
    return CONTRADICTORY_MESSAGE if _contradict(seen.receipts) else None


def _contradict(receipts: Sequence[Receipt]) -> bool:
    """Whether receipts differ in text or source, or in a usage figure that both name."""
    answers = {(own.provider, own.model, own.text) for own in receipts}
    return len(answers) > 1 or any(len(values) > 1 for values in _figures(receipts).values())


def _known_usage(receipts: Sequence[Receipt]) -> dict[str, float] | None:
    """The figures that some receipt names and none contradicts; None where none names any."""
    figures = _figures(receipts)
    if not figures:
        return None
    return {name: next(iter(values)) for name, values in figures.items() if len(values) == 1}


def _figures(receipts: Iterable[Receipt]) -> Mapping[str, set[float]]:
    figures: dict[str, set[float]] = {}
    for receipt in receipts:
        for name, figure in receipt.usage.items():
            figures.setdefault(name, set()).add(figure)
    return figures


def _only(values: Iterable[str]) -> str | None:
    """The one value that all are, if they are one."""
    different = set(values)
    return different.pop() if len(different) == 1 else None
