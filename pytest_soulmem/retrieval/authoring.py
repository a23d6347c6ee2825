"""What helps to write query files: faults without a run, advice, the schema, an example."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_soulmem.cases import faults_of
from pytest_soulmem.decoding import unknown_fields
from pytest_soulmem.faults import Fault, FixtureError, owned_by
from pytest_soulmem.retrieval.graph import read_graph
from pytest_soulmem.retrieval.query import QueryDocument, QueryFile, RetrievalCase, load_query_file
from pytest_soulmem.retrieval.weights import Weights, sweep_advice, sweep_faults
from pytest_soulmem.schemas import json_schema
from pytest_soulmem.settings import Mode


def faults(path: Path, document: object) -> Sequence[Fault]:
    """Everything that is wrong in a query file, its graph and its cases."""
    try:
        file = load_query_file(path, document, read_graph)
    except FixtureError as error:
        return error.faults
    swept = [fault for mode in _modes(file) for fault in sweep_faults(file.weight_sets, mode)]
    return [*swept, *faults_of(file.cases)]


def _modes(file: QueryFile) -> list[Mode]:
    """The modes of a file's cases, as far as the file says."""
    return sorted(
        {
            case.mode or file.config.mode or "full"
            for case in file.cases
            if isinstance(case, RetrievalCase)
        }
    )


def advice(path: Path, document: object) -> Sequence[Fault]:
    """Fields that are ignored, and of a file without faults what else may not be meant.

    That is a threshold that no score reaches, a damping where nothing walks, cases that expect
    nothing, and texts that are no short statements.
    """
    return [*unknown_fields(document, QueryDocument, "$"), *_advice_on_sound(path, document)]


def _advice_on_sound(path: Path, document: object) -> Sequence[Fault]:
    # Imported here: only the command line gives advice, and the segmenter loads a dictionary.
    from pytest_soulmem.retrieval.advice import advice as advice_on

    try:
        file = load_query_file(path, document, read_graph)
    except FixtureError:
        return ()
    raw_cases = document["test_cases"] if isinstance(document, dict) else []
    found = _advice_on_threshold(file.config.similarity_threshold)
    found += [fault for mode in _modes(file) for fault in sweep_advice(file.weight_sets, mode)]
    for number, (case, raw) in enumerate(zip(file.cases, raw_cases, strict=True)):
        place = f"$.test_cases[{number}]"
        if isinstance(case, RetrievalCase):
            remarks = advice_on(case, place)
            if "expected_combined_ranking" not in raw:
                message = "nothing is expected, so this never fails; write [] if that is meant"
                remarks.append(Fault(f"{place}.expected_combined_ranking", message))
            found += owned_by(f'case "{case.name}"', remarks)
    return found


def _advice_on_threshold(threshold: float) -> list[Fault]:
    if -1 <= threshold <= 1:
        return []
    percent = f"; {threshold / 100:g} may be meant" if 1 < threshold <= 100 else ""
    message = f"{threshold:g} separates nothing: scores lie between about -1 and 1{percent}"
    return [Fault("$.config.similarity_threshold", message)]


def schema() -> dict[str, Any]:
    """The JSON Schema of a query file."""
    found = json_schema(QueryDocument)
    weights = json_schema(Weights)["$defs"]["Weights"]
    # Sweeps are read as plain maps, so that a misspelt weight is told with the right name.
    found["$defs"]["BlendSweep"]["properties"]["pairs"] = {
        "anyOf": [{"type": "array", "items": weights}, {"type": "null"}],
        "default": None,
    }
    return found


def example(path: Path) -> dict[Path, object]:
    """A query file of one case, and a graph of two memories for it."""
    graph = f"../graphs/{path.stem}.json"
    concept = {"concept_identifier": "tabby cat", "description": "a cat in the house"}
    return {
        path: {
            "name": path.stem,
            "description": "what these cases test",
            "graph_path": graph,
            "config": {"similarity_threshold": 0.0, "max_results": 10, "test_k_values": [1, 3, 5]},
            "test_cases": [
                {
                    "name": "the cat",
                    "description": "what this case shows",
                    "sub_queries": [
                        {"priority": 1, "tag": ["pet"], "variant": {"Semantic": [concept]}}
                    ],
                    "expected_combined_ranking": ["cat"],
                }
            ],
        },
        Path(os.path.normpath(path.parent / graph)): [
            _memory("cat", "pet", "Tabby", "the orange cat that sleeps in the sun"),
            _memory("bike", "transport", "bicycle", "the blue bicycle for the way to work"),
        ],
    }


def _memory(name: str, tag: str, content: str, description: str) -> dict[str, object]:
    return {
        "id": name,
        "tags": [tag],
        "mem_type": {
            "Semantic": {
                "content": content,
                "aliases": [],
                "concept_type": "Entity",
                "description": description,
            }
        },
        "mem_links": [],
    }
