"""From entities to the media that were there when something was said of them.

A media hangs on sentences, not on entities: it is reached through the relations of an entity and
the sentences that they come from. The depth is one. Going further would bring pictures that have
nothing to do with what was asked, and they cost context.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

_MEDIA_OF_ENTITY = """
SELECT m.digest, min(r.rowid) AS first FROM entity e
JOIN relation r ON r.subject = e.id OR r.object = e.id
JOIN media_reference f ON f.kind = 'graph_sentence' AND f.owner = CAST(r.sentence AS TEXT)
JOIN media m ON m.digest = f.digest
WHERE e.name = ? GROUP BY m.digest ORDER BY first
"""


def media_of(connection: sqlite3.Connection, entities: Sequence[str]) -> list[str]:
    """The stored media that relations of these entities lead to, each once, oldest first."""
    found: dict[str, None] = {}
    for entity in entities:
        for digest, _ in connection.execute(_MEDIA_OF_ENTITY, (entity,)):
            found[digest] = None
    return list(found)
