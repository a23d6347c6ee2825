"""The command line and the ini file, read once into one frozen object."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

Mode: TypeAlias = Literal["embedding", "association", "full"]
Check: TypeAlias = Literal["hit", "recall", "order", "exact", "none"]


@dataclass(frozen=True)
class Settings:
    """What the user asked for; None where neither the command line nor the ini file says."""

    k: tuple[int, ...] | None = None
    mode: Mode | None = None
    check: Check | None = None
    ini_mode: Mode | None = None
    ini_check: Check | None = None
    embedder: str | None = None
    model: str | None = None
    pooling: str | None = None
    instruction: str | None = None
    vectors: Path | None = None
    vectors_only: bool = False
    laws: bool = True

    @property
    def details(self) -> bool:
        """Whether rankings are wanted in full, for a results file."""
        return False


@dataclass(frozen=True)
class Option:
    """One option, spelled ``--soulmem-name`` on the command line and ``soulmem_name`` in ini."""

    name: str
    help: str
    parse: Callable[[str], Any] = str
    metavar: str | None = None
    flag: bool = False

    @property
    def dest(self) -> str:
        """The ini key, also the attribute of ``config.option``."""
        return f"soulmem_{self.name.replace('-', '_')}"


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


OPTIONS = (
    Option("k", "cut-offs of the metrics, such as 1,3,5 (default: the file's own)", _cutoffs, "K"),
    Option(
        "mode",
        "how memories are retrieved: embedding, association or full (default: the file's, or full)",
        _one_of("embedding", "association", "full"),
        "MODE",
    ),
    Option(
        "check",
        "what fails a case: hit, recall, order, exact or none (default: the case's, or order)",
        _one_of("hit", "recall", "order", "exact", "none"),
        "CHECK",
    ),
    Option(
        "embedder",
        "bge, e5, or module:attribute of your own (default: the one that is installed)",
        metavar="NAME",
    ),
    Option("model", "model id or local folder of the bge embedder", metavar="MODEL"),
    Option(
        "pooling",
        "how the bge embedder pools tokens: cls or mean (default: cls)",
        _one_of("cls", "mean"),
        "POOLING",
    ),
    Option(
        "instruction",
        "what the bge embedder puts before queries; empty for nothing (default: the model's own)",
        metavar="TEXT",
    ),
    Option("vectors", "the vector store file (default: in pytest's cache)", metavar="PATH"),
    Option("vectors-only", "never load a model: every vector must be in the store", flag=True),
    Option("laws", "on or off: the laws of each forget file", _one_of("on", "off"), "ON/OFF"),
)


def add_options(parser: pytest.Parser) -> None:
    """Register every option on the command line and in the ini file."""
    group = parser.getgroup("soulmem", "memory retrieval and forgetting (pytest-soulmem)")
    for option in OPTIONS:
        flag = f"--soulmem-{option.name}"
        if option.flag:
            group.addoption(
                flag, dest=option.dest, action="store_true", default=None, help=option.help
            )
            parser.addini(option.dest, option.help, type="bool", default=None)
        else:
            group.addoption(
                flag,
                dest=option.dest,
                type=option.parse,
                default=None,
                metavar=option.metavar,
                help=option.help,
            )
            parser.addini(option.dest, option.help, default=None)


def read_settings(config: pytest.Config) -> Settings:
    """The settings of a run.

    Raises:
        pytest.UsageError: an ini value that the command line would refuse too.
    """
    asked = {option.name: config.getoption(option.dest) for option in OPTIONS}
    ini = {option.name: _ini_value(config, option) for option in OPTIONS}
    chosen = {name: ini[name] if asked[name] is None else asked[name] for name in asked}
    return Settings(
        k=chosen["k"],
        mode=asked["mode"],
        check=asked["check"],
        ini_mode=ini["mode"],
        ini_check=ini["check"],
        embedder=chosen["embedder"],
        model=chosen["model"],
        pooling=chosen["pooling"],
        instruction=chosen["instruction"],
        vectors=_vectors_path(config, asked["vectors"], ini["vectors"]),
        vectors_only=bool(chosen["vectors-only"]),
        laws=chosen["laws"] != "off",
    )


def _ini_value(config: pytest.Config, option: Option) -> Any:
    value = config.getini(option.dest)
    if value is None or option.flag:
        return value
    # A TOML list or number reaches us unchecked.
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    try:
        return option.parse(text)
    except argparse.ArgumentTypeError as error:
        raise pytest.UsageError(f"ini option {option.dest}: {error}") from None


def _vectors_path(config: pytest.Config, asked: str | None, ini: str | None) -> Path | None:
    """The store's file: a command line path from where pytest started, an ini path from the ini."""
    if asked:
        return config.invocation_params.dir / asked
    if ini:
        return (config.inipath.parent if config.inipath else config.rootpath) / ini
    cache = getattr(config, "cache", None)
    return cache.mkdir("soulmem") / "vectors.sqlite3" if cache else None
