"""Rows of a sparse matrix against the dense one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.rows import row_entries
from retrieval.strategies import lean


@lean
@given(
    st.lists(
        st.lists(st.sampled_from([0, 0, 1, 2]), min_size=4, max_size=4), min_size=4, max_size=4
    ),
    st.lists(st.integers(0, 3), max_size=5),
)
def test_entries_are_those_of_the_rows_in_their_order(dense, rows):
    matrix = csr_array(np.array(dense))
    entries, counts = row_entries(matrix, np.array(rows, np.intp))
    found = list(zip(matrix.indices[entries].tolist(), matrix.data[entries].tolist(), strict=True))
    assert found == [(at, value) for row in rows for at, value in enumerate(dense[row]) if value]
    assert counts.tolist() == [sum(value != 0 for value in dense[row]) for row in rows]
