"""The report on many rows: a single HTML file with an overview and a table of rows, which needs no network."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from topshap.core.printable import printable
from topshap.core.validation import front_door
from topshap.show.html import styles
from topshap.show.page import as_json, clean, part, policy
from topshap.show.rows_report.content import content, facts, notes
from topshap.show.rows_text import headline

if TYPE_CHECKING:
    import os

    from topshap.core.explanations import Explanations


@front_door
def to_html(
    tops: Explanations, path: str | os.PathLike[str], *, title: str | None = None, game: str | None = None
) -> None:
    """Write a report on many rows to a single HTML file: see `topshap.Explanations.to_html`."""
    Path(path).write_text(render(tops, title=title, game=game), encoding="utf-8")


def render(tops: Explanations, *, title: str | None = None, game: str | None = None) -> str:
    """Return the report as text.

    Examples
    --------
    >>> import topshap
    >>> tops = topshap.Explanations([topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2)])
    >>> render(tops, title="Who matters?").startswith("<!doctype html>")
    True
    """
    data = content(tops, title=title, game=game)
    style = styles() + part("topshap.show.report", "report.css") + part("topshap.show.rows_report", "rows.css")
    script = part("topshap.show.rows_report", "rows.js")
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(printable(text))}</dd>" for term, text in facts(tops, data))
    of_overview, of_table = notes(tops, data)
    page = Template(part("topshap.show.rows_report", "rows.html")).substitute(
        policy=policy(style, script),
        title=escape(printable(title or f"The top {tops.k} players of {len(tops):,} rows")),
        headline=escape(headline(tops)),
        overview_note=escape(of_overview),
        table_note=escape(of_table),
        facts=terms,
        styles=style,
        data=as_json(data),
        script=script,
    )
    return clean(page)
