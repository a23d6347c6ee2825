"""Parts of records that are handed on as the JSON they are: reading them takes longest."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from msgspec import Raw

_UNREAD = ("rankings", "sub_queries")
"""Most of a record. Files take them over as they are."""
_NOTHING = (b"null", b"[]")


def decode(text: str) -> dict[str, Any]:
    """A record, whose rankings and results of sub-queries are ``Raw`` if it has any.

    Raises:
        msgspec.DecodeError: it is no JSON.
    """
    fields = _fields().decode(text)
    return {
        name: field
        if name in _UNREAD and bytes(field) not in _NOTHING
        else msgspec.json.decode(field)
        for name, field in fields.items()
    }


def read(value: Any) -> Any:
    """The same as plain data throughout."""
    # All that msgspec does not know by itself is ``Raw``.
    return msgspec.to_builtins(value, enc_hook=msgspec.json.decode)


@cache
def _fields() -> msgspec.json.Decoder[dict[str, Raw]]:
    return msgspec.json.Decoder(dict[str, Raw])
