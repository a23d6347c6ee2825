"""The steps of a scenario, as a fixture states them, and what may be expected after each."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_soulmem.archive.terms import Reason
from pytest_soulmem.decoding import NonNegative

Text: TypeAlias = Annotated[str, Meta(min_length=1)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Bytes: TypeAlias = Annotated[int, Meta(ge=0)]
Names: TypeAlias = tuple[str, ...]
Statement: TypeAlias = tuple[str, str, str]


class TripleSpec(Struct, frozen=True):
    """A triple that the extractor finds."""

    subject: str
    relation: Text
    object: str
    sentence: str | None = None


class Expect(Struct, frozen=True, omit_defaults=True):
    """What a step should find. What is absent is not judged."""

    # After archiving
    document: Literal["kept", "gone"] | UnsetType = UNSET
    written: Count | UnsetType = UNSET
    skipped: Count | UnsetType = UNSET
    bound: Names | UnsetType = UNSET
    released: Names | UnsetType = UNSET
    kept: dict[str, Reason] | UnsetType = UNSET
    lookup_failed: bool | UnsetType = UNSET
    # After collecting
    collected: Names | UnsetType = UNSET
    # From both entries of recall
    recalled: Names | UnsetType = UNSET
    # After any step
    stored: Names | UnsetType = UNSET
    files: Names | UnsetType = UNSET
    documents: Names | UnsetType = UNSET
    references: dict[str, Names] | UnsetType = UNSET
    reference_counts: dict[str, Count] | UnsetType = UNSET
    entities: Names | UnsetType = UNSET
    graph: tuple[Statement, ...] | UnsetType = UNSET


OF_ONE_STEP = {
    "document": "archive",
    "written": "archive",
    "skipped": "archive",
    "bound": "archive",
    "released": "archive",
    "kept": "archive",
    "lookup_failed": "archive",
    "collected": "gc",
    "recalled": "recall",
}
"""Expectations that only one kind of step can answer; the others may follow any step."""


class _Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    expect: Expect = Expect()


class Put(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Store a media; without a context nothing refers to it."""

    step: Literal["put"] = "put"
    media: str
    context: Text | None = None


class Describe(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Replace the description of a media; markers that are written later have the new one."""

    step: Literal["describe"] = "describe"
    media: str
    description: str


class Transfer(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Make a document of a context."""

    step: Literal["transfer"] = "transfer"
    context: Text
    document: str


class Archive(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Move a document into the graph."""

    step: Literal["archive"] = "archive"
    document: str
    triples: tuple[TripleSpec, ...] | None = None
    lookup_fails: bool = False


class Gc(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Collect media that nobody needs."""

    step: Literal["gc"] = "gc"
    min_age_hours: NonNegative | None = None
    capacity_bytes: Bytes | None = None


class Recall(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Ask for the media of an entity, by both entries."""

    step: Literal["recall"] = "recall"
    entity: Text
    message: Text | None = None


class Recover(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Clean up after a crash."""

    step: Literal["recover"] = "recover"


class AdvanceHours(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Let time pass."""

    step: Literal["advance_hours"] = "advance_hours"
    hours: NonNegative


class CrashAt(_Step, frozen=True, kw_only=True, omit_defaults=True):
    """Let the process die at a point during a step, and start it again."""

    step: Literal["crash_at"] = "crash_at"
    point: str
    during: Any
    """A :data:`SimpleStep`, decoded by itself: msgspec takes no union of structs without tags."""


SimpleStep: TypeAlias = Put | Describe | Transfer | Archive | Gc | Recall | Recover | AdvanceHours
Step: TypeAlias = SimpleStep | CrashAt

STEP_TYPES: dict[str, type[Step]] = {
    "put": Put,
    "describe": Describe,
    "transfer": Transfer,
    "archive": Archive,
    "gc": Gc,
    "recall": Recall,
    "recover": Recover,
    "advance_hours": AdvanceHours,
    "crash_at": CrashAt,
}


def as_json(step: Step) -> dict[str, Any]:
    """A step as a fixture writes it."""
    fields = msgspec.to_builtins(step)
    if isinstance(step, CrashAt):
        fields["during"] = as_json(step.during)
    return {"step": step.step, **fields}


def in_words(step: Step) -> str:
    """A step as a line of text."""
    fields = {name: value for name, value in as_json(step).items() if name != "expect"}
    if isinstance(step, CrashAt):
        return f"crash_at {step.point} during {in_words(step.during)}"
    kind = fields.pop("step")
    return " ".join([kind, *(f"{name} {_short(value)}" for name, value in fields.items())])


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value if len(value) <= 40 else value[:39] + "…"
    return msgspec.json.encode(value).decode()
