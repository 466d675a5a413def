"""The representation of a result in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from topshap.show.html import html_leaderboard, styles
from topshap.show.wording import board_note

if TYPE_CHECKING:
    from topshap.core.result import TopK


def notebook_html(top: TopK) -> str:
    """Return the headline, the leaderboard, its explanation and the promise as HTML without any script.

    Examples
    --------
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2)
    >>> "Top 2 of 3 players after 8 evaluations" in notebook_html(top)
    True
    """
    head = f"<p><strong>{escape(top.headline)}</strong></p>"
    board, promise = html_leaderboard(top, most=16), f"<p>{escape(top.promise)}</p>"
    legend = f'<p class="ts-note">{escape(note)}</p>' if (note := board_note(top)) else ""
    return f'<div class="topshap"><style>{styles()}</style>{head}{board}{legend}{promise}</div>'
