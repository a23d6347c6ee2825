"""The weights that blend channels, and the sweeps over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from pytest_soulmem.decoding import NonNegative, UnitInterval, decode
from pytest_soulmem.faults import Fault, suggestion
from pytest_soulmem.settings import Mode


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """How much each channel counts. Blends are plain weighted sums; nothing is normalised.

    ``damping`` is that of PageRank; ``association`` weighs PageRank against similarity in mode
    ``association``.
    """

    tag: NonNegative = 0.3
    variant: NonNegative = 0.7
    string_blend_alpha: UnitInterval = 0.6
    sem_concept: NonNegative = 0.5
    sem_description: NonNegative = 0.5
    sit_location_name: NonNegative = 0.6
    sit_location_coord: NonNegative = 0.4
    sit_participant_name: NonNegative = 0.6
    sit_participant_role: NonNegative = 0.4
    sit_env_atmosphere: NonNegative = 0.5
    sit_env_tone: NonNegative = 0.5
    sit_event_initiator: NonNegative = 0.3
    sit_event_target: NonNegative = 0.3
    sit_event_action: NonNegative = 0.4
    sit_event_initiator_only_action: UnitInterval = 0.6
    sit_event_target_only_action: UnitInterval = 0.6
    damping: Annotated[float, Meta(ge=0, lt=1)] = 0.65
    association: UnitInterval = 0.5

    @property
    def within_units(self) -> Weights:
        """Those that blend the parts of a unit; the others as by default."""
        return msgspec.structs.replace(self, **_OVER_ALL)


_OVER_ALL = {
    name: getattr(Weights(), name)
    for name in ("tag", "variant", "string_blend_alpha", "damping", "association")
}
NAMES = tuple(field.name for field in msgspec.structs.fields(Weights))


_DEFAULTS = msgspec.structs.asdict(Weights())


def changed(weights: Weights) -> dict[str, float]:
    """The weights that differ from the defaults, by name."""
    own = msgspec.structs.asdict(weights)
    return {name: float(value) for name, value in own.items() if value != _DEFAULTS[name]}


class BlendSweep(Struct, frozen=True):
    """The weight sets of a file."""

    tag_sweep: tuple[UnitInterval, ...] | None = None
    pairs: tuple[dict[str, object], ...] | None = None


@dataclass(frozen=True)
class WeightSet:
    """Weights and their label: ``tag:0.3-variant:0.7``, then every further override.

    The label is empty where the file sweeps nothing.
    """

    weights: Weights
    label: str = ""
    overrides: frozenset[str] = frozenset()
    """The weights that a pair names."""


def expand(sweep: BlendSweep | None, place: str) -> tuple[list[WeightSet], list[Fault]]:
    """The weight sets of a sweep, in its order; one unlabelled default set without a sweep."""
    if sweep is None or not (sweep.pairs or sweep.tag_sweep):
        return [WeightSet(Weights())], []
    if sweep.pairs:
        source = f"{place}.pairs"
        overrides: tuple[dict[str, object], ...] = sweep.pairs
    else:
        source = f"{place}.tag_sweep"
        overrides = tuple(
            {"tag": tag, "variant": round(1 - tag, 6)} for tag in sweep.tag_sweep or ()
        )
    sets: list[WeightSet] = []
    faults: list[Fault] = []
    for position, override in enumerate(overrides):
        where = f"{source}[{position}]"
        weights, found = _override(override, where)
        if weights is None:
            faults += found
            continue
        equal = [other for other in sets if _shown(other.weights) == _shown(weights)]
        if equal:
            faults.append(Fault(where, f"the same weights as {equal[0].label}"))
        sets.append(WeightSet(weights, label(weights, override), frozenset(override)))
    return sets, faults


def sweep_faults(sets: Sequence[WeightSet], mode: Mode) -> list[Fault]:
    """Pairs that vary what has no meaning in a mode: the sweep would sweep nothing."""
    if mode == "association":
        return []
    return [
        Fault(
            f"$.blend_sweep.pairs[{position}].association",
            f"blends similarity and PageRank in mode association; the mode here is {mode}",
        )
        for position, own in enumerate(sets)
        if "association" in own.overrides
    ]


def sweep_advice(sets: Sequence[WeightSet], mode: Mode) -> list[Fault]:
    """Pairs that name what a mode does not use. ``damping`` may be swept in any mode, idly in one.

    No fault: a retriever of the user's own may walk in every mode.
    """
    if mode != "embedding":
        return []
    return [
        Fault(
            f"$.blend_sweep.pairs[{position}].damping",
            "changes nothing in mode embedding, where PageRank does not run",
        )
        for position, own in enumerate(sets)
        if "damping" in own.overrides
    ]


def label(weights: Weights, named: dict[str, object]) -> str:
    """``tag:…-variant:…`` and the other named weights, in the order of the table of weights."""
    shown = ("tag", "variant", *(name for name in NAMES[2:] if name in named))
    return "-".join(f"{name}:{getattr(weights, name):g}" for name in shown)


def _shown(weights: Weights) -> tuple[str, ...]:
    """Weights as labels show them: sets that no label can tell apart count as equal."""
    return tuple(f"{value:g}" for value in msgspec.structs.astuple(weights))


def _override(raw: dict[str, object], place: str) -> tuple[Weights | None, list[Fault]]:
    unknown = [
        Fault(place, f'no weight is called "{name}"{suggestion(name, NAMES)}')
        for name in raw
        if name not in NAMES
    ]
    known = {name: value for name, value in raw.items() if name in NAMES}
    weights, faults = decode(known, Weights, place)
    if weights and not all(map(math.isfinite, msgspec.structs.astuple(weights))):
        faults.append(Fault(place, "a weight is not finite"))
    faults = unknown + faults
    return (None, faults) if faults else (weights, [])
