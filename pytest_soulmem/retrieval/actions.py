"""Which actions the retrieved situations suggest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.ranking import LEAST, Rankings, summed
from pytest_soulmem.retrieval.rows import row_entries

ABSTRACT_FACTOR = 2.0
ACTIONS_PER_SUB_QUERY = 3


def trigger_probabilities(graph: Graph) -> csr_array:
    """How likely each node triggers each Procedure node, shape ``(nodes, nodes)``.

    Parallel links add up.
    """
    rows, columns, probabilities = [], [], []
    for position, node in enumerate(graph.nodes):
        for link in node.mem_links:
            trigger = link.link_type.Proc
            if trigger and graph[link.target].procedure:
                rows.append(position)
                columns.append(graph.index[link.target])
                probabilities.append(trigger.probability)
    size = len(graph)
    return csr_array((np.array(probabilities, float), (rows, columns)), shape=(size, size))


def situation_factors(graph: Graph) -> NDArray[np.float64]:
    """By node: 2 for an abstract situation, 1 for a specific one, 0 for what triggers nothing."""
    return np.array(
        [
            ABSTRACT_FACTOR if node.abstract else 1.0 if node.specific else 0.0
            for node in graph.nodes
        ]
    )


def softmax(
    scores: NDArray[np.float64], owners: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    """Weights in proportion to the exponential of the scores; those of an owner sum to 1."""
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, owners, scores)
    exponentials = np.exp(scores - highest[owners])
    shares: NDArray[np.float64] = exponentials / np.bincount(owners, exponentials, count)[owners]
    return shares


def infer(
    found: Rankings, factors: NDArray[np.float64], probabilities: csr_array, limit: int
) -> Rankings:
    """The best actions that retrieved memories trigger; a memory's score below 0 counts as 0."""
    sources = np.maximum(found.scores, 0) * factors[found.positions]
    chosen = sources > 0
    triggering = found.only(chosen)
    weights = softmax(sources[chosen], triggering.owners, found.count)
    return accumulate(triggering, weights, probabilities).cut(limit)


def accumulate(
    sources: Rankings, weights: NDArray[np.float64], probabilities: csr_array
) -> Rankings:
    """The actions that the nodes of each ranking trigger, by the sums of probability · weight."""
    entries, counts = row_entries(probabilities, sources.positions)
    return summed(
        np.repeat(sources.owners, counts),
        probabilities.indices[entries],
        probabilities.data[entries] * np.repeat(weights, counts),
        sources.count,
        LEAST,
    )
