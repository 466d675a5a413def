"""The values of many rows as a heat map of players and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from topshap.core.validation import check_choice, front_door
from topshap.show.many_rows import heat_map_order, labels_of, most_important, one_output
from topshap.show.nouns import quantity
from topshap.show.style import axes_or_new, open_frame, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.explanations import Explanations

RowOrder: TypeAlias = Literal["clustered", "prediction", "given"]
"""The orders of rows in a heat map."""


@front_door
def heat_map(
    tops: Explanations,
    ax: Axes | None = None,
    *,
    k: int = 12,
    output: int | str | None = None,
    order: RowOrder = "clustered",
) -> Axes:
    """Draw the Shapley values of many rows as a heat map: one line per player, one column per row.

    Players with the largest mean magnitude come first. Orange raises the prediction, violet lowers it; the colours are
    symmetric around 0 and end at the 99% quantile of the magnitudes.

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
    order
        The order of the rows: ``"clustered"`` (similar rows are next to each other), ``"prediction"`` (the highest
        first) or ``"given"``.

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
    >>> topshap.show.heat_map(tops, k=2).images[0].get_array().shape
    (2, 30)
    """
    check_choice("order", order, ("clustered", "prediction", "given"))
    tops = one_output(tops, output)
    players = most_important(tops.importance().values, k)
    rows = heat_map_order(tops.estimates[:, players], order, tops.grand)
    values = tops.estimates[np.ix_(rows, players)].T
    ax = axes_or_new(ax, width=7.2, height=1.3 + 0.3 * len(players))
    end = float(np.quantile(np.abs(values), 0.99)) or float(np.abs(values).max()) or 1.0
    image = ax.imshow(values, cmap="PuOr_r", vmin=-end, vmax=end, aspect="auto", interpolation="nearest")
    ax.set_yticks(range(len(players)), labels_of(tops.all_names, players))
    plain(ax.get_yticklabels())
    ax.tick_params(axis="y", length=0)
    open_frame(ax, "top", "right", "left", "bottom")
    words = {"clustered": "similar rows together", "prediction": "highest prediction first", "given": "in order"}
    ax.set_xlabel(f"{len(tops):,} rows, {words[order]}")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, aspect=30, pad=0.02, extend="both")
    bar.set_label(quantity(tops))
    bar.outline.set_visible(False)
    return ax
