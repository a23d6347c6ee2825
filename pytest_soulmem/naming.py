"""The names of cases: how items carry them, and what cannot name an item."""

from __future__ import annotations

import unicodedata


def case_name(raw: object) -> object:
    """The name of a raw case, normalised to NFC and stripped, as items carry it."""
    name = raw.get("name") if isinstance(raw, dict) else None
    return unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else name


def name_faults(name: object, taken: dict[str, int]) -> list[str]:
    """Why a name cannot name an item of its file; nothing for what is no text at all."""
    if not isinstance(name, str):
        return []
    if not name:
        return ["the name is empty"]
    if "::" in name:
        return ["the name contains `::`, which pytest uses between the parts of a node id"]
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in name):
        return ["the name contains a control character"]
    if name in taken:
        return [f'the name "{name}" is taken by $.test_cases[{taken[name]}]']
    return []
