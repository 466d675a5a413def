"""Pairwise probabilities of players around the border of the top k."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topshap.core.validation import check_int, front_door
from topshap.show.board import check_one_output, has_learned, probability_ahead
from topshap.show.labels import around_border, labels_of, short_names
from topshap.show.numbers import percent
from topshap.show.style import BORDER_LINE, axes_or_new, plain
from topshap.show.wording import NOTHING_LEARNED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.result import TopK


@front_door
def pairwise(top: TopK, ax: Axes | None = None, *, most: int = 12) -> Axes:
    """Draw the estimated probability that one player is ranked before another, for players around the border.

    The darker a cell, the more likely the player in its row is ahead of the player in its column. The dashed lines are
    the border of the top k. There are none while nothing distinguishes the players.

    Parameters
    ----------
    top
        The result.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    most
        The maximum number of players to show, at least 2: those around the border.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
    >>> top = topshap.identify(game, k=2, budget=100, random_state=0)
    >>> topshap.show.pairwise(top, most=6).images[0].get_array().shape
    (6, 6)
    """
    check_one_output(top)
    most = check_int("most", most, low=2)
    ranks = around_border(top.n_candidates, top.k, most)
    players = top.ranking[ranks]
    ahead = probability_ahead(top, players)
    side = max(3.0, 1.8 + 0.42 * len(ranks))
    ax = axes_or_new(ax, width=side + 0.6, height=side)
    image = ax.imshow(ahead, cmap="Blues", vmin=0.0, vmax=1.0)
    names = short_names(top, players, 20)
    ax.set_yticks(range(len(ranks)), labels_of(top, players, 20))
    ax.set_xticks(range(len(ranks)), names, rotation=45, ha="right", rotation_mode="anchor")
    plain([*ax.get_xticklabels(), *ax.get_yticklabels()])
    ax.tick_params(length=0)
    exact = top.stopped == "exact"
    for row in range(len(ranks)):
        for column in range(len(ranks)):
            if row != column:
                chance = ahead[row, column]
                ink = "white" if chance > 0.65 else "#222222"
                ax.text(column, row, _number(chance, exact), ha="center", va="center", fontsize="small", color=ink)
    border = top.k - ranks[0] - 0.5
    if has_learned(top) and 0 < border < len(ranks) - 1:
        ax.axhline(border, **BORDER_LINE)
        ax.axvline(border, **BORDER_LINE)
    ax.figure.colorbar(image, ax=ax, shrink=0.7).ax.yaxis.set_major_formatter("{x:.0%}")
    unknown = "" if has_learned(top) else f": {NOTHING_LEARNED}"
    ax.set_title(f"P(row is ahead of column), in percent{unknown}", loc="left", fontsize="medium")
    return ax


def _number(chance: float, exact: bool) -> str:
    return f"{100 * chance:.0f}" if exact else percent(chance).removesuffix("%")
