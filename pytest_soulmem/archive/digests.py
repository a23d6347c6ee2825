"""What names a content."""

from __future__ import annotations

import hashlib


def sha256(data: bytes) -> str:
    """The SHA-256 of a content, as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
