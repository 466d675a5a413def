"""Benchmark curves: mean error against budget, with bands of one standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.printable import printable
from topshap.core.validation import check_reals, check_vector, front_door, refuse
from topshap.show.style import SERIES, axes_or_new, open_frame, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@front_door
def curves(
    budgets: ArrayLike,
    errors: Mapping[str, ArrayLike],
    ax: Axes | None = None,
    *,
    ylabel: str = "error",
    logarithmic: bool = False,
) -> Axes:
    """Draw the mean error of each algorithm against the budget, with a band of one standard error of the mean.

    Parameters
    ----------
    budgets
        The budgets, in increasing order, shape (b,).
    errors
        The errors of the runs of each algorithm, shape (runs, b).
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    ylabel
        The label of the error axis.
    logarithmic
        Whether the error axis is logarithmic.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> errors = {"cmcs": [[0.4, 0.2, 0.1], [0.5, 0.2, 0.0]], "approshapley": [[0.6, 0.5, 0.4], [0.7, 0.4, 0.3]]}
    >>> ax = topshap.show.curves([100, 200, 400], errors)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['cmcs', 'approshapley']
    """
    spent = check_vector("budgets", budgets)
    if len(errors) == 0:
        refuse("errors", errors, must_be="a mapping of at least one name to the errors of its runs")
    ax = axes_or_new(ax)
    for position, (name, runs) in enumerate(errors.items()):
        table = check_reals("errors", runs)
        if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] != len(spent):
            refuse("errors", runs, must_be=f"arrays of shape (runs, {len(spent)}), one column per budget")
        colour, dashes, marker = SERIES[position % len(SERIES)]
        mean = table.mean(axis=0)
        ax.plot(spent, mean, color=colour, linestyle=dashes, marker=marker, markersize=5, label=printable(name))
        if len(table) > 1:
            error = table.std(axis=0, ddof=1) / np.sqrt(len(table))
            ax.fill_between(spent, mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
    if logarithmic:
        ax.set_yscale("log")
    open_frame(ax, "top", "right")
    ax.set_xlabel("evaluations")
    ax.set_ylabel(ylabel)
    plain(ax.legend(frameon=False).get_texts())
    return ax
