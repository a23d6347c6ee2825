"""Rankings as plain tables and words, for a page that cannot run our script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_soulmem.reporting.html.markup import text


def plain_table(ranking: Mapping[str, Any]) -> str:
    """What came back, best first, then what should have."""
    expected = ranking["expected"]
    must = [hit["id"] for hit in expected if hit["role"] == "must"]
    hits = [*ranking["retrieved"], *(hit for hit in expected if hit["rank"] is None)]
    channels = dict.fromkeys(name for hit in hits for name in hit["channels"])
    keys = ["key"] if any(hit["key"] is not None for hit in hits) else []
    columns = ("rank", "expected", "memory", "score", *keys, *channels)
    rows = [
        [
            str(hit["rank"] or "missing"),
            str(must.index(hit["id"]) + 1) if hit["role"] == "must" else hit["role"],
            hit["id"],
            _number(hit["score"], 4),
            *(_number(hit[key], 4) for key in keys),
            *(_number(hit["channels"].get(name), 3) for name in channels),
        ]
        for hit in hits
    ]
    head = "".join(f"<th>{text(column)}" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{text(cell)}" for cell in row) for row in rows)
    return f"<h4>{text(ranking['title'])}</h4><table><tr>{head}{body}</table>"


def sub_query_facts(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What each sub-query found, where there are several."""
    if len(found) < 2:
        return []
    return [
        (
            f"sub-query {own['q']}",
            ", ".join(f"{hit['id']} {hit['score']:.4f}" for hit in own["retrieved"]) or "nothing",
        )
        for own in found
    ]


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return ""
    return f"{value:.{digits}f}" if abs(value) < 1e21 else f"{value:g}"
