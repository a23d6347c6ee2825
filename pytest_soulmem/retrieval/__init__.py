"""Memory retrieval: fixtures, the reference retriever, and how a ranking is judged."""

from pytest_soulmem.retrieval.graph import Graph, read_graph
from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.retriever import Query, Retrieval, Retriever, Scored
from pytest_soulmem.retrieval.weights import Weights

__all__ = [
    "Graph",
    "Query",
    "Retrieval",
    "Retriever",
    "Scored",
    "SubQuery",
    "Weights",
    "read_graph",
]
