"""The named points at which a chain can be made to die, or a look-up to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

CRASH_POINTS = {
    "put.temporary": "half of the content is in the temporary file",
    "put.synced": "the temporary file is complete and synced, not yet renamed",
    "put.renamed": "the file has its name, its row is not yet written",
    "put.row": "the row is written, the transaction not yet committed",
    "put.committed": "the row is committed",
    "transfer.written": "the document and its references are written, not yet committed",
    "transfer.committed": "the transfer is committed",
    "archive.triples": "the triples are written, no media is bound yet",
    "archive.bound": "media are bound to sentences, no reference is released yet",
    "archive.released": "references are released, the document is still there",
    "archive.deleted": "the document is deleted, the transaction not yet committed",
    "archive.committed": "the move is committed",
    "gc.deleted": "the rows are deleted, the transaction not yet committed",
    "gc.committed": "the rows are gone, all files are still there",
    "gc.unlinked": "the first file is gone",
    "recover.unlinked": "the first orphaned file is gone",
}
"""Where a process may die: the point, and how far the work is when it is passed."""

LOOKUP = "archive.lookup"
"""Passed just before the references of a document are looked up: the look-up can fail there."""

Passed: TypeAlias = Callable[[str], None]
"""Called with the name of a point when it is passed."""


class Crash(BaseException):
    """The process dies here.

    No ``Exception``: nothing that handles errors may catch it, for a dead process handles none.
    """


def nothing(point: str) -> None:
    """What happens at a point when nobody watches."""
