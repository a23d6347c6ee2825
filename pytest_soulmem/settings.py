"""The command line and the ini file, read once into one frozen object."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
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
    server_url: str | None = None
    """Where the embedder ``server`` is."""
    query_model: str | None = None
    passage_model: str | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    input_type: tuple[str, ...] | None = None
    """For queries and for passages; empty says that the two are embedded alike."""
    timeout: float | None = None
    vectors: Path | None = None
    vectors_only: bool = False
    laws: bool = True
    json: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    fail_under: tuple[Gate, ...] = ()
    save: str | None = None
    compare: str | None = None
    compare_fail: tuple[Allowance, ...] = ()
    compare_systems: bool = False
    """Whether results of another system are compared, rather than told apart."""
    rank: str | None = None
    rows: bool = False
    """Whether the plugin pytest-html writes a page, whose rows show details."""
    insisted: tuple[str, ...] = ()
    """What the command line, not the ini file, asks for at the end: names of fields."""

    @property
    def details(self) -> bool:
        """Whether rankings are wanted in full, for a results file or the page."""
        return bool(self.json or self.html or self.rows)

    @property
    def concludes(self) -> bool:
        """Whether anything is asked for at the end of a run besides the report."""
        return any(getattr(self, name) for name in _AT_THE_END)

    def without_fixtures(self) -> Settings:
        """What is still asked for if no fixture ran: what the command line insists on.

        The ini file speaks of runs of fixtures: a run of other tests must neither fall short of
        its gates nor replace its files.
        """
        left_out = [name for name in _AT_THE_END if name not in self.insisted]
        return self._replace(**{name: self._field_defaults[name] for name in left_out})

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """Cut-offs of the metrics that gates and comparisons ask for by name."""
        asked = [gate.metric for gate in self.fail_under]
        asked += [allowance.metric for allowance in self.compare_fail]
        asked += [self.rank] if self.rank else []
        found = (re.fullmatch(r".*@([1-9]\d{0,5})", metric) for metric in asked)
        return tuple(sorted({int(match[1]) for match in found if match}))


_AT_THE_END = ("json", "html", "markdown", "fail_under", "save", "compare", "compare_fail", "rank")


class Option(NamedTuple):
    """One option, spelled ``--soulmem-name`` on the command line and ``soulmem_name`` in ini."""

    name: str
    help: str
    parse: Callable[[str], Any] = str
    metavar: str | None = None
    flag: bool = False
    many: bool = False
    """Repeatable on the command line, a list in ini."""
    parts: bool = False
    """Parts with commas between them; in TOML a list of them."""

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


OPTIONS = (
    Option(
        "k",
        "cut-offs of the metrics, such as 1,3,5 (default: the file's own)",
        _cutoffs,
        "K",
        parts=True,
    ),
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
        "bge, e5, module:attribute of your own, or http://host:port/v1, an embedding server "
        "(default: the one that is installed)",
        _embedder,
        "NAME",
    ),
    Option("model", "model id or local folder for bge; a server's model", _given, "MODEL"),
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
    Option(
        "input-type",
        "the input_type that a server is sent with queries and with passages, such as "
        "query,passage; or none: its model embeds both alike",
        _input_types,
        "QUERY,PASSAGE",
        parts=True,
    ),
    Option("query-prefix", "what a server's model needs before queries", metavar="TEXT"),
    Option("passage-prefix", "what a server's model needs before passages", metavar="TEXT"),
    Option("query-model", "a server's model for queries (default: the model)", _given, "MODEL"),
    Option("passage-model", "a server's model for passages (default: the model)", _given, "MODEL"),
    Option("timeout", "how long a server may take over a request (60)", _seconds, "SECONDS"),
    Option("vectors", "the vector store file (default: in pytest's cache)", _given, "PATH"),
    Option("vectors-only", "never load a model: every vector must be in the store", flag=True),
    Option("laws", "on or off: the laws of each file", _one_of("on", "off"), "ON/OFF"),
    Option("json", "write everything that was found as one JSON document", _given, "PATH"),
    Option("html", "write the run as one page that works offline", _page, "PATH"),
    Option("md", "write a summary in GitHub-flavoured Markdown", _given, "PATH"),
    Option(
        "fail-under",
        "fail if a mean falls short: recall@5=0.9, or queries/*.json:recall@5=0.9 (repeatable); "
        "where no fixture ran, one of the command line or addopts fails, one of its ini key rests",
        _gate,
        "GATE",
        many=True,
    ),
    Option("rank", "rank the weight sets of each sweep by a metric: ndcg@5", _metric, "METRIC"),
    Option("save", "keep the results as a baseline of this name", _baseline_name, "NAME"),
    Option("compare", "compare with a baseline: a name, or a results file", _given, "NAME"),
    Option(
        "compare-fail",
        "fail if a mean fell by more: recall@5:1%% of the old, or recall@5:0.01 (repeatable)",
        _allowance,
        "ALLOWANCE",
        many=True,
    ),
    Option(
        "compare-systems",
        "compare also where the baseline was made with another embedder or system",
        flag=True,
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
            kind: Literal["linelist", "string"] = (
                "linelist" if option.many or option.parts else "string"
            )
            parser.addini(option.dest, option.help, type=kind, default=None)


def read_settings(config: pytest.Config) -> Settings:
    """The settings of a run.

    Raises:
        pytest.UsageError: an ini value that the command line would refuse too.
    """
    asked = {option.name: config.getoption(option.dest) for option in OPTIONS}
    ini = {option.name: _ini_value(config, option) for option in OPTIONS}
    for name in ("compare-fail", "compare-systems"):
        if (asked[name] or ini[name]) and not (asked["compare"] or ini["compare"]):
            raise pytest.UsageError(f"soulmem-{name} needs soulmem-compare: with which baseline?")
    chosen = {name: ini[name] if asked[name] is None else asked[name] for name in asked}
    files = {name: _path(config, asked[name], ini[name]) for name in ("json", "md", "html")}
    _refuse_one_file(files)
    url = chosen["embedder"] if "://" in (chosen["embedder"] or "") else None
    return Settings(
        k=chosen["k"],
        mode=asked["mode"],
        check=asked["check"],
        ini_mode=ini["mode"],
        ini_check=ini["check"],
        embedder="server" if url else chosen["embedder"],
        model=asked["model"] or (ini["model"] if url else _ini_model(config, ini["model"])),
        pooling=chosen["pooling"],
        instruction=chosen["instruction"],
        server_url=url,
        query_model=chosen["query-model"],
        passage_model=chosen["passage-model"],
        query_prefix=chosen["query-prefix"],
        passage_prefix=chosen["passage-prefix"],
        input_type=chosen["input-type"],
        timeout=chosen["timeout"],
        vectors=_path(config, asked["vectors"], ini["vectors"]) or _cached(config),
        vectors_only=bool(chosen["vectors-only"]),
        laws=chosen["laws"] != "off",
        json=files["json"],
        markdown=files["md"],
        html=files["html"],
        fail_under=tuple(chosen["fail-under"] or ()),
        save=chosen["save"],
        compare=chosen["compare"],
        compare_fail=tuple(chosen["compare-fail"] or ()),
        compare_systems=bool(chosen["compare-systems"]),
        rank=chosen["rank"],
        rows=bool(config.getoption("htmlpath", None)),
        insisted=_insisted(asked),
    )


def _refuse_one_file(files: Mapping[str, Path | None]) -> None:
    """Refuse one file for two results; a device such as the standard output takes both."""
    taken: dict[Path, str] = {}
    for name, path in files.items():
        if path is None or path.is_relative_to("/dev"):
            continue
        other = taken.setdefault(path.resolve(), name)
        if other != name:
            raise pytest.UsageError(f"--soulmem-{other} and --soulmem-{name} name one file: {path}")


def _insisted(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """Which of the things at the end the command line asks for; a comparison with its limits."""
    given = {option.replace("-", "_") for option, value in asked.items() if value}
    if "md" in given:
        given.add("markdown")
    if given & {"compare", "compare_fail"}:
        given |= {"compare", "compare_fail"}
    return tuple(name for name in _AT_THE_END if name in given)


def _ini_value(config: pytest.Config, option: Option) -> Any:
    value = config.getini(option.dest)
    if value is None or option.flag:
        return value
    if option.many:
        return [_parsed(option, str(text)) for text in value] if value else None
    if option.parts:
        # Versions of pytest differ in whether they let the numbers of a TOML list through.
        return _parsed(option, ",".join(str(part).strip(" ,") for part in value))
    return _parsed(option, str(value))


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
