"""What running a scenario or trying a law found, as reports and results files keep it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class System(Struct, frozen=True):
    """What was judged."""

    chain: str


class Counts(Struct, frozen=True):
    """What happened in the steps of a scenario, up to the one that failed."""

    steps: int = 0
    documents_archived: int = 0
    documents_kept: int = 0
    triples_written: int = 0
    triples_skipped: int = 0
    media_bound: int = 0
    media_collected: int = 0
    references_released: int = 0
    references_kept: int = 0


class ArchiveResult(Struct, frozen=True, omit_defaults=True):
    """The record of a scenario or of a law."""

    scenario: str = ""
    law: str = ""
    system: System | None = None
    counts: Counts | None = None
    unsupported: str = ""
    """Why it was not judged to the end: the chain cannot be made to die there."""


def total(counts: Sequence[Counts]) -> Counts:
    """The sum of some counts, figure by figure."""
    names = Counts.__struct_fields__
    return Counts(**{name: sum(getattr(one, name) for one in counts) for name in names})
