"""The interactions as a heat map of players and players, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import check_int, front_door
from topshap.show.board import has_learned
from topshap.show.network import MOST_PLAYERS, check_pairs, leading_players, player_labels
from topshap.show.network_plot import plot_title
from topshap.show.numbers import cell_number
from topshap.show.style import INK, axes_or_new, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.pairs_result import TopPairs
    from topshap.core.typing import Players

_WITH_NUMBERS = 12
"""The largest number of players for which cells have numbers."""


@front_door
def matrix(top: TopPairs, ax: Axes | None = None, *, most: int = MOST_PLAYERS) -> Axes:
    """Draw the interactions of all pairs as a symmetric heat map, with frames around the top k.

    Blue cells are positive interactions, red ones negative; the colours are symmetric around 0.

    Parameters
    ----------
    top
        The result for pairs: of ``identify(..., order=2)``, or `TopK.interactions`.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    most
        The maximum number of players to show, at least 2: those of the leading pairs.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [0, 3]], [9.0, 2.0, -3.0], n_players=4)
    >>> ax = topshap.show.matrix(topshap.identify(game, k=1, order=2))
    >>> ax.images[0].get_array().shape, len(ax.patches)
    ((4, 4), 2)
    """
    top = check_pairs(top)
    players = leading_players(top, check_int("most", most, low=2))
    values, labels = top.matrix[np.ix_(players, players)], player_labels(top, players, 20)
    side = max(3.2, 1.8 + 0.42 * len(players))
    ax = axes_or_new(ax, width=side + 0.8, height=side)
    end = float(np.abs(values).max()) or 1.0
    off_diagonal = np.ma.masked_array(values, np.eye(len(players), dtype=np.bool_))
    image = ax.imshow(off_diagonal, cmap="RdBu", vmin=-end, vmax=end)
    ax.set_yticks(range(len(players)), labels)
    ax.set_xticks(range(len(players)), labels, rotation=45, ha="right", rotation_mode="anchor")
    plain([*ax.get_xticklabels(), *ax.get_yticklabels()])
    ax.tick_params(length=0)
    open_frame(ax, "top", "right", "left", "bottom")
    if len(players) <= _WITH_NUMBERS:
        for row, column in zip(*np.nonzero(~np.eye(len(players), dtype=np.bool_)), strict=True):
            value = float(values[row, column])
            ink = "white" if abs(value) > 0.6 * end else INK
            ax.text(column, row, cell_number(value, end), ha="center", va="center", fontsize="x-small", color=ink)
    if has_learned(top):
        _frame_top(ax, top, players)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.7)
    bar.set_label("interaction")
    bar.outline.set_visible(False)
    ax.set_title(plot_title(top, len(players)), loc="left", fontsize="medium")
    return ax


def _frame_top(ax: Axes, top: TopPairs, players: Players) -> None:
    """Draw a frame around both cells of each of the top k pairs."""
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="topshap.show")
    position = {player: i for i, player in enumerate(players.tolist())}
    style = {"fill": False, "edgecolor": INK, "linewidth": 1.6}
    for first, second in top.pairs.tolist():
        if first in position and second in position:
            x, y = position[first], position[second]
            for column, row in ((x, y), (y, x)):
                ax.add_patch(patches.Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, **style))
