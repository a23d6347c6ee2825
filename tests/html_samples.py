"""Results for tests of the HTML page: every kind of thing that a page shows, and hostile texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from pytest_soulmem.reporting.results import (
    SCHEMA,
    CaseFailure,
    CaseResult,
    CollectionError,
    Results,
    means_of,
)

SWEEP = "queries/sweep.json"
OVERRIDES = "queries/overrides.json"
FORGET = "forget/curve.json"
OTHER = "events/stream.json"

HOSTILE = (
    "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
)
"""Runs, or loads something, wherever it is not escaped."""
QUOTED = """' " ` onmouseover="document.title='pwned'" {{ 7 * 7 }} {% raw %} --> ]]> &lt;b&gt;"""
BIDI = "left\u202eright\u2066\u200b"
ANSI = "\x1b[31mred\x1b[0m\x07"
TEXTS = (HOSTILE, QUOTED, BIDI, ANSI, "half \ud800 a character", "<b>bold</b>&amp;")


def hit(
    name: str,
    rank: int | None,
    role: str = "",
    similarity: float = 0.5,
    pagerank: float | None = 0.1,
) -> dict[str, Any]:
    channels = {"tag": 1.0, "string": 0.0, "similarity": similarity}
    if pagerank is not None:
        channels["pagerank"] = pagerank
    score = max(similarity, pagerank or 0.0)
    key = None if rank is None else score + 0.05
    return {
        "id": name,
        "role": role,
        "rank": rank,
        "score": score,
        "key": key,
        "channels": channels,
    }


