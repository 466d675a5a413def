"""The leaderboard: players by estimate, with intervals, the border, and each one's chance to be in the top k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_int, front_door
from topshap.show.labels import name_of, shorten_all, shown_ranks
from topshap.show.numbers import percent
from topshap.show.style import BORDER_LINE, FAINT_TEXT, INK, INSIDE, OUTSIDE, axes_or_new, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.result import TopK
    from topshap.core.typing import Players, Values


@front_door
def leaderboard(top: TopK, ax: Axes | None = None, *, most: int = 24, level: float = 0.95) -> Axes:
    """Draw the players by estimate, best first, with intervals and the border between in and out.

    At the side stands each player's estimated probability of belonging to the top k, unless the result is exact.

    Parameters
    ----------
    top
        What was found.
    ax
        Where to draw; by default in a new figure. Needs the extra ``topshap[plots]``.
    most
        How many players to show at most, at least 4: the first ones, and always those around the border.
    level
        The level of the intervals, between 0 and 1.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
    >>> top = topshap.identify(game, k=2, budget=100, random_state=0)
    >>> ax = topshap.show.leaderboard(top)
    >>> [label.get_text() for label in ax.get_yticklabels()][:2]
    ['0', '2']
    """
    most = check_int("most", most, low=4)
    ranks = shown_ranks(top.n_players, top.k, most)
    players, places = top.ranking[ranks], _places(ranks)
    ax = axes_or_new(ax, height=1.1 + 0.27 * (places[-1] + 1))
    colours = [INSIDE if rank < top.k else OUTSIDE for rank in ranks]
    ax.barh(places, top.estimates[players], height=0.72, color=colours)
    _intervals(ax, places, top.estimates[players], top.interval(level)[players])
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(places, shorten_all(name_of(top, i) for i in players))
    plain(ax.get_yticklabels())
    ax.set_ylim(places[-1] + 0.6 + (ranks[-1] < top.n_players - 1), -0.6)
    ax.tick_params(axis="y", length=0)
    _gaps(ax, ranks, places, top.n_players)
    if top.k < top.n_players:
        border = places[np.searchsorted(ranks, top.k)] - 0.5
        ax.plot([0.0, 1.12], [border, border], transform=ax.get_yaxis_transform(), clip_on=False, **BORDER_LINE)
    if top.stopped != "exact":
        _chances(ax, places, top.inclusion[players], top.k)
    open_frame(ax, "top", "right", "left")
    uncertain = top.stopped != "exact" and bool(np.isfinite(top.std_errors[players]).any())
    ax.set_xlabel("Shapley value" + (f", with intervals of {100 * level:g}%" if uncertain else ""))
    title = f"Top {top.k} of {top.n_players:,} after {top.evaluations:,} evaluations"
    ax.set_title(title, loc="left", fontsize="medium")
    return ax


def _places(ranks: Players) -> Players:
    """Return a line for every rank, with a line between where some are left out."""
    return np.arange(len(ranks)) + np.cumsum(np.diff(ranks, prepend=ranks[0]) > 1)


def _intervals(ax: Axes, places: Players, estimates: Values, intervals: Values) -> None:
    """Draw the intervals that are bounded and have a width."""
    half = intervals[:, 1] - estimates
    known = np.isfinite(half) & (half > 0)
    if known.any():
        ax.errorbar(estimates[known], places[known], xerr=half[known], fmt="none", ecolor=INK, elinewidth=1, capsize=2)


def _gaps(ax: Axes, ranks: Players, places: Players, n_players: int) -> None:
    """Say how many players are left out between those shown, and after them."""
    ends = np.append(ranks, n_players)
    style: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": "small", "color": FAINT_TEXT}
    for rank, after, place in zip(ranks, ends[1:], places, strict=True):
        if after - rank > 1:
            ax.text(-0.01, place + 1, f"⋮ {after - rank - 1:,} more", transform=ax.get_yaxis_transform(), **style)


def _chances(ax: Axes, places: Players, inclusion: Values, k: int) -> None:
    """Write each player's chance to be in the top k at the right side."""
    style: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "fontsize": "small", "color": INK}
    ax.text(1.02, places[0] - 0.75, f"P(in top {k})", va="bottom", **style)
    for place, chance in zip(places, inclusion, strict=True):
        ax.text(1.02, place, percent(chance), va="center", **style)
