"""From a run's results to the bytes of the page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pytest_soulmem.reporting.finish import Ending
from pytest_soulmem.reporting.gather import Record
from pytest_soulmem.reporting.html import case, markup
from pytest_soulmem.reporting.html.drawing import drawing
from pytest_soulmem.reporting.html.page import Page, build_page, case_view, figures_by_file
from pytest_soulmem.reporting.results import Mean, Results, case_result

_ROWS_STYLE = (
    "<style>.soulmem h4{margin:1em 0 .3em}.soulmem td,.soulmem th{padding:.1em .6em;"
    "text-align:right;font-weight:400}.soulmem dd{margin-left:1.5em}</style>"
)


def render_html(results: Results, ending: Ending | None = None) -> bytes:
    """The page of a run: one file that needs nothing else, not even a network.

    Without its ending, as when results are read from a file, the page says nothing about gates.
    """
    template = _environment().get_template("page.html.j2")
    return template.render(page=build_page(results, ending)).encode()


def name_cell(record: Record) -> str:
    """The cell with a case's name in the page of pytest-html."""
    return case.name_cell(case_view(0, case_result(record)))


def row_details(record: Record) -> str:
    """What opens below a case in the page of pytest-html."""
    details = case.details(case_view(0, case_result(record)))
    # It stands in preformatted text there: a line break would show.
    return "".join(details.splitlines())


def means_tables(means: Sequence[Mean]) -> list[str]:
    """The means as tables with their files' names, for the page of pytest-html."""
    module: Any = _environment().get_template("figures.html.j2").module
    return [_ROWS_STYLE, *(str(module.titled_table(own)) for own in figures_by_file(means))]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytest_soulmem", "reporting/templates"),
        autoescape=True,
        # Each template is used once: working out constants beforehand takes longer than it saves.
        optimized=False,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(duration=_trusted(markup.duration), moment=_moment)
    environment.globals.update(
        case=_trusted(case.case),
        rankings=_trusted(_rankings),
        drawing=_trusted(drawing),
        point_table=_trusted(case.point_table),
    )
    style, script = _asset("page.css") + _bars(), _asset("rankings.js") + _asset("page.js")
    environment.globals.update(style=style, script=script, policy=_policy(style, script))
    return environment


def _rankings(page: Page) -> str:
    """The rankings of all cases, a line each: by its number, the script finds those of a case."""
    return "\n".join([markup.data(_drawn(own.result)) for own in page.results.cases])


def _drawn(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: result.get(name) or () for name in ("rankings", "sub_queries")}


def _bars() -> Markup:
    """Lengths of bars as classes: a strict policy allows no style attribute."""
    return Markup("".join(f".b{share}{{--v:{share / 100:g}}}" for share in range(1, 101)))  # noqa: S704


def _moment(started: str) -> str:
    return f"{datetime.fromisoformat(started):%d %B %Y, %H:%M UTC}".lstrip("0")


def _finalize(value: object) -> object:
    """What is text of a fixture is made visible; what is markup stays as it is."""
    return markup.shown(value) if type(value) is str else value


def _trusted(written: Callable[..., str]) -> Callable[..., Markup]:
    """A function that escapes what it writes, for templates."""
    return lambda *given: Markup(written(*given))  # noqa: S704 - see markup.py for its rule


def _asset(name: str) -> Markup:
    """A file of ours that goes into the page as it is."""
    folder = resources.files("pytest_soulmem") / "reporting" / "templates"
    return Markup((folder / name).read_text("utf-8"))  # noqa: S704 - our own, of no fixture


def _policy(style: str, script: str) -> str:
    """The Content-Security-Policy: our own style and script by their digest, and nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src {_digest(style)}",
            f"script-src {_digest(script)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
