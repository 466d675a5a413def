"""Both levels of a zoomed result as HTML: a nested list, without any script.

All text is escaped, since names come from users.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from topshap.core.printable import printable
from topshap.core.validation import front_door
from topshap.show.html import html_row, styles
from topshap.show.levels_board import level_rows
from topshap.show.page import clean, part, policy, versions
from topshap.show.wording import NOTHING_LEARNED

if TYPE_CHECKING:
    import os

    from topshap.core.levels import Levels

LEVELS_STYLE = """
.topshap .ts-element .ts-rank, .topshap .ts-element .ts-name { padding-left: 1.6em; }
.topshap .ts-element .ts-bar { height: .8em; }
"""
"""What the nested list adds to the style sheet of the leaderboard."""


def html_levels(levels: Levels) -> str:
    """Return the nested leaderboard as an HTML list, to be used with the style sheet `styles` and `LEVELS_STYLE`.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.TextGame(lambda texts: [len(text) for text in texts], ["<b>", "i"], groups={"all": [0, 1]})
    >>> page = html_levels(topshap.identify(game, k=1).zoom(game))
    >>> "&lt;b&gt;" in page, "<b>" in page
    (True, False)
    """
    rows = level_rows(levels, label_length=60)
    if not rows[0].board.learned:
        return f'<p class="ts-none">No ranking: {NOTHING_LEARNED}.</p>'
    ends = [end for each in rows for end in each.row.interval]
    limits = min(0.0, *ends), max(0.0, *ends)
    items = []
    for each in rows:
        kind = "ts-element" if each.is_element else "ts-player"
        items.append(html_row(each.board, each.row, kind=kind, limits=limits))
        if each.hidden:
            items.append(f'<li class="ts-gap">⋮ {each.hidden:,} more</li>')
    return f'<ol class="ts-board">{"".join(items)}</ol>'


def levels_notebook_html(levels: Levels) -> str:
    """Return the headline, the nested leaderboard and the promises as HTML for a notebook."""
    head = f"<p><strong>{escape(levels.outer.headline)}</strong></p>"
    body = f"{head}{html_levels(levels)}{_promises(levels)}"
    return f'<div class="topshap"><style>{styles()}{LEVELS_STYLE}</style>{body}</div>'


@front_door
def levels_to_html(levels: Levels, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write a report on both levels to a single HTML file: see `topshap.Levels.to_html`."""
    style = styles() + part("topshap.show.report", "report.css") + LEVELS_STYLE
    named = escape(printable(title or f"The top {levels.outer.k} players, and what is in them"))
    own = ", ".join(f"{name} {number}" for name, number in versions().items())
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(style)}">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{named}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="topshap">\n<main>\n<header>\n<h1>{named}</h1>\n'
        f'<p class="lead">{escape(levels.outer.headline)}</p>\n</header>\n<section>\n'
        f"{html_levels(levels)}\n{_promises(levels)}\n</section>\n"
        f"<footer><p>Created with {escape(own)}. This file works offline.</p></footer>\n</main>\n</body>\n</html>\n"
    )
    Path(path).write_text(clean(page), encoding="utf-8")


def _promises(levels: Levels) -> str:
    return f"<p>Players: {escape(levels.outer.promise)}</p><p>Within them: {escape(levels.inner.promise)}</p>"
