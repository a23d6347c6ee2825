"""Time that passes only when a scenario says so."""

from __future__ import annotations

_START = 1_767_225_600.0  # 2026-01-01 00:00 UTC; any moment would do.


class Clock:
    """Seconds, as :func:`time.time` gives them. Call it; it stands still between two advances."""

    def __init__(self) -> None:
        self._hours = 0.0

    def __call__(self) -> float:
        """Seconds since 1970."""
        return _START + self._hours * 3600

    @property
    def hours(self) -> float:
        """How much time has passed since the scenario began."""
        return self._hours

    def advance(self, hours: float) -> None:
        """Let time pass."""
        self._hours += hours
