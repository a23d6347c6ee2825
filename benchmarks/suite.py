"""Whole pytest runs over generated data: ``python benchmarks/suite.py [--small]``.

The vectors are in the store beforehand, so no embedder runs. Per scene, in turn: pytest with as
many empty tests, and pytest with the cases. From their wall clock, processor time and peak memory
come what is pytest's and what is ours. The plain scorer (``plain.py``) does a sample of the
sub-queries and is extrapolated to all of them; its rankings must be ours.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import generate
from plain import PlainRetriever

from pytest_soulmem.embedders.store import VectorStore
from pytest_soulmem.retrieval import fields
from pytest_soulmem.retrieval.graph import Graph, read_graph
from pytest_soulmem.retrieval.query import QueryFile, load_query_file
from pytest_soulmem.retrieval.reference import ReferenceRetriever
from pytest_soulmem.retrieval.retriever import Query
from pytest_soulmem.retrieval.similarity import graph_columns, texts_of

HERE = Path(__file__).parent
SEED = 20260601
MIB = 2**20


@dataclass(frozen=True)
class Scene:
    """What is generated, how often it runs, and how many sub-queries the plain scorer does."""

    name: str
    graphs: int
    nodes: int
    cases: int
    sub_queries: int
    weight_sets: int
    target: str
    runs: int = 3
    sample: int = 3

    @property
    def items(self) -> int:
        """The test items of a run."""
        return self.graphs * self.cases * self.weight_sets


SCENES = (
    Scene("24 small graphs", 24, 50, 30, 2, 1, "5 s", sample=50),
    Scene("one of 5,000 nodes", 1, 5_000, 200, 5, 5, "8 s, 30 times faster"),
    Scene("one of 100,000 nodes", 1, 100_000, 50, 2, 1, "30 s, memory 1.5", runs=1, sample=1),
)
SMALL = (
    Scene("2 small graphs", 2, 50, 10, 2, 1, "-", runs=1),
    Scene("one of 500 nodes", 1, 500, 10, 5, 2, "-", runs=1),
)


@dataclass(frozen=True)
class Run:
    """What one pytest run cost."""

    wall: float
    processor: float
    memory: float
    """Peak resident set in MiB."""
    output: str = ""


def make(scene: Scene, folder: Path) -> None:
    """Write a scene's graphs and queries, and as many empty tests."""
    for number in range(scene.graphs):
        rng = random.Random(SEED + number)
        nodes = generate.graph(rng, scene.nodes)
        name = f"g{number}"
        queries = generate.query_file(
            rng, f"../graphs/{name}.json", nodes, scene.cases, scene.sub_queries, scene.weight_sets
        )
        generate.write(folder, name, nodes, queries)
    (folder / "empty").mkdir()
    (folder / "empty" / "test_empty.py").write_text(
        "import pytest\n\n\n"
        f'@pytest.mark.parametrize("number", range({scene.items}))\n'
        "def test_nothing(number):\n    pass\n"
    )


def run(folder: Path, *arguments: str) -> Run:
    """One pytest run in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    # Compiled modules are kept, as on any user's machine.
    # pytest clears away what earlier runs left in its temporary folder: not within ours.
    environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTEST_DEBUG_TEMPROOT": str(folder)}
    for name in ("PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        environment.pop(name, None)
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = process.stdout.read() if process.stdout else b""
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status:
        raise SystemExit(output.decode())
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output.decode())


def ours(folder: Path, *options: str) -> Run:
    """The cases."""
    return run(
        folder,
        "queries",
        "--rootdir=.",
        "--soulmem-embedder=generate:embedder",
        "--soulmem-vectors=vectors.sqlite3",
        *options,
    )


def least(runs: Sequence[Run]) -> Run:
    """The least of each figure: what others on the machine did can only add."""
    return Run(
        min(one.wall for one in runs),
        min(one.processor for one in runs),
        min(one.memory for one in runs),
    )


def channel_size(graph: Graph) -> float:
    """MiB of the float32 matrices of all fields: one vector per node and field that it has."""
    vectors = sum(len(fields.node_fields(node)) for node in graph.nodes)
    return vectors * generate.DIMENSION * 4 / MIB


def plain_seconds(scene: Scene, folder: Path) -> float:
    """Seconds per sub-query of the plain scorer; stops the run if it ranks otherwise."""
    path = folder / "queries" / "g0.json"
    file = load_query_file(path, json.loads(path.read_bytes()), read_graph)
    with VectorStore(folder / "vectors.sqlite3") as store:
        identity = generate.HashEmbedder.identity
        texts = texts_of(
            graph_columns(file.graph), [sub for case in file.cases for sub in case.sub_queries]
        )
        known = {
            (side, text): row
            for side, own in texts.items()
            for text, row in zip(own, store.vectors(identity, side, own), strict=True)
        }
        plain = PlainRetriever(file.graph, lambda side, text: known[side, text])
        sampled = random.Random(SEED).sample(
            [(case, sub) for case in file.cases for sub in case.sub_queries], scene.sample
        )
        weights = file.weight_sets[0].weights
        spent, found = 0.0, []
        for _, sub in sampled:
            begin = time.process_time()
            found.append(plain.retrieve(sub, weights, file.config.max_results))
            spent += time.process_time() - begin
        compare(file, store, [sub for _, sub in sampled], found)
    return spent / scene.sample


def compare(file: QueryFile, store: VectorStore, subs: Sequence, found: list[list[int]]) -> None:
    """Both sides must find the same."""
    retriever = ReferenceRetriever(
        file.graph, lambda side, texts: store.vectors(generate.HashEmbedder.identity, side, texts)
    )
    for sub, positions in zip(subs, found, strict=True):
        query = Query(
            (sub,), file.weight_sets[0].weights, "embedding", 0.0, file.config.max_results
        )
        ids = [scored.id for scored in retriever.retrieve(query).combined]
        theirs = [file.graph.nodes[at].id for at in positions]
        if ids != theirs:
            raise SystemExit(f"the plain scorer ranks otherwise: {theirs} and not {ids}")


def row(scene: Scene) -> str:
    """A line of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(scene, folder)
        ours(folder)  # Fills the store.
        empty, full = [], []
        for _ in range(scene.runs):
            empty.append(run(folder, "empty", "-p", "no:soulmem"))
            full.append(ours(folder))
        bare, whole = least(empty), least(full)
        each = plain_seconds(scene, folder)
        graph = read_graph(folder / "graphs" / "g0.json")
        matrices = scene.graphs * channel_size(graph)
    plain = each * scene.items * scene.sub_queries
    own = whole.processor - bare.processor
    memory = whole.memory - bare.memory
    return (
        f"| {scene.name} | {scene.items:,} | {whole.wall:.1f} | {whole.processor:.1f} |"
        f" {bare.processor:.1f} | {own:.1f} | {plain:,.0f} | {plain / own:,.0f} |"
        f" {memory:,.0f} | {memory / matrices:.2f} | {scene.target} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small data, for a quick check")
    scenes = SMALL if parser.parse_args().small else SCENES
    print(
        "| scene | items | wall, s | processor, s | of it pytest, s | of it ours, s"
        " | plain scorer, s | times faster | memory above pytest, MiB | / matrices | target |"
    )
    print("|---|" + "---:|" * 9 + "---|")
    for scene in scenes:
        print(row(scene), flush=True)


if __name__ == "__main__":
    main()
