"""What the text after each option may be, and what it stands for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_soulmem.reporting.baseline import Allowance
    from pytest_soulmem.reporting.gates import Gate


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(words)}")
        return text

    return parse


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        cutoffs = sorted({int(part) for part in text.split(",")})
    except ValueError:
        cutoffs = [0]
    if cutoffs[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of cut-offs such as 5 or 1,3,5")
    return tuple(cutoffs)


def _given(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is empty: name something, or leave it out")
    return text


def _page(text: str) -> str:
    if find_spec("jinja2") is None:
        raise argparse.ArgumentTypeError(
            "the page is written with jinja2, which is not installed: "
            "pip install 'pytest-soulmem[html]'"
        )
    return _given(text)


_EMBEDDERS = ("bge", "e5", "server")
"""Those that are called by a name. A server without an address serves from the store."""


def _embedder(text: str) -> str:
    if "://" not in text:
        if ":" not in text and _given(text) not in _EMBEDDERS:
            raise argparse.ArgumentTypeError(
                f"{text!r} is no embedder: name bge, e5, module:attribute of your own or a "
                "server's http://host:port/v1"
            )
        return text
    from pytest_soulmem.embedders.server import checked_url

    return checked_url(text)


def _input_types(text: str) -> tuple[str, ...]:
    if text == "none":
        return ()
    words = tuple(word.strip() for word in text.split(","))
    if len(words) != 2 or not all(words):
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither two words for queries and passages, such as query,passage, "
            "nor none"
        )
    return words


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds between 0 and 3600")
    return seconds


def _gate(text: str) -> Gate:
    from pytest_soulmem.reporting.gates import parse_gate

    return parse_gate(text)


def _metric(text: str) -> str:
    from pytest_soulmem.reporting.gates import parse_metric

    return parse_metric(text)


def _allowance(text: str) -> Allowance:
    from pytest_soulmem.reporting.baseline import parse_allowance

    return parse_allowance(text)


def _baseline_name(text: str) -> str:
    from pytest_soulmem.reporting.baseline import parse_name

    return parse_name(text)


PARSERS: dict[str, Callable[[str], Any]] = {
    "k": _cutoffs,
    "mode": _one_of("embedding", "association", "full"),
    "check": _one_of("hit", "recall", "order", "exact", "none"),
    "embedder": _embedder,
    "model": _given,
    "pooling": _one_of("cls", "mean"),
    "input-type": _input_types,
    "query-model": _given,
    "passage-model": _given,
    "timeout": _seconds,
    "vectors": _given,
    "laws": _one_of("on", "off"),
    "json": _given,
    "html": _page,
    "md": _given,
    "fail-under": _gate,
    "rank": _metric,
    "save": _baseline_name,
    "compare": _given,
    "compare-fail": _allowance,
}
"""By the name of the option; what it does not name may be any text."""
