"""Small graphs, queries and answers as the fixtures write them, and a fake embedder."""

import functools
import hashlib
import json

import msgspec
import numpy as np

from pytest_soulmem.retrieval.graph import Graph, Node, read_graph
from pytest_soulmem.retrieval.outcome import AtK, Metrics, Outcome, System
from pytest_soulmem.retrieval.query import RetrievalCase, SubQuery, load_query_file
from pytest_soulmem.retrieval.ranking import ordered
from pytest_soulmem.retrieval.retriever import Query, Retrieval, Scored
from pytest_soulmem.retrieval.weights import Weights

DIMENSION = 16


@functools.cache
def _vector(side, text):
    seed = int.from_bytes(hashlib.sha256(f"{side}\0{text}".encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSION)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def embed(side, texts):
    """Vectors that are deterministic, normalised and different on the two sides."""
    assert all(texts), "an empty text counts as absent and is never embedded"
    return np.stack([_vector(side, text) for text in texts])


def exact_embed(_, texts):
    """Vectors of four halves: products of two of them are exact in any order of summing."""
    return np.stack([_halves(text) for text in texts])


@functools.cache
def _halves(text):
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    generator = np.random.default_rng(seed)
    vector = np.zeros(8, np.float32)
    places = generator.choice(8, 4, replace=False)
    vector[places] = generator.choice([0.5, -0.5], 4)
    return vector


# --- graphs -------------------------------------------------------------------------------------


def node(name, mem_type, tags=(), links=()):
    return {"id": name, "tags": list(tags), "mem_type": mem_type, "mem_links": list(links)}


def semantic(name, content="内容", *, aliases=(), description="描述", tags=(), links=()):
    value = {
        "content": content,
        "aliases": list(aliases),
        "concept_type": "Entity",
        "description": description,
    }
    return node(name, {"Semantic": value}, tags, links)


def specific(name, narrative="叙述", context=None, *, tags=(), links=()):
    value = {"narrative": narrative, "time_span": None, "context": context}
    return node(name, {"Situation": {"SpecificSituation": value}}, tags, links)


def abstract(name, kind="Location", value=None, *, tags=(), links=()):
    value = {"name": "酒馆"} if value is None else value
    return node(name, {"Situation": {"AbstractSituation": {kind: value}}}, tags, links)


def procedure(name, content="说话", *, tags=(), links=()):
    value = {"action": {"content": content, "action_type": "Speak"}}
    return node(name, {"Procedure": value}, tags, links)


def link(source, target, link_type, intensity=1.0):
    return {"from": source, "to": target, "intensity": intensity, "link_type": link_type}


def sem(source, target, intensity=1.0, confidence=0.8):
    link_type = {"Sem": {"verb": "有关", "confidence": confidence}}
    return link(source, target, link_type, intensity)


def situation(source, target, intensity=1.0):
    return link(source, target, {"Situation": {"AbstractToSpecific": {}}}, intensity)


def proc(source, target, prob, intensity=1.0):
    return link(source, target, {"Proc": {"TrigToAction": {"prob": prob}}}, intensity)


def graph_of(nodes):
    return Graph(msgspec.convert(nodes, tuple[Node, ...]))


# --- queries ------------------------------------------------------------------------------------


def concept_query(identifier=None, description=None, *, tag=(), priority=1):
    unit = {"concept_identifier": identifier, "description": description}
    return {"priority": priority, "tag": list(tag), "variant": {"Semantic": [unit]}}


def scene_query(*units, tag=(), priority=1):
    return {"priority": priority, "tag": list(tag), "variant": {"Situation": list(units)}}


def tag_query(*tag, priority=1):
    return {"priority": priority, "tag": list(tag), "variant": {"Semantic": []}}


def sub_queries_of(raw):
    return msgspec.convert(raw, tuple[SubQuery, ...])


def query_of(raw, *, mode="embedding", threshold=-9.0, max_results=10, **weights):
    return Query(sub_queries_of(raw), Weights(**weights), mode, threshold, max_results)


def case_of(must=(), bonus=(), **fields):
    raw = {
        "name": "case",
        "sub_queries": [tag_query("x")] * 2,
        "expected_combined_ranking": list(must),
        "bonus_combined_ranking": list(bonus),
    }
    return msgspec.convert(raw | fields, RetrievalCase)


# --- answers ------------------------------------------------------------------------------------


def ranking(*ids, scores=None, keys=None):
    """Scored ids, best first: 1, 0.5, 0.333… where no scores are given."""
    scores = scores or [1 / rank for rank in range(1, len(ids) + 1)]
    keys = keys or [None] * len(ids)
    return [Scored(*item) for item in zip(ids, scores, keys, strict=True)]


def retrieval(*ids, scores=None, keys=None, **fields):
    return Retrieval(combined=ranking(*ids, scores=scores, keys=keys), **fields)


# --- files --------------------------------------------------------------------------------------


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(document, bytes):
        document = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    path.write_bytes(document)
    return path


def query_document(*cases, **fields):
    """A query file with the given cases; each is a change to a whole one."""
    return {
        "name": "queries",
        "description": "",
        "graph_path": "graph.json",
        "config": {"similarity_threshold": 0.0, "max_results": 3, "test_k_values": [1, 3]},
        "test_cases": [
            {"name": f"case {position}", "sub_queries": [tag_query("x")], **changes}
            for position, changes in enumerate(cases or ({},))
        ],
    } | fields


GRAPH = [
    semantic("rust", "Rust", links=[sem("rust", "iron")]),
    semantic("iron", "铁锈"),
    abstract("tavern"),
    procedure("speak"),
]


def load(tmp_path, document, graph=GRAPH):
    """The query file of a document beside a graph."""
    write(tmp_path / "graph.json", graph)
    return load_query_file(tmp_path / "query.json", document, read_graph)


# --- outcomes -----------------------------------------------------------------------------------


def at_k(k, recall=0.0, precision=0.0, ndcg=0.0, success=0.0):
    return AtK(k, recall, precision, ndcg, success)


def outcome(**changes):
    """A judged case that passed with perfect metrics at 5."""
    whole = Outcome(
        case="case",
        weights="",
        tag=0.3,
        variant=0.7,
        mode="full",
        check="order",
        system=System("fake"),
        negative=False,
        retrieved=("rust",),
        expected=("rust",),
        metrics=Metrics(1.0, (at_k(5, 1, 0.2, 1, 1),)),
        actions=None,
        abstract=None,
        actions_unjudged=False,
    )
    return msgspec.structs.replace(whole, **changes)


def rankings(scores):
    """Rankings from the scores of each by node."""
    entries = [(own, at, score) for own, found in enumerate(scores) for at, score in found.items()]
    owners, positions, values = zip(*entries, strict=True) if entries else ((), (), ())
    return ordered(
        np.array(owners, np.intp),
        np.array(positions, np.intp),
        np.array(values, float),
        len(scores),
    )


def blended(scores, weights):
    """The similarity of every node to a sub-query."""
    return scores.blended(scores.unit_scores(weights), weights)
