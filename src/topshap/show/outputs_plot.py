"""Results of several outputs as a heat map, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.validation import check_int, front_door
from topshap.show.labels import shorten_all
from topshap.show.style import INK, axes_or_new, open_frame, plain
from topshap.statistics.ranking import order_phrase

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.results import TopKs


@front_door
def output_map(tops: TopKs, ax: Axes | None = None, *, most_outputs: int = 40, most_players: int = 24) -> Axes:
    """Draw the estimates of several outputs as a heat map; dots mark the top k of each output.

    The colours of an output are relative to its largest estimate, since outputs may have different units.

    Parameters
    ----------
    tops
        The results.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    most_outputs
        The maximum number of outputs to show: the first ones.
    most_players
        The maximum number of players to show: those in the top k of most outputs, then by their mean magnitude.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> weights = np.array([[3.0, 0.0], [1.0, 1.0], [2.0, 5.0]])
    >>> tops = topshap.identify(lambda coalitions: coalitions @ weights, 3, k=1)
    >>> [label.get_text() for label in topshap.show.output_map(tops).get_xticklabels()]
    ['2', '0', '1']
    """
    shown = tops[: check_int("most_outputs", most_outputs, low=1)]
    largest = np.abs(shown.estimates).max(axis=1, keepdims=True)
    exponents = np.frexp(largest)[1]
    scaled = np.ldexp(shown.estimates, -exponents)  # the quotients of tiny numbers would lose digits
    relative = scaled / np.where(largest > 0.0, np.abs(scaled).max(axis=1, keepdims=True), 1.0)
    in_top = np.bincount(shown.players.ravel(), minlength=shown.n_players)
    order = np.lexsort((-np.abs(relative).mean(axis=0), -in_top))[: check_int("most_players", most_players, low=1)]
    ax = axes_or_new(ax, width=2.4 + 0.34 * len(order), height=1.6 + 0.27 * len(shown))
    image = ax.imshow(relative[:, order], cmap="RdBu_r", vmin=-1.0, vmax=1.0, aspect="auto")
    rows, columns = np.nonzero((shown.players[:, :, None] == order).any(axis=1))
    ax.plot(columns, rows, linestyle="none", marker="o", markersize=4, color=INK, markeredgecolor="white")
    ax.set_xticks(range(len(order)), shorten_all(shown.name_of(i) for i in order.tolist()), rotation=90)
    ax.set_yticks(range(len(shown)), shorten_all(shown.output_name(i) for i in range(len(shown))))
    plain([*ax.get_xticklabels(), *ax.get_yticklabels()])
    ax.tick_params(length=0)
    open_frame(ax, "top", "right", "left", "bottom")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label("Shapley value / largest of the output")
    ax.set_title(
        f"Top {tops.k} of {tops.n_players:,}{order_phrase(tops.rank_by)} for {len(tops):,} outputs", loc="left"
    )
    return ax
