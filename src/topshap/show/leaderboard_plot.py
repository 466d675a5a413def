"""The leaderboard as a bar chart, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_int, check_probability, front_door
from topshap.show.board import Leaderboard, check_one_output
from topshap.show.labels import shown_ranks
from topshap.show.nouns import quantity
from topshap.show.style import BORDER_LINE, FAINT_TEXT, INK, INSIDE, OUTSIDE, axes_or_new, open_frame, plain
from topshap.show.wording import NOTHING_LEARNED, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.result import TopK
    from topshap.core.typing import Players


@front_door
def leaderboard(top: TopK, ax: Axes | None = None, *, most: int = 24, level: float = 0.95) -> Axes:
    """Draw the players by estimate, best first, with intervals and the border between in and out.

    Unless the result is exact, the estimated probability that a player belongs to the top k is written next to its bar.
    Players that tie at the border are marked as tied instead.

    Parameters
    ----------
    top
        The result.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    most
        The maximum number of players to show, at least 4: the first ones, and always those around the border.
    level
        The level of the intervals, between 0 and 1.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
    >>> top = topshap.identify(game, k=2, budget=100, random_state=0)
    >>> ax = topshap.show.leaderboard(top)
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['0', '2']
    """
    check_one_output(top)
    most = check_int("most", most, low=4)
    level = check_probability("level", level)
    ranks = shown_ranks(top.n_candidates, top.k, most)
    board = Leaderboard.of(top, ranks, level=level, with_inclusion=True)
    places = _places(board)
    ax = axes_or_new(ax, height=1.1 + 0.27 * (places[-1] + 1))
    estimates = np.array([row.estimate for row in board.rows])
    ax.barh(places, estimates, height=0.72, color=[INSIDE if row.in_top else OUTSIDE for row in board.rows])
    half = np.array([row.half_width for row in board.rows])
    known = np.isfinite(half) & (half > 0)
    if known.any():
        ax.errorbar(estimates[known], places[known], xerr=half[known], fmt="none", ecolor=INK, elinewidth=1, capsize=2)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(places, [row.label for row in board.rows])
    plain(ax.get_yticklabels())
    ax.set_ylim(places[-1] + 0.6 + (board.rows[-1].hidden > 0), -0.6)
    ax.tick_params(axis="y", length=0)
    _annotate(ax, board, places)
    open_frame(ax, "top", "right", "left")
    ax.set_xlabel(quantity(top) + (f", with {100 * level:g}% intervals" if board.has_intervals else ""))
    unknown = "" if board.learned else f": {NOTHING_LEARNED}"
    ax.set_title(f"{title(top)} after {top.evaluations:,} evaluations{unknown}", loc="left", fontsize="medium")
    return ax


def _places(board: Leaderboard) -> Players:
    """Return the vertical position of every row; a line is left free where players are hidden."""
    gaps = [row.hidden > 0 for row in board.rows[:-1]]
    return np.arange(len(board.rows)) + np.cumsum([0, *gaps])


def _annotate(ax: Axes, board: Leaderboard, places: Players) -> None:
    """Draw the border, the numbers of hidden players and, at the right, the inclusion probabilities."""
    along: dict[str, Any] = {"transform": ax.get_yaxis_transform()}
    gap: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": "small", "color": FAINT_TEXT} | along
    chance: dict[str, Any] = {"fontsize": "small", "color": INK} | along
    if board.learned and board.inclusion_heading:
        ax.text(1.02, places[0] - 0.75, board.inclusion_heading, va="bottom", **chance)
    for row, place in zip(board.rows, places.tolist(), strict=True):
        if row.hidden:
            ax.text(-0.01, place + 1, f"⋮ {row.hidden:,} more", **gap)
        if row.rank == board.border:
            ax.plot([0.0, 1.12], [place + 0.5, place + 0.5], clip_on=False, **along, **BORDER_LINE)
        if board.learned and board.inclusion(row):
            ax.text(1.02, place, board.inclusion(row), va="center", **chance)
