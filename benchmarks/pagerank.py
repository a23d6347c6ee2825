"""PageRank against igraph's PRPACK: ``python benchmarks/pagerank.py [--small]``.

Both solve the same equation on the same graphs, which have no dangling node (igraph's default
treats those otherwise): every node has one link, the other links are drawn at random, and targets
are uniform, so that nothing is local: what a query reaches grows as fast as it can. Both sides run
in turn and in one thread; the figures are medians of processor time. igraph gets its weights and
sources as it does from anyone who calls it. What we make once per graph is timed on its own.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import igraph
import numpy as np
from scipy.sparse import csr_array

from pytest_soulmem.retrieval.pagerank import DAMPING, TOLERANCE, PageRank
from pytest_soulmem.retrieval.ranking import LEAST, Ranked, Rankings, best, joined

SOURCES = 10
LIMIT = 10


@dataclass(frozen=True)
class Size:
    """A graph, how many queries we answer at once, and how often we try."""

    nodes: int
    links: int
    batch: int
    rounds: int
    repeat: int
    """A side's time in a round is the least of so many: a query that takes microseconds would
    otherwise pay for what ran before it."""
    target: float


SIZES = (
    Size(50, 100, 65, 20, 10, 3),
    Size(3_000, 12_000, 200, 3, 2, 2),
    Size(100_000, 500_000, 1, 20, 2, 10),
    Size(1_000_000, 5_000_000, 1, 8, 1, 50),
)
SMALL = (
    Size(50, 100, 65, 3, 3, 3),
    Size(3_000, 12_000, 20, 1, 1, 2),
    Size(30_000, 150_000, 1, 3, 1, 5),
)


class Problem:
    """A seeded graph, as both sides want it."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self._rng = np.random.default_rng(size.nodes)
        spare = self._rng.integers(0, size.nodes, size.links - size.nodes)
        rows = np.concatenate([np.arange(size.nodes), spare])
        columns = self._rng.integers(0, size.nodes, size.links)
        weights = self._rng.uniform(0.1, 1, size.links)
        shape = (size.nodes, size.nodes)
        self.weights = csr_array((weights, (rows, columns)), shape=shape)
        self.igraph = igraph.Graph(
            n=size.nodes, edges=np.column_stack([rows, columns]), directed=True
        )
        self.igraph.es["weight"] = weights.tolist()

    def sources(self) -> Ranked:
        """As many sources as a similarity result has."""
        positions = self._rng.choice(self.size.nodes, SOURCES, replace=False)
        return Ranked(positions, self._rng.uniform(0.2, 1, SOURCES))

    def prpack(self, sources: Ranked) -> list[float]:
        """The other side."""
        found: list[float] = self.igraph.personalized_pagerank(
            damping=DAMPING,
            reset=self._reset(sources).tolist(),
            weights="weight",
            implementation="prpack",
        )
        return found

    def _reset(self, sources: Ranked) -> np.ndarray:
        reset = np.zeros(self.size.nodes)
        reset[sources.positions] = sources.scores
        return reset


def timed(work: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """Least seconds and result: processor time, which other programs disturb less."""
    least, result = float("inf"), None
    for _ in range(repeat):
        begin = time.process_time()
        result = work()
        least = min(least, time.process_time() - begin)
    return least, result


def same_best(found: Ranked, exact: np.ndarray) -> bool:
    """Whether the best are those of the exact solve, but for scores closer than the bound."""
    wanted = best(exact[np.newaxis], LIMIT, LEAST).positions
    return bool(
        len(found.positions) == LIMIT
        and (exact[wanted] - exact[found.positions] <= TOLERANCE).all()
        and np.abs(found.scores - exact[found.positions]).max() <= 2 * TOLERANCE
    )


def together(queries: Sequence[Ranked]) -> Rankings:
    """The sources of several queries, as similarity gives them."""
    return joined([Rankings(np.zeros(SOURCES, np.intp), *one, count=1) for one in queries])


@dataclass(frozen=True)
class Trial:
    """Seconds per query of both sides, and how many of ours were right."""

    theirs: list[float]
    ours: float
    same: int


def trial(problem: Problem, walker: PageRank) -> Trial:
    """One batch of queries; the other side answers a quarter of a large one."""
    queries = [problem.sources() for _ in range(problem.size.batch)]
    repeat = problem.size.repeat
    compared = queries[: max(1, len(queries) // 4)]
    solved = [timed(lambda own=own: problem.prpack(own), repeat) for own in compared]
    asked = together(queries)
    spent, found = timed(lambda: walker.best(walker.walks(asked), LIMIT), repeat)
    same = [same_best(one, np.array(exact)) for one, (_, exact) in zip(found, solved, strict=False)]
    return Trial([seconds for seconds, _ in solved], spent / len(queries), sum(same))


def rows(sizes: tuple[Size, ...]) -> Iterator[str]:
    """The lines of the table."""
    yield (
        "| nodes | links | at once | PRPACK, ms | ours, ms | times faster | target"
        " | once, ms | same best |"
    )
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for size in sizes:
        problem = Problem(size)
        once, walker = timed(lambda p=problem: _prepared(p))
        trials = [trial(problem, walker) for _ in range(size.rounds)]
        left = statistics.median(spent for one in trials for spent in one.theirs)
        right = statistics.median(one.ours for one in trials)
        same = sum(one.same for one in trials)
        count = sum(len(one.theirs) for one in trials)
        yield (
            f"| {size.nodes:,} | {size.links:,} | {size.batch} | {left * 1e3:.3f} |"
            f" {right * 1e3:.3f} | {left / right:.1f} | {size.target:g} | {once * 1e3:.0f} |"
            f" {same} of {count} |"
        )


def _prepared(problem: Problem) -> PageRank:
    """With all that is made once per graph."""
    walker = PageRank(problem.weights)
    walker.best(walker.walks(together([problem.sources()])), LIMIT)
    return walker


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="small graphs, for a quick check")
    for line in rows(SMALL if parser.parse_args().small else SIZES):
        print(line, flush=True)


if __name__ == "__main__":
    main()
