"""The command line and the ini file, read once into one frozen object."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import pytest

if TYPE_CHECKING:
    from pytest_soulmem.reporting.baseline import Allowance
    from pytest_soulmem.reporting.gates import Gate

Mode: TypeAlias = Literal["embedding", "association", "full"]
Check: TypeAlias = Literal["hit", "recall", "order", "exact", "none"]


class Settings(NamedTuple):
    """What the user asked for; None where neither the command line nor the ini file says.

    A named tuple, as below, because every project that has the plugin installed waits for this
    module: a dataclass takes five times as long to define.
    """

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
    json: Path | None = None
    markdown: Path | None = None
    fail_under: tuple[Gate, ...] = ()
    save: str | None = None
    compare: str | None = None
    compare_fail: tuple[Allowance, ...] = ()

    @property
    def details(self) -> bool:
        """Whether rankings are wanted in full, for a results file."""
        return bool(self.json)

    @property
    def concludes(self) -> bool:
        """Whether anything is asked for at the end of a run besides the report."""
        return bool(self.json or self.markdown or self.fail_under or self.save or self.compare)

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """Cut-offs of the metrics that gates and comparisons ask for by name."""
        asked = [gate.metric for gate in self.fail_under]
        asked += [allowance.metric for allowance in self.compare_fail]
        found = (re.fullmatch(r".*@([1-9]\d{0,5})", metric) for metric in asked)
        return tuple(sorted({int(match[1]) for match in found if match}))


class Option(NamedTuple):
    """One option, spelled ``--soulmem-name`` on the command line and ``soulmem_name`` in ini."""

    name: str
    help: str
    parse: Callable[[str], Any] = str
    metavar: str | None = None
    flag: bool = False
    many: bool = False
    """Repeatable on the command line, a list in ini."""

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


def _gate(text: str) -> Gate:
    from pytest_soulmem.reporting.gates import parse_gate

    return parse_gate(text)


def _allowance(text: str) -> Allowance:
    from pytest_soulmem.reporting.baseline import parse_allowance

    return parse_allowance(text)


def _baseline_name(text: str) -> str:
    from pytest_soulmem.reporting.baseline import parse_name

    return parse_name(text)


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
        "how the bge embedder pools tokens: cls or mean (default: the model's own, else cls)",
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
    Option("laws", "on or off: the laws of each file", _one_of("on", "off"), "ON/OFF"),
    Option("json", "write everything that was found as one JSON document", metavar="PATH"),
    Option("md", "write a summary in GitHub-flavoured Markdown", metavar="PATH"),
    Option(
        "fail-under",
        "fail if a mean falls short: recall@5=0.9, or queries/*.json:recall@5=0.9 (repeatable)",
        _gate,
        "GATE",
        many=True,
    ),
    Option("save", "keep the results as a baseline of this name", _baseline_name, "NAME"),
    Option("compare", "compare with a baseline: a name, or a results file", metavar="NAME"),
    Option(
        "compare-fail",
        "fail if a mean fell by more: recall@5:1%% of the old, or recall@5:0.01 (repeatable)",
        _allowance,
        "ALLOWANCE",
        many=True,
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Register every option on the command line and in the ini file."""
    group = parser.getgroup("soulmem", "fixtures of memory systems (pytest-soulmem)")
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
                action="append" if option.many else "store",
                type=option.parse,
                default=None,
                metavar=option.metavar,
                help=option.help,
            )
            if option.many:
                parser.addini(option.dest, option.help, type="linelist", default=None)
            else:
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
        model=asked["model"] or _ini_model(config, ini["model"]),
        pooling=chosen["pooling"],
        instruction=chosen["instruction"],
        vectors=_path(config, asked["vectors"], ini["vectors"]) or _cached(config),
        vectors_only=bool(chosen["vectors-only"]),
        laws=chosen["laws"] != "off",
        json=_path(config, asked["json"], ini["json"]),
        markdown=_path(config, asked["md"], ini["md"]),
        fail_under=tuple(chosen["fail-under"] or ()),
        save=chosen["save"],
        compare=chosen["compare"],
        compare_fail=tuple(chosen["compare-fail"] or ()),
    )


def _ini_value(config: pytest.Config, option: Option) -> Any:
    value = config.getini(option.dest)
    if value is None or option.flag:
        return value
    if option.many:
        return [_parsed(option, str(text)) for text in value] if value else None
    # A TOML list or number reaches us unchecked.
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return _parsed(option, text)


def _parsed(option: Option, text: str) -> Any:
    try:
        return option.parse(text)
    except argparse.ArgumentTypeError as error:
        raise pytest.UsageError(f"ini option {option.dest}: {error}") from None


def _path(config: pytest.Config, asked: str | None, ini: str | None) -> Path | None:
    """A command line path counts from where pytest started, an ini path from the ini file."""
    if asked:
        return config.invocation_params.dir / asked
    if ini:
        return (config.inipath.parent if config.inipath else config.rootpath) / ini
    return None


def _ini_model(config: pytest.Config, ini: str | None) -> str | None:
    """A model named in the ini file: a folder beside it, or else an id."""
    folder = _path(config, None, ini)
    return str(folder) if folder and folder.is_dir() else ini


def _cached(config: pytest.Config) -> Path | None:
    cache = getattr(config, "cache", None)
    return cache.mkdir("soulmem") / "vectors.sqlite3" if cache else None
