"""One field of many owners at a time: its texts and their vectors.

Memories share texts: a name, a role, a mood. Owners whose texts are the same share a row, so that
each is embedded, kept and compared once, and like memories get like scores to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.embedders import Side
from pytest_soulmem.retrieval.fields import Fields, Texts

Embed: TypeAlias = Callable[[Side, Sequence[str]], NDArray[np.float32]]
"""Vectors of texts of one side, L2-normalised, shape ``(texts, dimension)``."""

_ROWS_AT_ONCE = 4096


@dataclass
class Column:
    """One field: ``owners[i]`` has the texts ``entries[rows[i]]``."""

    owners: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    entries: dict[Texts, int] = field(default_factory=dict)
    """The distinct texts, by row."""

    def add(self, owner: int, texts: Texts) -> None:
        """Another owner, after those that are there."""
        self.owners.append(owner)
        self.rows.append(self.entries.setdefault(texts, len(self.entries)))


def columns(owned: Iterable[Fields]) -> dict[str, Column]:
    """The fields of owners, who are numbered from 0, by name."""
    found: dict[str, Column] = {}
    for owner, given in enumerate(owned):
        for name, texts in given.items():
            found.setdefault(name, Column()).add(owner, texts)
    return found


def column_texts(some: Iterable[Column]) -> dict[str, None]:
    """The texts of some columns, each once, in the order in which they first appear."""
    return dict.fromkeys(text for column in some for texts in column.entries for text, _ in texts)


def vectors(column: Column, side: Side, embed: Embed) -> NDArray[np.float32]:
    """The mean vector of each row, of length 1 or 0; shape ``(rows, dimension)``."""
    entries = list(column.entries)
    found = _mean_vectors(entries[:_ROWS_AT_ONCE], side, embed)
    if len(entries) <= _ROWS_AT_ONCE:
        return found
    # In place: joining blocks would need twice the memory.
    every = np.empty((len(entries), found.shape[1]), np.float32)
    every[:_ROWS_AT_ONCE] = found
    for start in range(_ROWS_AT_ONCE, len(entries), _ROWS_AT_ONCE):
        block = entries[start : start + _ROWS_AT_ONCE]
        every[start : start + _ROWS_AT_ONCE] = _mean_vectors(block, side, embed)
    return every


def _mean_vectors(entries: Sequence[Texts], side: Side, embed: Embed) -> NDArray[np.float32]:
    distinct = list(dict.fromkeys(text for texts in entries for text, _ in texts))
    column = {text: position for position, text in enumerate(distinct)}
    weights = csr_array(
        (
            np.array([weight for texts in entries for _, weight in texts], np.float32),
            (
                [row for row, texts in enumerate(entries) for _ in texts],
                [column[text] for texts in entries for text, _ in texts],
            ),
        ),
        shape=(len(entries), len(distinct)),
    )
    sums: NDArray[np.float32] = weights @ embed(side, distinct)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    sums /= np.where(lengths > 0, lengths, 1)
    return sums


def multiply(
    left: NDArray[np.float32], right: NDArray[np.float32], out: NDArray[np.float64]
) -> None:
    """The products of all vectors, into ``out`` of shape ``(len(left), len(right))``.

    In double precision: in single, the last of six decimals would depend on what is multiplied
    along with it, and a score on the edge of a threshold on which cases run together.
    """
    wide = left.astype(np.float64)
    for start in range(0, len(right), _ROWS_AT_ONCE):
        block = right[start : start + _ROWS_AT_ONCE].astype(np.float64)
        np.matmul(wide, block.T, out=out[:, start : start + _ROWS_AT_ONCE])
