"""Some rows of a sparse matrix, at the cost of those rows alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


def row_entries(
    matrix: csr_array, rows: NDArray[np.integer]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where in ``indices`` and ``data`` the entries of some rows are, and how many each row has.

    scipy makes a matrix of them, which for few rows costs more than all the rest.
    """
    first = matrix.indptr[rows]
    counts = matrix.indptr[rows + 1] - first
    ends = np.cumsum(counts)
    total = ends[-1] if len(ends) else 0
    return np.repeat(first - ends + counts, counts) + np.arange(total), counts
