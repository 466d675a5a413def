"""The leaderboard as a list in HTML, with a bar of inline SVG in each row: for notebooks and the report.

The text in it comes from users, so all of it is escaped. It needs no script; hovering over a row tells the details.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from topshap.show.labels import name_of, on_one_line, shorten_all, shown_ranks
from topshap.show.numbers import percent, short_number

if TYPE_CHECKING:
    from topshap.core.result import TopK
    from topshap.core.typing import Matrix, Values

LEVEL = 0.95
"""The level of the intervals that are shown."""


def board(top: TopK, *, most: int = 24) -> str:
    """Return the leaderboard as an HTML list of at most `most` players; `styles` make it look like one.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, 1.0, 2.0])
    >>> top = topshap.identify(game, k=2, player_names=["<b>", "sex", "bmi"])
    >>> "&lt;b&gt;" in board(top), "<b>" in board(top)
    (True, False)
    """
    ranks = shown_ranks(top.n_players, top.k, most)
    intervals = bounded(top)
    shown = intervals[top.ranking[ranks]]
    limits = float(min(0.0, shown.min())), float(max(0.0, shown.max()))
    ends = np.append(ranks, top.n_players)
    rows: list[str] = []
    names = shorten_all((name_of(top, i) for i in top.ranking[ranks]), 26)
    for rank, name, after in zip(ranks.tolist(), names, ends[1:].tolist(), strict=True):
        rows.append(_row(top, rank, name, intervals, limits))
        if after - rank > 1:
            rows.append(f'<li class="ts-gap">⋮ {after - rank - 1:,} more</li>')
    head = "" if top.stopped == "exact" else f"P(in top {top.k})"
    return f'<p class="ts-head">{head}</p><ol class="ts-board">{"".join(rows)}</ol>'


def styles() -> str:
    """Return the style sheet of the leaderboard."""
    return files("topshap.show").joinpath("board.css").read_text(encoding="utf-8")


def details(top: TopK, rank: int) -> str:
    """Return all that is known of the player at a rank (from 0), in lines of text."""
    player = top.ranking[rank]
    estimate, error = top.estimates[player], top.std_errors[player]
    lines = [on_one_line(name_of(top, player)), f"rank {rank + 1} of {top.n_players:,}"]
    if top.stopped == "exact":
        return "\n".join([*lines, f"Shapley value {estimate:.6g}"])
    lines.append(f"estimate {estimate:.6g}")
    if np.isnan(error):
        lines.append("standard error not known")
    else:
        low, high = top.interval(LEVEL)[player]
        lines += [f"standard error {error:.3g}", f"interval of {LEVEL:.0%}: {low:.4g} to {high:.4g}"]
    return "\n".join([*lines, f"P(in top {top.k}) {percent(top.inclusion[player])}"])


def bounded(top: TopK) -> Matrix:
    """Return the interval of every player, of no width where nothing is known."""
    intervals = top.interval(LEVEL)
    return np.where(np.isfinite(intervals), intervals, top.estimates[:, None])


def _row(top: TopK, rank: int, name: str, intervals: Matrix, limits: tuple[float, float]) -> str:
    player = top.ranking[rank]
    kind = "ts-in" if rank < top.k else "ts-out"
    if rank == top.k - 1 and top.k < top.n_players:
        kind += " ts-last"
    chance = "" if top.stopped == "exact" else percent(top.inclusion[player])
    return (
        f'<li class="ts-row {kind}" title="{escape(details(top, rank))}">'
        f'<span class="ts-rank">{rank + 1}</span>'
        f'<bdi class="ts-name">{escape(name)}</bdi>'
        f"{_bar(top.estimates[player], intervals[player], limits)}"
        f'<span class="ts-value">{short_number(top.estimates[player], limits[1] - limits[0])}</span>'
        f'<span class="ts-chance">{escape(chance)}</span></li>'
    )


def _bar(estimate: float, interval: Values, limits: tuple[float, float]) -> str:
    """Return a bar from zero to the estimate and its interval, in an SVG that is stretched to the room there is."""
    low, high = limits
    scale = 100.0 / (high - low or 1.0)
    zero, end, left, right = ((x - low) * scale for x in (0.0, estimate, *interval))
    whisker = f'<path d="M{left:.2f} 10H{right:.2f}M{left:.2f} 6v8M{right:.2f} 6v8"/>' if right > left else ""
    return (
        '<svg class="ts-bar" viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="{min(zero, end):.2f}" y="2" width="{abs(end - zero):.2f}" height="16"/>'
        f'<path class="ts-zero" d="M{zero:.2f} 0v20"/>{whisker}</svg>'
    )
