"""Masking: which words of a text are missing at a degree, the same everywhere and always."""

from __future__ import annotations

import functools
import math
from hashlib import sha256
from typing import Any

from pytest_soulmem.forgetting.terms import PLACEHOLDER, TRIGGER


def words(text: str) -> list[str]:
    """The tokens of jieba's segmentation (HMM on), spaces and punctuation too.

    Joined, they are the text again.
    """
    tokens: list[str] = _segmenter().cut(text)
    return tokens


@functools.cache
def _segmenter() -> Any:
    """A segmenter of our own: words that somebody adds to the shared one must not move masks."""
    import rjieba

    return rjieba.Jieba()


def masked_count(word_count: int, missing_degree: float) -> int:
    """How many of n words are masked: 0 below the trigger, else max(1, ⌊m·n + ½⌋), at most n."""
    if missing_degree < TRIGGER:
        return 0
    return min(word_count, max(1, math.floor(missing_degree * word_count + 0.5)))


def masking_order(text: str, word_count: int) -> list[int]:
    """Word positions in the order in which they go missing.

    Sorted by the SHA-256 of the UTF-8 text, a NUL and the decimal position. The order does not
    depend on the degree, so what is masked at a lower degree stays masked at a higher one.
    """
    start = sha256(text.encode("utf-8") + b"\0")

    def digest(position: int) -> bytes:
        whole = start.copy()
        whole.update(str(position).encode("ascii"))
        return whole.digest()

    return sorted(range(word_count), key=digest)


def mask(text: str, missing_degree: float) -> str:
    """The text with words replaced by `` [masked] `` to the degree given, from 0 to 1.

    Example:
        >>> mask("机器学习是人工智能的一个重要分支", 0.0)
        '机器学习是人工智能的一个重要分支'
    """
    tokens = words(text)
    count = masked_count(len(tokens), missing_degree)
    missing = set(masking_order(text, len(tokens))[:count])
    return "".join(
        PLACEHOLDER if position in missing else token for position, token in enumerate(tokens)
    )
