"""``schema``: JSON Schemas, so that editors complete and check fixtures."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pytest_soulmem.kinds import KINDS, Kind


def _graph() -> dict[str, Any]:
    from pytest_soulmem.retrieval.graph import Node
    from pytest_soulmem.schemas import json_schema

    return json_schema(tuple[Node, ...])


def _of_kind(kind: Kind) -> dict[str, Any]:
    return kind.load().schema()


def _results() -> dict[str, Any]:
    from pytest_soulmem.reporting.results import results_schema

    return results_schema()


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "graph": _graph,
    **{kind.file: partial(_of_kind, kind) for kind in KINDS},
    "results": _results,
}


def add_to(commands: Any) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "schema",
        help="print the JSON Schema of a format",
        description="Print a JSON Schema made from the very structs that read the format.",
    )
    parser.add_argument("format", choices=list(SCHEMAS))
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print a schema."""
    sys.stdout.write(json.dumps(SCHEMAS[asked.format](), indent=2, ensure_ascii=False) + "\n")
    return 0
