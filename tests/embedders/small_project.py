"""A graph of two memories and files that query it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def make_project(folder: Path, files: Sequence[str]) -> None:
    """Each file has one case; its texts are those of the others and one of its own."""
    write(folder / "graphs" / "pets.json", [memory("cat"), memory("bike")])
    for name in files:
        write(folder / "queries" / f"{name}.json", query_file(name))


def memory(name: str) -> dict[str, object]:
    concept = {
        "content": name,
        "aliases": [],
        "concept_type": "Entity",
        "description": f"{name} is here",
    }
    return {"id": name, "tags": [name], "mem_type": {"Semantic": concept}}


def query_file(name: str) -> dict[str, object]:
    units = [{"concept_identifier": "cat", "description": text} for text in ("the cat", name)]
    case = {
        "name": "cats",
        "sub_queries": [{"priority": 1, "tag": ["cat"], "variant": {"Semantic": units}}],
        "expected_combined_ranking": ["cat"],
    }
    return {
        "name": name,
        "description": "",
        "graph_path": "../graphs/pets.json",
        "config": {
            "similarity_threshold": 0.0,
            "max_results": 10,
            "test_k_values": [1],
            "check": "none",
        },
        "test_cases": [case],
    }


def write(path: Path, document: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document))
