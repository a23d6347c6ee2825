"""Laws of a system under test, tried by hypothesis.

A law is a statement about any system of its kind. hypothesis looks for values that break it;
what it finds is shrunk and shown in the terms of the fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from pytest_soulmem.kinds import Failure
from pytest_soulmem.reporting.text import visible
from pytest_soulmem.users_code import Misbehaviour


class Broken(Exception):
    """A law does not hold: what was seen, and for which values, in lines."""

    def __init__(self, seen: str, values: Sequence[str]) -> None:
        super().__init__(seen)
        self.seen = seen
        self.values = values


@dataclass(frozen=True)
class Counterexample:
    """The simplest values found that break a law."""

    seen: str
    values: Sequence[str]
    note: str = ""


def find_counterexample(
    check: Callable[..., None], draws: Mapping[str, SearchStrategy[Any]], key: str
) -> Counterexample | None:
    """Let hypothesis look for values for which ``check`` raises :class:`Broken`.

    ``check`` is called with what was drawn, by name. ``key`` keeps this law's examples and seed
    apart from those of every other.

    Raises:
        Misbehaviour: the system under test raised or returned nonsense.
    """
    found: list[Broken | Misbehaviour] = []

    def obeys(values: Mapping[str, Any]) -> None:
        try:
            check(**values)
        except (Broken, Misbehaviour) as error:
            found.append(error)
            raise

    # As hypothesis' own plugin does for parametrised tests.
    obeys._hypothesis_internal_add_digest = key.encode()  # type: ignore[attr-defined]
    # A law judges what a system does, not its speed: the first call may load much. Explaining
    # which values matter would trace every line of the system, for a text that is not shown.
    phases = [phase for phase in settings().phases if phase is not Phase.explain]
    quiet = settings(deadline=None, report_multiple_bugs=False, phases=phases)
    search = quiet(given(st.fixed_dictionaries(dict(draws)))(obeys))
    try:
        search()
    except Broken as error:
        return Counterexample(error.seen, error.values)
    except Flaky:
        last = found[-1]
        if isinstance(last, Misbehaviour):
            raise last from None
        note = "but not when asked again: the same arguments must always give the same result"
        return Counterexample(last.seen, last.values, note)
    return None


def broken_law(name: str, statement: str, system: str, found: Counterexample) -> Failure:
    """The failure that shows a counterexample; ``system`` names what was judged, in a line."""
    reason = f"law {name} is broken: {found.seen}"
    text = [
        reason,
        *([found.note] if found.note else []),
        f"the law: {statement}",
        system,
        "",
        "simplest counterexample found:",
        *(f"  {value}" for value in found.values),
        "",
        f'(to spare this file the law: "laws": {{"{name}": false}})',
    ]
    return Failure(visible(reason), "\n".join(map(visible, text)))