def ranking(*retrieved: dict[str, Any], missing: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    expected = [own for own in retrieved if own["role"]] + list(missing)
    return {"title": "combined ranking", "expected": expected, "retrieved": list(retrieved)}


MOVED = ranking(
    hit("tea", 1, "must", 0.9),
    hit("lamp", 2, "must", 0.1, 0.6),
    hit("sea", 3, "", 0.5, 0.05),
    missing=[hit("cup", None, "bonus", 0.02)],
)
"""Association lifts the lamp over the sea."""


SUB_QUERIES = (
    {"q": 0, "retrieved": [{"id": "tea", "score": 0.9}, {"id": "<i>lamp", "score": 0.12345}]},
    {"q": 1, "retrieved": []},
)
FOUND_BY_SUB_QUERIES = [
    ["sub-query 0", "tea 0.9000, <i>lamp 0.1235"],
    ["sub-query 1", "nothing"],
]


def retrieval_case(
    name: str = "asks for tea",
    variation: str = "",
    file: str = SWEEP,
    recall: float = 1.0,
    outcome: Any = "passed",
    rankings: Sequence[dict[str, Any]] = (MOVED,),
    sub_queries: Sequence[dict[str, Any]] = (),
    seconds: float = 0.01,
) -> CaseResult:
    label = f"{name}[{variation}]" if variation else name
    failure = (
        CaseFailure("order: wrong", "order: wrong\n  the whole text")
        if outcome == "failed"
        else None
    )
    return CaseResult(
        nodeid=f"{file}::{label}",
        file=file,
        kind="retrieval",
        outcome=outcome,
        seconds=seconds,
        failure=failure,
        result={
            "case": name,
            "mode": "full",
            "system": {"name": "e5", "model": "small", "fingerprint": "1"},
            "metrics": {"reciprocal_rank": 1.0},
            "retrieved": ["tea"],
            "rankings": list(rankings),
            "sub_queries": list(sub_queries),
        },
        figures={"recall@1": recall / 2, "recall@3": recall, "ndcg@3": recall * 0.9, "rr": 1.0},
        variation=variation,
        fingerprint="",
    )


CURVE = {"base_half_life_hours": 24.0, "active_factor": 0.1, "max_activation_cap": 50}


def point(hours: float, degree: float, count: int = 0, action: str | None = None) -> dict[str, Any]:
    return {"hours": hours, "retrieval_count": count, "degree": degree, "action": action}


def forgetting_case(
    inference: str = "time_monotonic",
    points: Sequence[dict[str, Any]] = (point(0, 0.0), point(24, 0.5), point(48, 0.75)),
    outcome: Any = "passed",
    text: str = "a memory of the sea",
    **result: Any,
) -> CaseResult:
    return CaseResult(
        nodeid=f"{FORGET}::{inference}",
        file=FORGET,
        kind="forgetting",
        outcome=outcome,
        seconds=0.002,
        failure=CaseFailure("too little", "too little\ntext") if outcome == "failed" else None,
        result={
            "inference": inference,
            "system": {"forgetter": "mine.Forgetter"},
            "text": text,
            "curve": CURVE,
            "points": list(points),
            "effect": None,
            **result,
        },
        figures={},
        variation="",
        fingerprint="",
    )


def effect_case(
    text: str = "a memory of the sea",
    masked: str | None = "a [masked] of the [masked] ",
    revised: str | None = None,
) -> CaseResult:
    effect = {
        "should_forget": True,
        "triggered": True,
        "similarity": 0.4,
        "revised": revised is not None,
        "fallback": "" if revised else "no reviser",
        "masked_text": masked,
        "revised_text": revised,
    }
    return forgetting_case("effect", [point(96, 0.9375, 0, "Revised")], text=text, effect=effect)


SEEN = [{"event": "a", "found": {"state": "done"}}, {"event": "b", "found": {"state": None}}]


def other_case(**result: Any) -> CaseResult:
    """A case of a kind that the page knows nothing about."""
    found = result or {"steps": 3, "held": True, "seen": SEEN, "nothing": None}
    return CaseResult(
        f"{OTHER}::a stream", OTHER, "events", "passed", 0.001, None, found, {}, "", ""
    )


FORGETTING = (
    forgetting_case(),
    forgetting_case(
        "activation", [point(48, 0.75), point(48, 0.37, 20), point(48, 0.2, 50), point(48, 0.2, 90)]
    ),
    forgetting_case(
        "magnitude",
        [point(24, 0.3)],
        outcome="failed",
        expected={"degree": 0.5, "tolerance": 0.08},
    ),
    effect_case(revised="a memory of the lake"),
)
TAGS = (0.1, 0.3, 0.9)


def sweep() -> list[CaseResult]:
    """Two cases with three weight sets that differ in the tag weight."""
    return [
        retrieval_case(
            name,
            f"tag:{tag:g}-variant:{1 - tag:g}",
            recall=1 - tag / 2,
            outcome="failed" if name == "asks for both" and tag > 0.5 else "passed",
            seconds=tag,
        )
        for name in ("asks for tea", "asks for both")
        for tag in TAGS
    ]


def overrides() -> list[CaseResult]:
    """One case with weight sets that differ in more than the tag weight."""
    labels = ("tag:0.3-variant:0.7", "tag:0.3-variant:0.7-sem_concept:0.9")
    return [retrieval_case("asks", label, OVERRIDES) for label in labels]


NINE = (
    *("recall@5", "precision@5", "ndcg@5", "success@5", "rr"),
    *("action hit", "action recall@5", "abstract", "direct"),
)


def nine() -> list[CaseResult]:
    """A sweep with every metric at one cut-off, all of which end at the same place."""
    return [
        msgspec.structs.replace(
            retrieval_case("a", f"tag:{tag:g}-variant:{1 - tag:g}"),
            figures=dict.fromkeys(NINE, tag),
        )
        for tag in (0.25, 1)
    ]


def results(*cases: CaseResult, errors: Sequence[CollectionError] = (), **settings: Any) -> Results:
    """A document with these cases, or with some of every kind."""
    found = cases or (*FORGETTING, *sweep(), *overrides(), other_case())
    return Results(
        schema=SCHEMA,
        version="1.2.3",
        started="2026-06-01T08:05:00+00:00",
        seconds=12.5,
        settings={"embedder": "e5", "laws": True, **settings},
        cases=tuple(found),
        means=tuple(means_of(found)),
        errors=tuple(errors),
    )


def hostile_results() -> Results:
    """Hostile texts wherever a fixture or a user's code can put one."""
    cases = []
    for text in TEXTS:
        case = retrieval_case(
            text,
            "tag:0.3-variant:0.7",
            rankings=[ranking(hit(text, 1, "must"), hit("x" + text, 2))],
        )
        cases += [
            _failing(case, text),
            effect_case(text, f"{text} [masked] {text}", text),
            other_case(
                **{text: text, "list": [text], "map": {text: [text]}, "table": [{text: text}]}
            ),
        ]
    errors = [CollectionError(f"queries/{text}.json", f"{text}\n  {text}") for text in TEXTS]
    return results(*cases, errors=errors, embedder=TEXTS[0], fail_under=list(TEXTS))


def _failing(case: CaseResult, text: str) -> CaseResult:
    fields = {name: getattr(case, name) for name in case.__struct_fields__}
    return CaseResult(
        **fields | {"outcome": "failed", "failure": CaseFailure(text, f"{text}\n{text}")}
    )


def forget_file(text: str = "机器学习是人工智能的一个重要分支", name: str = "half") -> str:
    case = {
        "kind": "magnitude",
        "name": name,
        "text": text,
        "time_offset_hours": 24,
        "expected_missing_degree": 0.5,
        "tolerance": 0.01,
    }
    effect = {
        "kind": "effect",
        "name": f"{name} forgets",
        "text": text,
        "mem_kind": "semantic",
        "time_offset_hours": 96,
        "expected": {"should_forget": True, "min_action": "MaskOnly"},
    }
    return json.dumps({"name": "n", "description": "d", "test_cases": [case, effect]})


FORGET_RUN = ("-p", "no:cacheprovider", "--soulmem-laws=off", "forget")
