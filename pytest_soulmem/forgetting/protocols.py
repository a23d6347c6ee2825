"""What forgetting code must offer to be judged, and what it may offer beyond that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pytest_soulmem.forgetting.terms import Action, CurveSettings, Memory


@runtime_checkable
class Forgetter(Protocol):
    """Forgetting code under test; return one from the hook ``pytest_soulmem_forgetter``.

    Every method is told the file's curve settings: one forgetter serves files with different
    half-lives. Methods are called with plain Python numbers, often, and in any order; the same
    arguments must always give the same result.

    Example::

        class PowerLaw:
            def missing_degree(self, memory, hours, settings):
                return 1 - 1 / (1 + hours / settings.base_half_life_hours)

            def action(self, memory, hours, settings):
                missing = self.missing_degree(memory, hours, settings)
                return "NoAction" if missing < 0.05 else "MaskOnly"

        def pytest_soulmem_forgetter(config):
            return PowerLaw()
    """

    def missing_degree(self, memory: Memory, hours: float, settings: CurveSettings) -> float:
        """The share of the memory that is missing after ``hours``, from 0 to 1."""
        ...

    def action(self, memory: Memory, hours: float, settings: CurveSettings) -> Action:
        """What is decided about the memory after ``hours``."""
        ...


@runtime_checkable
class Masks(Protocol):
    """A forgetter that masks texts. One that does not is spared the laws about masking."""

    def mask(self, memory: Memory, missing_degree: float) -> str:
        """The memory's text with words replaced by ``PLACEHOLDER`` to the degree given."""
        ...


@runtime_checkable
class Updates(Protocol):
    """A forgetter that can go on from a known degree. One that cannot is spared that law."""

    def update(
        self, memory: Memory, missing_degree: float, hours: float, settings: CurveSettings
    ) -> float:
        """The missing degree ``hours`` after a moment at which it was ``missing_degree``."""
        ...


class Reviser(Protocol):
    """What completes a masked text: any function of the text, such as a language model.

    Return one from the hook ``pytest_soulmem_reviser``. If it raises, returns nothing, or leaves
    a placeholder in, the text stays masked, and the report says so; no case fails for it.
    """

    def __call__(self, masked_text: str, /) -> str | None:
        """The completed text."""
        ...
