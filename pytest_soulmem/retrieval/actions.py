"""Which actions the retrieved situations suggest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.graph import Graph
from pytest_soulmem.retrieval.ranking import LEAST, NOTHING, Ranked, best
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


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights in proportion to the exponential of the scores; they sum to 1."""
    exponentials: NDArray[np.float64] = np.exp(scores - scores.max())
    shares: NDArray[np.float64] = exponentials / exponentials.sum()
    return shares


def infer(
    found: Ranked, factors: NDArray[np.float64], probabilities: csr_array, limit: int
) -> Ranked:
    """The best actions that retrieved memories trigger; a memory's score below 0 counts as 0."""
    sources = np.maximum(found.scores, 0) * factors[found.positions]
    chosen = sources > 0
    if not chosen.any():
        return NOTHING
    weights = softmax(sources[chosen])
    targets, scores = accumulate(found.positions[chosen], weights, probabilities)
    return best(scores, limit, LEAST).numbered(targets)


def accumulate(
    sources: NDArray[np.intp], weights: NDArray[np.float64], probabilities: csr_array
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The actions that some nodes trigger, and the sum of ``probability · weight`` of each."""
    entries, counts = row_entries(probabilities, sources)
    shares = probabilities.data[entries] * np.repeat(weights, counts)
    targets, action = np.unique(probabilities.indices[entries], return_inverse=True)
    scores: NDArray[np.float64] = np.bincount(action, shares, len(targets)).astype(np.float64)
    return targets.astype(np.intp), scores
