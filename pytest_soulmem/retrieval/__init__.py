"""Memory retrieval: fixtures, the reference retriever, and how a ranking is judged."""

from pytest_soulmem.retrieval.fields import node_texts, sub_query_texts
from pytest_soulmem.retrieval.graph import Graph, read_graph
from pytest_soulmem.retrieval.query import SubQuery
from pytest_soulmem.retrieval.retriever import Query, Retrieval, Retriever, Scored, ranked
from pytest_soulmem.retrieval.weights import Weights

__all__ = [
    "Graph",
    "Query",
    "Retrieval",
    "Retriever",
    "Scored",
    "SubQuery",
    "Weights",
    "node_texts",
    "ranked",
    "read_graph",
    "sub_query_texts",
]
