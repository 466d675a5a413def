"""The leaderboard as an HTML list with a bar of inline SVG in each row, for notebooks and the report.

All text in it is escaped, since names come from users. It needs no script; a tooltip on each row shows the details.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from topshap.show.board import LEVEL, Leaderboard
from topshap.show.labels import shown_ranks
from topshap.show.numbers import percent
from topshap.show.wording import NOTHING_LEARNED

if TYPE_CHECKING:
    from topshap.core.result import TopK
    from topshap.show.board import Row


def html_leaderboard(top: TopK, *, most: int = 24) -> str:
    """Return the leaderboard as an HTML list of at most `most` players, to be used with the style sheet `styles`.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
    >>> top = topshap.identify(game, k=2, player_names=["<b>", "sex", "bmi"])
    >>> "&lt;b&gt;" in html_leaderboard(top), "<b>" in html_leaderboard(top)
    (True, False)
    """
    board = Leaderboard.of(top, shown_ranks(top.n_candidates, top.k, most), label_length=26, with_inclusion=True)
    if not board.learned:
        return f'<p class="ts-none">No ranking: {NOTHING_LEARNED}.</p>'
    rows = "".join(_row_with_gap(board, row) for row in board.rows)
    return f'<p class="ts-head">{board.inclusion_heading}</p><ol class="ts-board">{rows}</ol>'


def styles() -> str:
    """Return the style sheet of the leaderboard."""
    return files("topshap.show").joinpath("board.css").read_text(encoding="utf-8")


def _row_with_gap(board: Leaderboard, row: Row) -> str:
    gap = f'<li class="ts-gap">⋮ {row.hidden:,} more</li>' if row.hidden else ""
    return html_row(board, row, kind="ts-last" if row.rank == board.border else "") + gap


def html_row(board: Leaderboard, row: Row, *, kind: str = "", limits: tuple[float, float] | None = None) -> str:
    """Return a row of a leaderboard as an item of a list, with further classes; `limits` are the ends of its scale."""
    kinds = f"ts-row {'ts-in' if row.in_top else 'ts-out'} {kind}".rstrip()
    return (
        f'<li class="{kinds}" title="{escape(_details(board, row))}">'
        f'<span class="ts-rank">{row.rank}</span>'
        f'<bdi class="ts-name">{escape(row.label)}</bdi>'
        f"{_bar(row, limits or board.limits)}"
        f'<span class="ts-value">{board.estimate(row)}</span>'
        f'<span class="ts-chance">{escape(board.inclusion(row))}</span></li>'
    )


def _details(board: Leaderboard, row: Row) -> str:
    """Return the lines of the tooltip of a row."""
    tied = ", tied with others at the border" if row.tied else ""
    lines = [row.name, f"rank {row.rank} of {board.n_candidates:,}{tied}"]
    if board.exact:
        return "\n".join([*lines, f"{board.quantity} {row.estimate:.6g}"])
    lines.append(f"estimate {row.estimate:.6g}")
    if np.isnan(row.std_error):
        lines.append("standard error unknown")
    else:
        low, high = row.interval
        lines += [f"standard error {row.std_error:.3g}", f"{LEVEL:.0%} interval: {low:.4g} to {high:.4g}"]
    return "\n".join([*lines, f"{board.inclusion_heading} {percent(row.inclusion)}"])


def _bar(row: Row, limits: tuple[float, float]) -> str:
    """Return a bar from zero to the estimate with its interval, as an SVG that stretches to the available width."""
    low, high = limits
    scale = 100.0 / (high - low or 1.0)
    zero, end, left, right = ((x - low) * scale for x in (0.0, row.estimate, *row.interval))
    whisker = f'<path d="M{left:.2f} 10H{right:.2f}M{left:.2f} 6v8M{right:.2f} 6v8"/>' if right > left else ""
    return (
        '<svg class="ts-bar" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{min(zero, end):.2f}" y="2" width="{abs(end - zero):.2f}" height="16"/>'
        f'<path class="ts-zero" d="M{zero:.2f} 0v20"/>{whisker}</svg>'
    )
