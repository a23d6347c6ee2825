"""Model events: fixtures, the reference reducer, and how reducers are judged.

Importing this package costs next to nothing.
"""

from pytest_soulmem.events.protocols import Reducer
from pytest_soulmem.events.reducer import reduce_events
from pytest_soulmem.events.terms import Outcome, Step

__all__ = ["Outcome", "Reducer", "Step", "reduce_events"]
