"""The words that a model's answer is judged in: plain data, shared by fixtures and reducers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

TerminalState: TypeAlias = Literal["completed", "truncated", "failed", "no_completion_basis"]
"""How a step ended. Only ``completed`` is success."""

TERMINAL_STATES: tuple[TerminalState, ...] = (
    "completed",
    "truncated",
    "failed",
    "no_completion_basis",
)

UsageState: TypeAlias = Literal["known", "unknown"]
"""Whether anything is known about what a step cost. Unknown is not 0."""

USAGE_STATES: tuple[UsageState, ...] = ("known", "unknown")

CONTRADICTORY_FINISH = "contradictory_finish"
CONTRADICTORY_MESSAGE = "contradictory_message"

Raw: TypeAlias = dict[str, Any]
"""An event as its file holds it: what JSON can hold."""


class Step(NamedTuple):
    """What an event belongs to: a turn of the conversation, and a model call within it."""

    turn: int
    step: int

    def __str__(self) -> str:
        return f"turn {self.turn}, step {self.step}"


@dataclass(frozen=True)
class Outcome:
    """The verdict on one step.

    Args:
        terminal_state: how the step ended.
        usage_state: ``known`` exactly if some message carries usage.
        finish_reason: the kind of the finish; None without one, or where finishes contradict.
        final_text: the receipt's text; None without one, or where receipts contradict.
        error_code: why the step failed; None where it did not.
        partial_text: the text of the chunks, put together; None where there are none.
        usage: the figures that are known; None where nothing is.

    Example:
        >>> Outcome("no_completion_basis", partial_text="半句话").usage_state
        'unknown'
    """

    terminal_state: TerminalState
    usage_state: UsageState = "unknown"
    finish_reason: str | None = None
    final_text: str | None = None
    error_code: str | None = None
    partial_text: str | None = None
    usage: Mapping[str, float] | None = None


FIELDS = (
    "terminal_state",
    "finish_reason",
    "usage_state",
    "usage",
    "final_text",
    "partial_text",
    "error_code",
)
"""The fields of an outcome, in the order in which they are told."""
