"""A result as a notebook shows it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from topshap.show.html import board, styles

if TYPE_CHECKING:
    from topshap.core.result import TopK


def notebook_html(top: TopK) -> str:
    """Return the leaderboard, with what may be relied on below it, as a piece of HTML without any script.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2)
    >>> "Top 2 of 3 players after 8 evaluations" in notebook_html(top)
    True
    """
    head = f"<p><strong>{escape(top.headline)}</strong></p>"
    return (
        f'<div class="topshap"><style>{styles()}</style>{head}{board(top, most=16)}<p>{escape(top.promise)}</p></div>'
    )
