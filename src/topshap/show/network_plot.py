"""The network of interactions, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.validation import check_int, front_door
from topshap.show.board import has_learned
from topshap.show.network import MOST_PAIRS, MOST_PLAYERS, Network, check_pairs
from topshap.show.style import BORDER_LINE, FAINT_TEXT, INK, INSIDE, OUTSIDE, axes_or_new
from topshap.show.wording import NOTHING_LEARNED, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.pairs_result import TopPairs

POSITIVE, NEGATIVE = INSIDE, BORDER_LINE["color"]
"""The colours of interactions that raise and lower the value."""
_ROOM = 1.75
"""Half the width of the plot, in radii of the circle: there is room for names around it."""


@front_door
def network(top: TopPairs, ax: Axes | None = None, *, most: int = MOST_PLAYERS, most_pairs: int = MOST_PAIRS) -> Axes:
    """Draw players on a circle, and a line between the players of each of the leading pairs.

    The wider a line, the stronger the interaction. Solid blue lines are positive interactions, dashed orange ones
    negative. The top k are strong, the other pairs pale. There are no lines while nothing distinguishes the pairs.

    Parameters
    ----------
    top
        The result for pairs: of ``identify(..., order=2)``, or `TopK.interactions`.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    most
        The maximum number of players to show, at least 2: those of the leading pairs.
    most_pairs
        The maximum number of pairs to show.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> game = topshap.games.UnanimityGame([[0], [1, 2], [0, 3]], [9.0, 2.0, -3.0], n_players=4)
    >>> ax = topshap.show.network(topshap.identify(game, k=1, order=2))
    >>> len(ax.lines), [text.get_text() for text in ax.texts]
    (2, ['0', '1', '2', '3'])
    """
    top = check_pairs(top)
    shown = Network.of(top, most=check_int("most", most, low=2), most_pairs=check_int("most_pairs", most_pairs, low=1))
    ax = axes_or_new(ax, width=6.0, height=5.2)
    for order, edge in enumerate(shown.edges):
        positive = edge.estimate > 0.0
        ends = shown.places[list(edge.ends)]
        style: dict[str, Any] = {
            "color": POSITIVE if positive else NEGATIVE,
            "linestyle": "-" if positive else (0, (4, 1.5)),
            "linewidth": 0.5 + 6.5 * edge.strength,
            "alpha": 0.95 if edge.in_top else 0.25,
            "zorder": 1 + order / len(shown.edges),
        }
        ax.plot(*ends.T, solid_capstyle="round", **style)
    inside = [i in shown.in_top for i in range(len(shown.players))]
    colours = [INK if strong else OUTSIDE for strong in inside]
    x_places, y_places = shown.places.T
    ax.scatter(x_places, y_places, s=60, c=colours, edgecolors="white", linewidths=1.2, zorder=3)
    for (x, y), label, strong in zip(shown.places.tolist(), shown.labels, inside, strict=True):
        ax.text(
            1.09 * x,
            1.09 * y,
            label,
            ha="center" if abs(x) < 0.2 else "left" if x > 0.0 else "right",
            va="center" if abs(x) >= 0.2 else "bottom" if y > 0.0 else "top",
            fontsize="small",
            fontweight="bold" if strong else "normal",
            color=INK if strong else FAINT_TEXT,
            parse_math=False,
        )
    ax.set(xlim=(-_ROOM, _ROOM), ylim=(-1.25, 1.25), aspect="equal")
    ax.set_axis_off()
    ax.set_title(plot_title(top, len(shown.players)), loc="left", fontsize="medium")
    return ax


def plot_title(top: TopPairs, shown: int) -> str:
    """Return the title of a plot of interactions that shows some of the players."""
    some = "" if shown == top.n_players else f" ({shown} of {top.n_players:,} players shown)"
    return f"{title(top)}{some}" if has_learned(top) else f"No ranking: {NOTHING_LEARNED}."
