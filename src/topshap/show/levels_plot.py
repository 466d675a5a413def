"""Both levels of a zoomed result as a bar chart, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.levels import Levels
from topshap.core.validation import front_door, refuse
from topshap.show.levels_board import has_intervals, level_rows
from topshap.show.nouns import quantity
from topshap.show.style import INK, INSIDE, OUTSIDE, axes_or_new, open_frame, plain
from topshap.show.wording import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PLAYER, _ELEMENT = 0.72, 0.44
"""The heights of bars."""


@front_door
def levels(found: Levels, ax: Axes | None = None) -> Axes:
    """Draw the players by estimate, best first, and below each of them its elements as thinner bars.

    Parameters
    ----------
    found
        The result of `topshap.TopK.zoom`.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.TextGame(
    ...     lambda texts: [text.count("good") for text in texts],
    ...     ["good", "plot", "and", "so", "on"],
    ...     groups={"first": [0, 1], "second": [2, 3, 4]},
    ... )
    >>> ax = topshap.show.levels(topshap.identify(game, k=1).zoom(game))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['first', 'good', 'plot', 'second']
    """
    if not isinstance(found, Levels):
        refuse("found", found, must_be="the result of TopK.zoom")
    rows = level_rows(found, label_length=30)
    places = np.arange(len(rows))
    ax = axes_or_new(ax, height=1.1 + 0.27 * len(rows))
    estimates = np.array([each.row.estimate for each in rows])
    heights = [_ELEMENT if each.is_element else _PLAYER for each in rows]
    ax.barh(places, estimates, height=heights, color=[INSIDE if each.row.in_top else OUTSIDE for each in rows])
    half = np.array([each.row.half_width for each in rows])
    known = np.isfinite(half) & (half > 0)
    if known.any():
        ax.errorbar(estimates[known], places[known], xerr=half[known], fmt="none", ecolor=INK, elinewidth=1, capsize=2)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(places, [each.row.label for each in rows])
    plain(ax.get_yticklabels())
    for label, each in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontsize("small" if each.is_element else "medium")
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    open_frame(ax, "top", "right", "left")
    ax.set_xlabel(quantity(found.outer) + (", with 95% intervals" if has_intervals(rows) else ""))
    ax.set_title(f"{title(found.outer)}, and what is in them", loc="left", fontsize="medium")
    return ax
