"""Results of several outputs as HTML: a table of the outputs, and a leaderboard for each of the first ones.

All text is escaped, since names come from users. The page needs no script and no network.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from topshap.core.printable import printable
from topshap.core.validation import front_door
from topshap.show.html import html_leaderboard, styles
from topshap.show.labels import shorten, shorten_all
from topshap.show.outputs_text import line_of
from topshap.show.page import clean, policy, versions
from topshap.show.report.content import facts, what_it_means
from topshap.show.wording import board_note

if TYPE_CHECKING:
    import os

    from topshap.core.results import TopKs

LISTED, WITH_BOARD, BOARD_ROWS = 1000, 50, 16
"""The maximum numbers of outputs in the table, of outputs with a leaderboard, and of players on it."""
IN_NOTEBOOK = 20
"""The maximum number of outputs in a notebook."""


@front_door
def outputs_to_html(
    tops: TopKs, path: str | os.PathLike[str], *, title: str | None = None, game: str | None = None
) -> None:
    """Write a report on all outputs to a single HTML file: see `topshap.TopKs.to_html`."""
    Path(path).write_text(render_outputs(tops, title=title, game=game), encoding="utf-8")


def render_outputs(tops: TopKs, *, title: str | None = None, game: str | None = None) -> str:
    """Return the report as text.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> tops = topshap.identify(lambda coalitions: coalitions @ np.array([[3.0, 0.0], [1.0, 1.0]]), 2, k=1)
    >>> render_outputs(tops, title="Two outputs").startswith("<!doctype html>")
    True
    """
    style = styles() + files("topshap.show.report").joinpath("report.css").read_text(encoding="utf-8")
    run: dict[str, Any] = {"game": game, "versions": versions()}
    terms = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(printable(text))}</dd>"
        for term, text in facts(tops[0], run)
        if term != "Values"  # they differ between outputs, and are in the table
    )
    page = Template(files("topshap.show.report").joinpath("outputs.html").read_text(encoding="utf-8")).substitute(
        policy=policy(style),
        title=escape(printable(title or f"The top {tops.k} of {tops.n_players:,} players for each output")),
        headline=escape(tops.headline),
        promise=escape(tops.promise),
        table=outputs_table(tops[:LISTED]),
        table_note=_shown(LISTED, tops),
        boards=_boards(tops[:WITH_BOARD]),
        boards_note=f"{escape(board_note(tops[0]))} {_shown(WITH_BOARD, tops)}",
        facts=terms,
        meaning="".join(f"<p>{escape(paragraph)}</p>" for paragraph in what_it_means(tops[0])),
        styles=style,
    )
    return clean(page)


def outputs_notebook_html(tops: TopKs) -> str:
    """Return the headline, a table of the first outputs and the promise as HTML without any script.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> tops = topshap.identify(lambda coalitions: coalitions @ np.array([[3.0, 0.0], [1.0, 1.0]]), 2, k=1)
    >>> "for each of 2 outputs" in outputs_notebook_html(tops)
    True
    """
    head = f"<p><strong>{escape(tops.headline)}</strong></p>"
    table, note = outputs_table(tops[:IN_NOTEBOOK]), f'<p class="ts-note">{_shown(IN_NOTEBOOK, tops)}</p>'
    return f'<div class="topshap"><style>{styles()}</style>{head}{table}{note}<p>{escape(tops.promise)}</p></div>'


def outputs_table(tops: TopKs) -> str:
    """Return a table with one row per output: v(empty), v(grand) and the top k with its confidence."""
    rows = "".join(
        f'<tr><th scope="row" class="name"><bdi>{escape(label)}</bdi></th><td>{top.empty:.6g}</td>'
        f'<td>{top.grand:.6g}</td><td class="name"><bdi>{escape(line_of(top))}</bdi></td></tr>'
        for label, top in zip(_labels(tops), tops, strict=True)
    )
    headings = (
        ("Output", " class='name'"),
        ("No players", ""),
        ("All players", ""),
        (f"Top {tops.k}", " class='name'"),
    )
    head = "".join(f'<th scope="col"{kind}>{text}</th>' for text, kind in headings)
    return f'<table class="players"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _boards(tops: TopKs) -> str:
    """Return the leaderboards of the outputs in sections that can be opened; the first one is open."""
    return "".join(
        f"<details{' open' if i == 0 else ''}><summary><bdi>{escape(label)}</bdi></summary>"
        f"{html_leaderboard(top, most=BOARD_ROWS)}</details>"
        for i, (label, top) in enumerate(zip(_labels(tops), tops, strict=True))
    )


def _labels(tops: TopKs) -> list[str]:
    names = [tops.output_name(i) for i in range(len(tops))]
    return shorten_all(names, 40) if len(names) <= WITH_BOARD else [shorten(name, 40) for name in names]


def _shown(most: int, tops: TopKs) -> str:
    return f"The first {most} of {len(tops):,} outputs are shown." if len(tops) > most else ""
