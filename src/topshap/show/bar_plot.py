"""Mean magnitudes over many rows as a bar chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.importance import Importance
from topshap.core.validation import check_probability, front_door, refuse
from topshap.show.many_rows import labels_of, most_important, one_output
from topshap.show.nouns import quantity
from topshap.show.style import FAINT_TEXT, INK, INSIDE, axes_or_new, open_frame, plain
from topshap.statistics.normal_intervals import two_sided_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.explanations import Explanations


@front_door
def bar(
    tops: Explanations | Importance,
    ax: Axes | None = None,
    *,
    k: int = 12,
    output: int | str | None = None,
    level: float = 0.95,
) -> Axes:
    """Draw the mean magnitude of each player's Shapley value over many rows, with intervals.

    Parameters
    ----------
    tops
        The explanations, or their `Explanations.importance`.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    k
        The maximum number of players to show.
    output
        The name or position of the output, if there are several.
    level
        The level of the intervals, between 0 and 1.

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
    >>> [label.get_text() for label in topshap.show.bar(tops, k=2).get_yticklabels()]
    ['1', '0']
    """
    level = check_probability("level", level)
    importance = _of_output(tops, output) if isinstance(tops, Importance) else one_output(tops, output).importance()
    players = most_important(importance.values, k)
    ax = axes_or_new(ax, height=1.1 + 0.27 * len(players))
    places, values = np.arange(len(players)), importance.values[players]
    ax.barh(places, values, height=0.72, color=INSIDE)
    half = two_sided_quantile(1.0 - level) * importance.std_errors[players]
    known = np.isfinite(half) & (half > 0)
    if known.any():
        ax.errorbar(values[known], places[known], xerr=half[known], fmt="none", ecolor=INK, elinewidth=1, capsize=2)
    ax.set_yticks(places, labels_of(importance.names, players))
    plain(ax.get_yticklabels())
    hidden = len(importance.names) - len(players)
    ax.set_ylim(len(players) - 0.4 + (hidden > 0), -0.6)
    if hidden:
        along = ax.get_yaxis_transform()
        ax.text(
            -0.01, len(players), f"⋮ {hidden:,} more", transform=along, ha="right", va="center", color=FAINT_TEXT,
            fontsize="small",
        )  # fmt: skip
    ax.set_xlim(left=0.0)
    ax.tick_params(axis="y", length=0)
    open_frame(ax, "top", "right", "left")
    noun = "Shapley value" if isinstance(tops, Importance) else quantity(tops)
    intervals = f", with {100 * level:g}% intervals" if known.any() else ""
    ax.set_xlabel(f"mean magnitude of the {noun}{intervals}")
    ax.set_title(f"{importance.n_rows:,} rows", loc="left", fontsize="medium")
    return ax


def _of_output(importance: Importance, output: int | str | None) -> Importance:
    """Return the importance for one of several outputs."""
    if importance.values.ndim == 1:
        return importance
    names = importance.output_names or tuple(str(i) for i in range(len(importance.values)))
    if output is None or (isinstance(output, str) and output not in names):
        refuse("output", output, must_be=f"one of {', '.join(map(repr, names[:10]))}")
    position = names.index(output) if isinstance(output, str) else output
    values, errors = importance.values[position], importance.std_errors[position]
    return Importance(importance.names, values.copy(), errors.copy(), importance.n_rows)
