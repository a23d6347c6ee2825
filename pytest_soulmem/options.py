"""The options: one table for the command line and the ini file.

Every project that has the plugin installed imports this, and no more of the settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import pytest

    Form: TypeAlias = Literal["flag", "text", "many", "parts"]

_INI: dict[Form, Literal["bool", "string", "linelist"]] = {
    "flag": "bool",
    "text": "string",
    "many": "linelist",
    "parts": "linelist",
}


class Option:
    """One option, spelled ``--soulmem-name`` on the command line and ``soulmem_name`` in ini.

    A flag has nothing after it. Others hold one text; many, for which they are repeated on the
    command line and a list in ini; or parts with commas between them, in TOML a list.

    A plain class, because that takes the least time to define.
    """

    def __init__(
        self,
        name: str,
        description: str,
        metavar: str | None = None,
        form: Form = "text",
    ) -> None:
        self.name = name
        self.description = description
        self.metavar = metavar
        self.form = form

    def parsed(self, text: str) -> Any:
        """The value of a text that follows the option.

        Raises:
            argparse.ArgumentTypeError: it may not be.
        """
        from pytest_soulmem.option_values import PARSERS

        return PARSERS.get(self.name, str)(text)

    @property
    def dest(self) -> str:
        """The ini key, also the attribute of ``config.option``."""
        return f"soulmem_{self.name.replace('-', '_')}"


OPTIONS = (
    Option(
        "k",
        "cut-offs of the metrics, such as 1,3,5 (default: the file's own)",
        "K",
        "parts",
    ),
    Option(
        "mode",
        "how memories are retrieved: embedding, association or full (default: the file's, or full)",
        "MODE",
    ),
    Option(
        "check",
        "what fails a case: hit, recall, order, exact or none (default: the case's, or order)",
        "CHECK",
    ),
    Option(
        "embedder",
        "bge, e5, module:attribute of your own, or http://host:port/v1, an embedding server "
        "(default: the one that is installed)",
        "NAME",
    ),
    Option("model", "model id or local folder for bge; a server's model", "MODEL"),
    Option(
        "pooling",
        "how the bge embedder pools tokens: cls or mean (default: the model's own, else cls)",
        "POOLING",
    ),
    Option(
        "instruction",
        "what the bge embedder puts before queries; empty for nothing (default: the model's own)",
        "TEXT",
    ),
    Option(
        "input-type",
        "the input_type that a server is sent with queries and with passages, such as "
        "query,passage; or none: its model embeds both alike",
        "QUERY,PASSAGE",
        "parts",
    ),
    Option("query-prefix", "what a server's model needs before queries", "TEXT"),
    Option("passage-prefix", "what a server's model needs before passages", "TEXT"),
    Option("query-model", "a server's model for queries (default: the model)", "MODEL"),
    Option("passage-model", "a server's model for passages (default: the model)", "MODEL"),
    Option("timeout", "how long a server may take over a request (60)", "SECONDS"),
    Option("vectors", "the vector store file (default: in pytest's cache)", "PATH"),
    Option("vectors-only", "never load a model: every vector must be in the store", form="flag"),
    Option("laws", "on or off: the laws of each file", "ON/OFF"),
    Option("json", "write everything that was found as one JSON document", "PATH"),
    Option("html", "write the run as one page that works offline", "PATH"),
    Option("md", "write a summary in GitHub-flavoured Markdown", "PATH"),
    Option(
        "fail-under",
        "fail if a mean falls short: recall@5=0.9, or queries/*.json:recall@5=0.9 (repeatable); "
        "where no fixture ran, one of the command line or addopts fails, one of its ini key rests",
        "GATE",
        "many",
    ),
    Option("rank", "rank the weight sets of each sweep by a metric: ndcg@5", "METRIC"),
    Option("save", "keep the results as a baseline of this name", "NAME"),
    Option("compare", "compare with a baseline: a name, or a results file", "NAME"),
    Option(
        "compare-fail",
        "fail if a mean fell by more: recall@5:1%% of the old, or recall@5:0.01 (repeatable)",
        "ALLOWANCE",
        "many",
    ),
    Option(
        "compare-systems",
        "compare also where the baseline was made with another embedder or system",
        form="flag",
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Register every option on the command line and in the ini file."""
    group = parser.getgroup("soulmem", "fixtures of memory systems (pytest-soulmem)")
    for option in OPTIONS:
        _add_option(option, group)
        parser.addini(option.dest, option.description, type=_INI[option.form], default=None)


def _add_option(option: Option, group: pytest.OptionGroup) -> None:
    flag = f"--soulmem-{option.name}"
    said = {"dest": option.dest, "default": None, "help": option.description}
    if option.form == "flag":
        group.addoption(flag, action="store_true", **said)
    else:
        action = "append" if option.form == "many" else "store"
        group.addoption(flag, action=action, type=option.parsed, metavar=option.metavar, **said)


def anything_asked(config: pytest.Config) -> bool:
    """Whether the command line or the ini file has any option of ours."""
    return any(
        value is not None
        for option in OPTIONS
        for value in (config.getoption(option.dest), config.getini(option.dest))
    )
