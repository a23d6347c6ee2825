"""The archive chain: fixtures, the reference chain, and how a chain is judged.

Importing this package costs next to nothing; the reference chain lives in
:mod:`pytest_soulmem.archive.chain`.
"""

from pytest_soulmem.archive.clock import Clock
from pytest_soulmem.archive.markers import (
    Marker,
    entity_name,
    first_clause,
    marker_text,
    parse_markers,
)
from pytest_soulmem.archive.protocols import Chain, Extractor, HasCrashPoints, HasFiles
from pytest_soulmem.archive.terms import Archived, Reference, Triple, valid_name

__all__ = [
    "Archived",
    "Chain",
    "Clock",
    "Extractor",
    "HasCrashPoints",
    "HasFiles",
    "Marker",
    "Reference",
    "Triple",
    "entity_name",
    "first_clause",
    "marker_text",
    "parse_markers",
    "valid_name",
]
