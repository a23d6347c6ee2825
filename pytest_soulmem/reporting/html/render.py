"""From a run's results to the bytes of the page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pytest_soulmem.reporting.finish import Ending
from pytest_soulmem.reporting.gather import Record
from pytest_soulmem.reporting.html.page import build_page, case_view, figures_by_file
from pytest_soulmem.reporting.html.rankings import Row, Slope
from pytest_soulmem.reporting.results import Mean, Results, case_result
from pytest_soulmem.reporting.text import visible, visible_lines

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
    view = case_view(0, case_result(record))
    return str(_rows().name_cell(view.case.nodeid, view.key_figures))


def row_details(record: Record) -> str:
    """What opens below a case in the page of pytest-html."""
    details = str(_rows().details(case_view(0, case_result(record))))
    # It stands in preformatted text there: a line break would show.
    return "".join(details.splitlines())


def means_tables(means: Sequence[Mean]) -> list[str]:
    """The means as tables with their files' names, for the page of pytest-html."""
    module: Any = _environment().get_template("figures.html.j2").module
    return [_ROWS_STYLE, *(str(module.titled_table(own)) for own in figures_by_file(means))]


def _rows() -> Any:
    return _environment().get_template("rows.html.j2").module


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytest_soulmem", "reporting/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        cells=_cells,
        drawn=_slope,
        facts=_facts,
        headings=_headings,
        duration=_duration,
        moment=_moment,
    )
    style, script = _asset("page.css") + _bars(), _asset("page.js")
    environment.globals.update(style=style, script=script, policy=_policy(style, script))
    return environment


def _bars() -> Markup:
    """Lengths of bars as classes: a strict policy allows no style attribute."""
    return Markup("".join(f".b{share}{{--v:{share / 100:g}}}" for share in range(1, 101)))  # noqa: S704


def _cells(row: Row, moves: bool) -> Markup:
    """A memory as a row of its ranking's table.

    Not in a template, like what follows: these are most of a page, and a template escapes every
    number on its own.
    """
    style = ' class="missing"' if row.rank == "missing" else ' class="wanted"' * bool(row.expected)
    cells = [f'<tr{style}><td>{row.rank}<td>{row.expected}<th scope="row">{_escaped(row.id)}']
    if moves:
        cells.append(f"<td>{row.moved}")
    cells += ["<td>" if score is None else f"<td>{score:.4f}" for score in row.scores]
    cells += [
        "<td>·" if value is None else _cell(round(value, 3) + 0.0, value == row.strongest)
        for value in row.channels
    ]
    return Markup("".join(cells))  # noqa: S704 - numbers, words of ours, and one escaped id


def _slope(row: Slope) -> Markup:
    """A memory in the drawing of what moved."""
    return Markup(  # noqa: S704 - numbers, words of ours, and one escaped id
        f'<path class="slope {row.style}" d="{row.path}"/>'
        f'<text class="end {row.style}" x="146" y="{row.left + 4}">{row.before}</text>'
        f'<text class="{row.style}" x="234" y="{row.right + 4}">{_escaped(row.short)}</text>'
    )


def _facts(pairs: Sequence[tuple[str, str]]) -> Markup:
    """Names and values as the items of a list."""
    items = [f"<div><dt>{_escaped(name)}<dd>{_escaped(value)}</div>" for name, value in pairs]
    return Markup("".join(items))  # noqa: S704 - both escaped


def _headings(channels: Sequence[str]) -> Markup:
    """The headings of the columns of channels."""
    cells = [f'<th scope="col" class="n">{_escaped(name)}' for name in channels]
    return Markup("".join(cells))  # noqa: S704 - escaped


@lru_cache(maxsize=4096)
def _escaped(name: str) -> Markup:
    return escape(_finalize(name))


@lru_cache(maxsize=4096)
def _cell(value: float, strong: bool) -> str:
    # In this order, so that the bar of what is no number has no length.
    share = round(1000 * min(max(0.0, value), 1.0)) // 10
    emphasis = " strong" if strong and value > 0 else ""
    return f'<td class="b{share}{emphasis}">{value:.3f}'


def _duration(seconds: float) -> str:
    if seconds < 0.001:
        return "< 1 ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _moment(started: str) -> str:
    return f"{datetime.fromisoformat(started):%d %B %Y, %H:%M UTC}".lstrip("0")


def _finalize(value: object) -> object:
    """What is text of a fixture is made visible; what templates wrote stays as it is."""
    if type(value) is not str or value.isprintable():
        return value
    return visible_lines(value) if "\n" in value else visible(value)


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
