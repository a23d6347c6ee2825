"""What each kind of fixture is, in words, and where its files live.

Apart from :mod:`pytest_soulmem.kinds`, because every project that has the plugin installed waits
for this much.
"""

from __future__ import annotations

from pathlib import Path

SUMMARIES = {
    "retrieval": "a retrieval case",
    "forgetting": "a forgetting case, or a law of the forgetting curve",
    "events": "a scenario of model events, or a law of reducing them",
    "archive": "a scenario of the archive chain, or a law of it",
}
"""By the name of the kind: what an item of it is."""
PLACES = {
    "retrieval": ("queries/*.json", "*/question*.json"),
    "forgetting": ("forget/*.json",),
    "events": ("events/*.json",),
    "archive": ("archive/*.json",),
}
"""By the name of the kind: patterns of a folder, and of a file in it."""


def place_of(path: Path) -> str | None:
    """The name of the kind whose files live where this one does."""
    for kind, patterns in PLACES.items():
        if any(_matches(path, pattern) for pattern in patterns):
            return kind
    return None


def _matches(path: Path, pattern: str) -> bool:
    folder, _, file = pattern.partition("/")
    # Not fnmatch, which would compile five regular expressions for a project without fixtures.
    start, _, end = file.partition("*")
    return (
        folder in ("*", path.parent.name)
        and path.name.startswith(start)
        and path.name.endswith(end)
    )
