"""One case as HTML: a line that is always there, and what opens below it.

Not a template, like the page around it: a page has thousands of cases, and these functions write
them several times as fast. Rows carry no indentation and leave out end tags that HTML does not
need, for the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_soulmem.reporting import unread
from pytest_soulmem.reporting.html.curves import Observation
from pytest_soulmem.reporting.html.drawing import drawing
from pytest_soulmem.reporting.html.markup import duration, name, scrolling, text
from pytest_soulmem.reporting.html.page import CaseView, FactTable, Texts
from pytest_soulmem.reporting.html.ranked import plain_table, sub_query_facts


def case(view: CaseView, file: int) -> str:
    """A case of the file of that number, as it stands in the page."""
    own = view.case
    outcome = text(own.outcome)
    reason = f'<span class="reason">{text(view.reason)}</span>' if view.reason else ""
    known = [
        f"<span>{name(figure)} <b>{text(value)}</b></span> " for figure, value in view.key_figures
    ]
    failure = (
        '<pre class="failure" tabindex="0" role="group" aria-label="Failure text">'
        f"{text(own.failure.text)}</pre>\n"
        if own.failure
        else ""
    )
    return (
        f'<details class="case {outcome}" data-file="{file}" data-outcome="{outcome}"'
        f' data-kind="{text(own.kind)}">\n'
        f'<summary><span class="sign" aria-hidden="true">{view.sign}</span>'
        f'<span class="name"><span class="unseen">{outcome}: </span>'
        f"{text(view.name)}{reason}</span>"
        f'<span class="known">{"".join(known)}</span>'
        f'<span class="time">{duration(own.seconds)}</span></summary>\n'
        f'<div class="inside" id="c{view.number}">\n'
        f"{failure}{_found(view, _curves(view))}</div>\n</details>\n"
    )


def details(view: CaseView) -> str:
    """What opens below a case in a page that is not ours, and shows the failure itself."""
    curves = [point_table(curve.observations, "Observed points") for curve in view.curves]
    rankings = "".join(map(plain_table, unread.read(view.rankings)))
    asked = sub_query_facts(unread.read(view.sub_queries))
    facts = _facts("Sub-queries", asked) if asked else ""
    return f'<div class="soulmem">\n{rankings}{facts}{_found(view, "".join(curves))}</div>\n'


def name_cell(view: CaseView) -> str:
    """The cell with the name of a case and its figures, in that page."""
    known = ", ".join(f"{figure} {value}" for figure, value in view.key_figures)
    shown = f"{view.case.nodeid} · {known}" if known else view.case.nodeid
    return f'<td class="col-testId">{text(shown)}</td>'


def point_table(observations: Sequence[Observation], label: str, named: bool = False) -> str:
    """Observed points, with the names of their cases where there are several."""
    first = '<th scope="col">case' if named else ""
    rows = [
        ("<tr>" + (f'<th scope="row">{text(one.case)}' if named else ""))
        + f"<td>{one.hours:g}<td>{one.count}<td>{one.degree:.4f}<td>{one.reference:.4f}"
        f'<td class="t">{text(one.action)}\n'
        for one in observations
    ]
    return scrolling(
        text(label),
        f'<table>\n<thead><tr>{first}<th scope="col" class="n">hours'
        '<th scope="col" class="n">activations<th scope="col" class="n">missing'
        '<th scope="col" class="n">curve<th scope="col">decision\n'
        f"<tbody>\n{''.join(rows)}</table>\n",
    )


def _found(view: CaseView, curves: str) -> str:
    parts = []
    if view.texts:
        parts.append(_texts(view.texts))
    parts.append(curves)
    parts += [
        _facts(title, pairs)
        for title, pairs in (("Figures", view.figures), ("Details", view.facts))
        if pairs
    ]
    parts += [_fact_table(table, view.number) for table in view.tables]
    return "".join(parts)


def _curves(view: CaseView) -> str:
    drawn = []
    for position, curve in enumerate(view.curves, start=1):
        place = f"{view.number}-{position}"
        table = point_table(curve.observations, f"Observed points, case {place}")
        drawn.append(f"<h4>Curve</h4>\n{drawing(curve.chart, f'p{place}')}\n{table}\n")
    return "".join(drawn)


def _facts(title: str, pairs: Sequence[tuple[str, str]]) -> str:
    items = [f"<div><dt>{name(fact)}<dd>{name(value)}</div>" for fact, value in pairs]
    return f'<h4>{title}</h4>\n<dl class="facts">\n{"".join(items)}\n\n</dl>\n'


def _fact_table(own: FactTable, number: int) -> str:
    columns = [f'<th scope="col">{text(column.replace("_", " "))}' for column in own.columns]
    rows = [
        "<tr>" + "".join([f'<td class="t">{text(cell)}' for cell in row]) + "\n" for row in own.rows
    ]
    title = text(own.name)
    table = (
        f'<table class="found">\n<thead><tr>{"".join(columns)}\n<tbody>\n{"".join(rows)}</table>\n'
    )
    return f"<h4>{title}</h4>\n{scrolling(f'{title}, case {number}', table)}"


def _texts(own: Texts) -> str:
    rows = [f"<dt>before<dd>{text(own.before)}\n"]
    if own.masked is not None:
        pieces = [
            '<span class="gone">[masked]</span>' if piece is None else text(piece)
            for piece in own.masked
        ]
        rows.append(f"<dt>masked<dd>{''.join(pieces)}\n")
    if own.revised is not None:
        rows.append(f"<dt>revised<dd>{text(own.revised)}\n")
    elif own.note:
        rows.append(f'<dt>revised<dd class="quiet">not: {text(own.note)}\n')
    return f'<h4>Text</h4>\n<dl class="texts">\n{"".join(rows)}</dl>\n'
