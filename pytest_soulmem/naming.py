"""The names of cases: how items carry them, and what cannot name an item."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path

from pytest_soulmem.faults import Fault


def case_name(raw: object, key: str = "name") -> object:
    """The name of a raw case, normalised to NFC and stripped, as items carry it."""
    name = raw.get(key) if isinstance(raw, dict) else None
    return unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else name


def name_faults(name: object, taken: Mapping[str, str]) -> list[str]:
    """Why a name cannot name an item of its file; nothing for what is no text at all.

    ``taken`` says where the names stand that are used already.
    """
    if not isinstance(name, str):
        return []
    if not name:
        return ["the name is empty"]
    if "::" in name:
        return ["the name contains `::`, which pytest uses between the parts of a node id"]
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in name):
        return ["the name contains a control character"]
    if name in taken:
        return [f'the name "{name}" is taken by {taken[name]}']
    return []


def place_faults(place: str) -> list[Fault]:
    """Why pytest could not name anything in a file at that place."""
    if "::" not in place:
        return []
    message = "the path contains `::`, which pytest uses between the parts of a node id; rename it"
    return [Fault("", message)]


def place_of(path: Path, root: Path) -> str:
    """Where a file stands in its project, the same on every machine."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
