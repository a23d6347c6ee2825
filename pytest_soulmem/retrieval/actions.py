"""Which actions the retrieved situations suggest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.graph import Graph

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


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights in proportion to the exponential of the scores; they sum to 1."""
    exponentials: NDArray[np.float64] = np.exp(scores - scores.max())
    shares: NDArray[np.float64] = exponentials / exponentials.sum()
    return shares


def infer(
    scores: NDArray[np.float64], factors: NDArray[np.float64], probabilities: csr_array
) -> NDArray[np.float64]:
    """The score of every node as an action, 0 for those that nothing triggers.

    ``scores`` are those of the retrieved memories, 0 for all others; shape ``(nodes,)``.
    """
    sources = scores * factors
    chosen = np.flatnonzero(sources > 0)
    if not len(chosen):
        return np.zeros(len(scores))
    weights = np.zeros(len(scores))
    weights[chosen] = softmax(sources[chosen])
    # All rows: a product with so few numbers costs less than taking rows out of the matrix.
    return accumulate(weights, probabilities)


def accumulate(weights: NDArray[np.float64], probabilities: csr_array) -> NDArray[np.float64]:
    """The sum of ``probability · weight`` over sources, per action."""
    summed: NDArray[np.float64] = np.asarray(weights @ probabilities)
    return summed
