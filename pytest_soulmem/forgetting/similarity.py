"""How much of a text is left in another: the overlap of their character trigrams."""

from __future__ import annotations


def trigrams(text: str) -> frozenset[str]:
    """Every run of three characters; a shorter text is its own only one."""
    return frozenset(text[start : start + 3] for start in range(max(1, len(text) - 2)))


def similarity(first: str, second: str) -> float:
    """Jaccard overlap of the trigrams, from 0 to 1; equal texts have 1.

    Example:
        >>> similarity("abcd", "abce")
        0.3333333333333333
    """
    ours, theirs = trigrams(first), trigrams(second)
    return len(ours & theirs) / len(ours | theirs)
