"""The values of many rows, one point per row and player."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.cells import numeric_cells
from topshap.core.extras import import_extra
from topshap.core.validation import check_int, front_door
from topshap.show.many_rows import (
    HIGH,
    LOW,
    MIDDLE,
    evenly_spaced,
    labels_of,
    most_important,
    one_output,
    relative_values,
    swarm_offsets,
)
from topshap.show.nouns import candidate, quantity
from topshap.show.style import FAINT_TEXT, INK, INSIDE, OUTSIDE, axes_or_new, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.explanations import Explanations


@front_door
def beeswarm(
    tops: Explanations,
    ax: Axes | None = None,
    *,
    k: int = 12,
    output: int | str | None = None,
    most_rows: int = 2000,
) -> Axes:
    """Draw the Shapley values of many rows: one line per player, one point per row, coloured by the player's value.

    Players with the largest mean magnitude come first. Points are spread where there are many. Without values of the
    players, all points have the same colour; unknown values are grey.

    Parameters
    ----------
    tops
        The explanations.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    k
        The maximum number of players to show.
    output
        The name or position of the output, if there are several.
    most_rows
        The maximum number of rows to draw: of more rows, evenly spaced ones are drawn.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import numpy as np
    >>> import topshap
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> tops = topshap.Explainer(lambda X: X @ [1.0, -2.0, 0.0], X, random_state=0).explain_many(X, k=1)
    >>> [label.get_text() for label in topshap.show.beeswarm(tops).get_yticklabels()]
    ['1', '0', '2']
    """
    tops = one_output(tops, output)
    rows = evenly_spaced(len(tops), check_int("most_rows", most_rows, low=1))
    players = most_important(tops.importance().values, k)
    ax = axes_or_new(ax, width=7.2, height=1.2 + 0.36 * len(players))
    colours: Any = import_extra("matplotlib.colors", extra="plots", needed_by="topshap.show")
    cmap = colours.LinearSegmentedColormap.from_list("topshap", [LOW, MIDDLE, HIGH]).with_extremes(bad=OUTSIDE)
    shown = tops.estimates[np.ix_(rows, players)]
    limits = float(shown.min()), float(shown.max())
    points = None
    for place, player in enumerate(players.tolist()):
        values = shown[:, place]
        heights = place + 0.4 * swarm_offsets(values, limits)
        style: dict[str, Any] = {"s": 12, "linewidths": 0, "alpha": 0.85, "rasterized": len(rows) > 500, "zorder": 2}
        if tops.data is None:
            ax.scatter(values, heights, color=INSIDE, **style)
            continue
        shade = relative_values(numeric_cells(tops.data[:, player]).numbers)[rows]
        points = ax.scatter(values, heights, c=shade, cmap=cmap, vmin=0.0, vmax=1.0, plotnonfinite=True, **style)
    ax.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
    ax.set_yticks(range(len(players)), labels_of(tops.all_names, players))
    plain(ax.get_yticklabels())
    ax.set_ylim(len(players) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color="#EEEEEE", linewidth=0.8)
    ax.set_axisbelow(True)
    open_frame(ax, "top", "right", "left")
    ax.set_xlabel(quantity(tops))
    if points is not None:
        bar = ax.figure.colorbar(points, ax=ax, ticks=[0.0, 1.0], shrink=0.7, aspect=30, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label("value of the player in the row", color=FAINT_TEXT, labelpad=-6)
        bar.outline.set_visible(False)
    ax.set_title(_title(tops, len(rows), len(players)), loc="left", fontsize="medium")
    return ax


def _title(tops: Explanations, rows: int, players: int) -> str:
    of_rows = f"{rows:,} rows" if rows == len(tops) else f"{rows:,} of {len(tops):,} rows"
    noun = f"{candidate(tops)}s"
    of_players = f"{players} {noun}" if players == tops.n_players else f"{players} of {tops.n_players:,} {noun}"
    return f"{of_players}, {of_rows}"
