"""The command line and the ini file, read once into one frozen object."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import pytest

from pytest_soulmem.options import OPTIONS, Option

if TYPE_CHECKING:
    from pytest_soulmem.reporting.baseline import Allowance
    from pytest_soulmem.reporting.gates import Gate

Mode: TypeAlias = Literal["embedding", "association", "full"]
Check: TypeAlias = Literal["hit", "recall", "order", "exact", "none"]


class Settings(NamedTuple):
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
    if value is None or option.form == "flag":
        return value
    if option.form == "many":
        return [_parsed(option, str(text)) for text in value] if value else None
    if option.form == "parts":
        # Versions of pytest differ in whether they let the numbers of a TOML list through.
        return _parsed(option, ",".join(str(part).strip(" ,") for part in value))
    return _parsed(option, str(value))


def _parsed(option: Option, text: str) -> Any:
    try:
        return option.parsed(text)
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
