"""Fields column by column: rows that are shared, mean vectors, and products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_soulmem.retrieval import columns as module
from pytest_soulmem.retrieval.columns import column_texts, columns, multiply, vectors
from retrieval.builders import embed
from retrieval.strategies import lean

texts = st.lists(
    st.tuples(st.sampled_from(["甲", "乙", "丙"]), st.sampled_from([0.5, 1.0])),
    min_size=1,
    max_size=3,
).map(tuple)
owned = st.lists(st.dictionaries(st.sampled_from(["tags", "content"]), texts), max_size=8)


@lean
@given(owned)
def test_every_owner_keeps_its_texts_and_equal_texts_share_a_row(fields):
    found = columns(fields)
    kept: list = [{} for _ in fields]
    for name, column in found.items():
        entries = list(column.entries)
        assert len(set(entries)) == len(entries)
        assert column.owners == sorted(column.owners)
        for owner, row in zip(column.owners, column.rows, strict=True):
            kept[owner][name] = entries[row]
    assert kept == fields


@lean
@given(owned)
def test_distinct_texts_come_once_in_order(fields):
    found = columns(fields)
    every = [text for column in found.values() for own in column.entries for text, _ in own]
    assert list(column_texts(found.values())) == list(dict.fromkeys(every))


@lean
@given(owned, st.integers(1, 4))
def test_vectors_are_the_normalised_means_whatever_the_block(fields, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS_AT_ONCE", at_once)
        for column in columns(fields).values():
            found = vectors(column, "query", embed)
            assert found.dtype == np.float32
            for own, vector in zip(column.entries, found, strict=True):
                mean = sum(weight * embed("query", [text])[0].astype(float) for text, weight in own)
                assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_opposite_texts_have_no_direction():
    def opposite(_, asked):
        return np.array([[1.0, 0.0] if text == "yes" else [-1.0, 0.0] for text in asked], "f4")

    (column,) = columns([{"tags": (("yes", 1.0), ("no", 1.0))}]).values()
    assert vectors(column, "passage", opposite).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("at_once", [1, 7, 1000])
def test_a_product_does_not_depend_on_what_is_multiplied_along_with_it(at_once, monkeypatch):
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    left, right = (
        (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        for rows in (rng.standard_normal((60, 384)), rng.standard_normal((50, 384)))
    )

    def product(some, others):
        out = np.empty((len(some), len(others)))
        multiply(some, others, out)
        return out

    whole = product(left, right)
    assert whole == pytest.approx(left.astype(float) @ right.astype(float).T, abs=1e-14)
    alone = np.array([product(left[at : at + 1], right)[0] for at in range(len(left))])
    # In single precision it is some 5e-8, which can move the sixth decimal.
    assert np.abs(alone - whole).max() < 1e-15
