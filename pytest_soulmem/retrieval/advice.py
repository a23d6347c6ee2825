"""Advice for those who write queries: short statements, as a query rewriter would make them.

Questions, modal particles and connectives draw an embedding away from what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import rjieba

from pytest_soulmem.faults import Fault
from pytest_soulmem.retrieval.query import RetrievalCase

_QUESTION_WORDS = frozenset(
    [
        "什么",
        "谁",
        "哪",
        "哪里",
        "哪儿",
        "哪个",
        "哪些",
        "怎么",
        "怎样",
        "怎么样",
        "如何",
        "为什么",
        "为何",
        "几时",
        "何时",
        "多少",
        "是否",
        "吗",
    ]
)
_ENGLISH_QUESTION = re.compile(r"(what|who|whom|whose|which|where|when|why|how)\b", re.IGNORECASE)
_WHETHER = re.compile(r"([\u4e00-\u9fff])[不没]\1")
"""A question by affirmation and negation, as in 能不能, 是不是 and 有没有."""
_PARTICLES = frozenset(
    ["吧", "呢", "啊", "呀", "嘛", "哦", "啦", "喔", "哟", "呗", "哇", "嗯", "唉"]
)
_CONNECTIVES = frozenset(
    [
        "因为",
        "所以",
        "但是",
        "可是",
        "然而",
        "不过",
        "而且",
        "并且",
        "然后",
        "于是",
        "因此",
        "虽然",
        "尽管",
        "如果",
        "要是",
        "即使",
        "就算",
        "只要",
        "除非",
        "或者",
        "还是",
        "以及",
    ]
)
_ENGLISH_CONNECTIVES = re.compile(
    r"\b(because|therefore|however|although|though|moreover|furthermore|but)\b", re.IGNORECASE
)


def advice(case: RetrievalCase, place: str) -> list[Fault]:
    """The texts of a case that are no short statements, with the reason."""
    return [
        Fault(where, f"{remark}; describe the entity or situation in a short statement")
        for number, sub_query in enumerate(case.sub_queries)
        for where, text in _texts(
            msgspec.to_builtins(sub_query.variant), f"{place}.sub_queries[{number}].variant"
        )
        for remark in _remarks(text)
    ]


def _texts(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Every text in a value of a JSON document, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, own in value.items():
            yield from _texts(own, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        for position, own in enumerate(value):
            yield from _texts(own, f"{place}[{position}]")


def _remarks(text: str) -> Iterator[str]:
    words = rjieba.cut(text)
    asked = _QUESTION_WORDS.intersection(words)
    ends_so = text.rstrip().endswith(("?", "？"))
    if ends_so or asked or _WHETHER.search(text) or _ENGLISH_QUESTION.match(text):
        yield "a question"
    particles = _PARTICLES.intersection(words)
    if particles:
        yield f'a modal particle, "{min(particles)}"'
    connectives = _CONNECTIVES.intersection(words) or set(_ENGLISH_CONNECTIVES.findall(text))
    if connectives:
        yield f'a connective, "{min(connectives)}"'
