"""The race: estimates and intervals against the number of evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.history import History
from topshap.core.validation import check_int, check_probability, front_door, refuse
from topshap.show.board import check_one_output, has_learned
from topshap.show.labels import labels_of, shown_ranks
from topshap.show.nouns import quantity
from topshap.show.style import BORDER_LINE, FAINT_TEXT, INSIDE, OUTSIDE_LINE, axes_or_new, open_frame
from topshap.show.wording import NOTHING_LEARNED, race_title
from topshap.statistics.normal_intervals import two_sided_quantile
from topshap.statistics.ranking import border_lines, rank_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.result import TopK
    from topshap.core.typing import Matrix, Players, Values

DASHES = ("-", "--", "-.", ":")
FEW_MOMENTS = 8
"""Races with at most this many moments are drawn with a marker at each of them."""


@front_door
def race(top: TopK, ax: Axes | None = None, *, most: int = 12, level: float = 0.95) -> Axes:
    """Draw the estimates and their intervals against the number of evaluations.

    The top k are dark, the others light. Intervals are drawn for the last player in the top k and the first one
    outside, where the race is decided. While nothing distinguishes the players, all are light and there is no border.

    Parameters
    ----------
    top
        The result, with its `history`.
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
    >>> top = topshap.identify(game, k=2, budget=200, random_state=0)
    >>> topshap.show.race(top).get_xlabel()
    'evaluations'
    """
    check_one_output(top)
    most = check_int("most", most, low=4)
    level = check_probability("level", level)
    history = known_history(top)
    ranks = shown_ranks(top.n_candidates, top.k, most)
    players = top.ranking[ranks]
    in_top = ranks[ranks < top.k] if has_learned(top) else ranks[:0]
    ax = axes_or_new(ax, width=7.0, height=4.2)
    few = len(history.evaluations) <= FEW_MOMENTS
    half_widths = two_sided_quantile(1.0 - level) * history.std_errors
    for rank, player in zip(ranks[::-1], players[::-1], strict=True):  # the best are drawn last, on top
        inside = rank in in_top
        colour = INSIDE if inside else OUTSIDE_LINE
        dashes = DASHES[rank % len(DASHES)]
        estimates, half = history.estimates[:, player], half_widths[:, player]
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.8 if inside else 1.0}
        ax.plot(history.evaluations, estimates, marker="." if few else "", **style)
        if rank in (top.k - 1, top.k):
            fill: dict[str, Any] = {"alpha": 0.22, "linewidth": 0, "color": colour}
            ax.fill_between(history.evaluations, estimates - half, estimates + half, **fill)
            if few:
                ax.errorbar(history.evaluations, estimates, half, fmt="none", ecolor=colour, elinewidth=1, capsize=2)
    _evaluations_axis(ax, history)
    ax.set_ylim(*value_limits(history.estimates[:, players], half_widths[:, players]))
    _label_ends(ax, top, ranks, in_top)
    for place in borders(top):
        ax.axhline(place, zorder=0, **BORDER_LINE)
    open_frame(ax, "top", "right")
    ax.set_xlabel("evaluations")
    ax.set_ylabel(quantity(top))
    unknown = "" if has_learned(top) else f": {NOTHING_LEARNED}"
    ax.set_title(f"{race_title(top, len(ranks))}{unknown}", loc="left", fontsize="medium")
    return ax


def borders(top: TopK) -> list[float]:
    """Return the values at which the border of the top k lies: two of them if players are ranked by magnitude.

    There is none if k is the number of players, or while nothing distinguishes the players.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.AdditiveGame([3.0, -2.0, 1.0])
    >>> [borders(topshap.identify(game, k=1, rank_by=by, random_state=0)) for by in ("value", "magnitude")]
    [[2.0], [2.5, -2.5]]
    """
    if top.k == top.n_candidates or not has_learned(top):
        return []
    between = rank_key(top.estimates[top.ranking[[top.k - 1, top.k]]], top.rank_by).mean()
    return border_lines(float(between), top.rank_by)


def known_history(top: TopK) -> History:
    """Return the history of a result from the first moment at which estimates differ; refuse a result without one."""
    history = top.history
    if history is None:
        refuse("top", must_be="a result with a history", got="one without")
    differ = np.ptp(history.estimates, axis=1) > 0
    start = int(np.argmax(differ)) if differ.any() else len(differ) - 1
    return History(history.evaluations[start:], history.estimates[start:], history.std_errors[start:])


def value_limits(estimates: Matrix, half_widths: Matrix) -> tuple[float, float]:
    """Return axis limits that hold all final intervals and most of the earlier ones.

    The first estimates and intervals may be many times wider than the last ones, which would then be invisible.

    Examples
    --------
    >>> value_limits(np.array([[90.0, -50.0], [2.0, 1.0], [2.0, 1.0]]), np.full((3, 2), 0.5))
    (0.3..., 2.6...)
    """
    later = slice(len(estimates) // 3, None)
    half = np.where(np.isfinite(half_widths[later]), half_widths[later], 0.0)
    low = min(np.quantile(estimates[later] - half, 0.02), (estimates[-1] - half[-1]).min())
    high = max(np.quantile(estimates[later] + half, 0.98), (estimates[-1] + half[-1]).max())
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    return float(low - margin), float(high + margin)


def spread(places: Values, gap: float) -> Values:
    """Return the positions moved apart to a distance of at least `gap`, in the same order.

    Examples
    --------
    >>> spread(np.array([1.0, 1.1, 5.0]), gap=1.0)
    array([0.55, 1.55, 5.  ])
    """
    order = np.argsort(places, kind="stable")
    blocks: list[tuple[float, int]] = []  # the centre and the size of each block of touching positions
    for place in places[order].tolist():
        middle, size = place, 1
        while blocks and blocks[-1][0] + gap * blocks[-1][1] / 2 > middle - gap * size / 2:
            before, count = blocks.pop()
            middle = (before * count + middle * size) / (count + size)
            size += count
        blocks.append((middle, size))
    apart = np.empty(len(places))
    apart[order] = np.concatenate([middle + gap * (np.arange(size) - (size - 1) / 2) for middle, size in blocks])
    return apart


def within(places: Values, gap: float, low: float, high: float) -> Values:
    """Return the positions moved into [low, high], at least half a `gap` from its ends if there is room for all.

    Examples
    --------
    >>> within(np.array([-0.4, 0.6, 5.0]), gap=1.0, low=0.0, high=5.0)
    array([0.5, 1.5, 4.5])
    """
    rank = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    lowest, highest = low + gap * (rank + 0.5), high - gap * (len(places) - rank - 0.5)
    return np.minimum(np.maximum(places, lowest), highest)


def round_numbers(low: float, high: float) -> list[float]:
    """Return round numbers in [low, high] for a logarithmic axis: 1, 2, 5, 10 and so on, or powers of ten.

    Examples
    --------
    >>> round_numbers(30, 700)
    [50.0, 100.0, 200.0, 500.0]
    >>> round_numbers(2, 200_000)
    [10.0, 100.0, 1000.0, 10000.0, 100000.0]
    """
    exponents = range(int(np.floor(np.log10(low))), int(np.log10(high)) + 1)
    steps = (1, 2, 5) if high < 1000 * low else (1,)
    return [number for e in exponents for step in steps if low <= (number := float(step * 10**e)) <= high]


def _evaluations_axis(ax: Axes, history: History) -> None:
    """Set up the axis of evaluations, logarithmic for a long race."""
    first, last = history.evaluations[[0, -1]].tolist()
    if last > 4 * first > 0:
        ax.set_xscale("log")
        ax.set_xticks(round_numbers(first, last))
        ax.set_xticks([], minor=True)
    else:
        ax.locator_params(axis="x", integer=True)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(first if last > first else 0, last)


def _label_ends(ax: Axes, top: TopK, ranks: Players, in_top: Players) -> None:
    """Write the players' names at the ends of their lines, without overlap."""
    players = top.ranking[ranks]
    low, high = ax.get_ylim()
    height = ax.get_window_extent().height * 72 / ax.figure.dpi  # in points
    gap = min(10.5 / max(height, 1.0), 1.0 / len(ranks)) * (high - low)
    names = labels_of(top, players, 22)
    places = within(spread(top.estimates[players], gap), gap, low, high)
    for rank, player, name, place in zip(ranks, players, names, places, strict=True):
        inside = rank in in_top
        ax.annotate(
            name,
            xy=(1.0, top.estimates[player]),
            xytext=(1.04, place),
            xycoords=ax.get_yaxis_transform(),
            textcoords=ax.get_yaxis_transform(),
            va="center",
            fontsize="small",
            fontweight="bold" if inside else "normal",
            color=INSIDE if inside else FAINT_TEXT,
            arrowprops={
                "arrowstyle": "-",
                "color": OUTSIDE_LINE,
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0.0, 0.5),
            },
            annotation_clip=False,
            parse_math=False,
        )
