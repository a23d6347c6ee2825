"""String similarity of exact identifiers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import JaroWinkler, Levenshtein
from rapidfuzz.process import cdist


def similarities(queries: Sequence[str], choices: Sequence[str]) -> NDArray[np.float64]:
    """How alike identifiers are, by code point and case-sensitive.

    The higher of Jaro-Winkler similarity and ``1 - Levenshtein distance / longer length``, in
    [0, 1]. Shape ``(len(queries), len(choices))``.
    """
    if not queries or not choices:
        return np.zeros((len(queries), len(choices)))
    winkler = cdist(queries, choices, scorer=JaroWinkler.similarity, dtype=np.float64)
    edits = cdist(queries, choices, scorer=Levenshtein.normalized_similarity, dtype=np.float64)
    higher: NDArray[np.float64] = np.maximum(winkler, edits)
    return higher
