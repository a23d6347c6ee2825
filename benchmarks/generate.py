"""Seeded graphs and query files of any size, and an embedder that costs nothing.

Texts are drawn from a small vocabulary of made-up words, so that many nodes share some of them,
as real memories do. One seed gives the same files everywhere.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_soulmem.embedders import Identity, Side

DIMENSION = 384
_SYLLABLES = "山水风月花鸟书茶雨雪江海云石竹松梅兰春秋晨夜"


class HashEmbedder:
    """Random vectors of unit length, the same for the same text: no model, no meaning."""

    identity = Identity("hash", "benchmark", "1")

    def embed(self, texts: Sequence[str], side: Side) -> np.ndarray:
        """One vector per text, shape ``(n, 384)``."""
        return np.array([_vector(f"{side}\0{text}") for text in texts], np.float32)


def embedder() -> HashEmbedder:
    """For ``--soulmem-embedder=generate:embedder``."""
    return HashEmbedder()


def _vector(text: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(DIMENSION)


def graph(rng: random.Random, nodes: int, links_per_node: int = 4) -> list[dict[str, Any]]:
    """A graph of all node kinds: half concepts, a third situations, the rest patterns, actions."""
    ids = [f"node_{number}" for number in range(nodes)]
    kinds = [_kind(rng) for _ in ids]
    return [
        {
            "id": name,
            "tags": _words(rng, 2),
            "mem_type": _memory(rng, kind),
            "mem_links": [
                _link(rng, name, target, kinds[target])
                for target in rng.choices(range(nodes), k=links_per_node)
            ],
        }
        for name, kind in zip(ids, kinds, strict=True)
    ]


def query_file(
    rng: random.Random,
    graph_path: str,
    nodes: Sequence[dict[str, Any]],
    cases: int,
    sub_queries: int,
    weight_sets: int,
) -> dict[str, Any]:
    """A query file whose cases ask for nodes of the graph in other words."""
    file: dict[str, Any] = {
        "name": "generated",
        "description": "generated for a benchmark",
        "graph_path": graph_path,
        "config": {"similarity_threshold": 0.0, "max_results": 10, "test_k_values": [1, 3, 5]},
        "test_cases": [_case(rng, nodes, number, sub_queries) for number in range(cases)],
    }
    if weight_sets > 1:
        steps = [round((number + 1) / (weight_sets + 1), 3) for number in range(weight_sets)]
        file["blend_sweep"] = {"tag_sweep": steps}
    return file


def write(folder: Path, name: str, nodes: list[dict[str, Any]], queries: dict[str, Any]) -> Path:
    """Write ``graphs/NAME.json`` and ``queries/NAME.json``; returns the path of the latter."""
    (folder / "graphs").mkdir(parents=True, exist_ok=True)
    (folder / "queries").mkdir(exist_ok=True)
    (folder / "graphs" / f"{name}.json").write_text(json.dumps(nodes), "utf-8")
    path = folder / "queries" / f"{name}.json"
    path.write_text(json.dumps(queries), "utf-8")
    return path


def _words(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(_SYLLABLES, k=2)) for _ in range(count)]


def _phrase(rng: random.Random) -> str:
    return "".join(_words(rng, 6))


def _kind(rng: random.Random) -> str:
    return rng.choices(["semantic", "specific", "abstract", "procedure"], [50, 33, 10, 7])[0]


def _memory(rng: random.Random, kind: str) -> dict[str, Any]:
    if kind == "semantic":
        return {
            "Semantic": {
                "content": _words(rng, 1)[0],
                "aliases": _words(rng, rng.randrange(3)),
                "concept_type": "Entity",
                "description": _phrase(rng),
            }
        }
    if kind == "specific":
        return {"Situation": {"SpecificSituation": _situation(rng)}}
    if kind == "abstract":
        return {"Situation": {"AbstractSituation": _pattern(rng)}}
    return {"Procedure": {"action": {"content": _phrase(rng), "action_type": {"Skill": {}}}}}


def _situation(rng: random.Random) -> dict[str, Any]:
    place, who, role, mood, tone, deed, what = _words(rng, 7)
    return {
        "narrative": _phrase(rng),
        "time_span": "2026-06-01T08:00:00Z",
        "context": {
            "location": {"name": place, "coordinates": _words(rng, 1)[0]},
            "participants": [{"name": who, "role": role}],
            "emotions": [],
            "sensory_data": [],
            "environment": {"atmosphere": mood, "tone": tone},
            "event": [{"action": deed, "action_intensity": 0.8, "initiator": who, "target": what}],
        },
    }


def _pattern(rng: random.Random) -> dict[str, Any]:
    first, second, third = _words(rng, 3)
    return rng.choice(
        [
            {"Location": {"name": first, "coordinates": second}},
            {"Participant": {"name": first, "role": second}},
            {"Environment": {"atmosphere": first, "tone": second}},
            {
                "Event": {
                    "action": first,
                    "action_intensity": 0.5,
                    "initiator": second,
                    "target": third,
                }
            },
        ]
    )


def _link(rng: random.Random, source: str, target: int, kind: str) -> dict[str, Any]:
    if kind == "procedure":
        link_type: dict[str, Any] = {"Proc": {"TrigToAction": {"prob": round(rng.random(), 2)}}}
    elif kind in ("specific", "abstract"):
        link_type = {"Situation": {"AbstractToSpecific": {}}}
    else:
        link_type = {"Sem": {"verb": "related", "confidence": round(rng.random(), 2)}}
    return {
        "from": source,
        "to": f"node_{target}",
        "intensity": round(rng.uniform(0.1, 1), 2),
        "link_type": link_type,
    }


def _case(
    rng: random.Random, nodes: Sequence[dict[str, Any]], number: int, sub_queries: int
) -> dict[str, Any]:
    wanted = rng.sample([node for node in nodes if "Procedure" not in node["mem_type"]], 2)
    return {
        "name": f"case {number}",
        "description": "generated",
        "sub_queries": [
            {
                "priority": rng.randrange(10),
                "tag": wanted[0]["tags"],
                "variant": _variant(rng, wanted[0]["mem_type"]),
            }
            for _ in range(sub_queries)
        ],
        "expected_combined_ranking": [node["id"] for node in wanted],
        "check": "none",
    }


def _variant(rng: random.Random, memory: dict[str, Any]) -> dict[str, Any]:
    if "Semantic" in memory:
        own = memory["Semantic"]
        return {"Semantic": [{"concept_identifier": own["content"], "description": _phrase(rng)}]}
    place, who, mood, deed = _words(rng, 4)
    return {
        "Situation": [
            {
                "narrative": _phrase(rng),
                "location": [{"name": place}],
                "participants": [{"name": who}],
                "environment": {"atmosphere": mood},
                "event": [{"action": deed, "initiator": who}],
            }
        ]
    }
