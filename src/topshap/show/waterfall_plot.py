"""The sum from v(empty) to v(grand) as a waterfall, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.printable import printable
from topshap.core.validation import check_int, check_probability, front_door
from topshap.show.board import has_learned
from topshap.show.labels import shorten
from topshap.show.steps import MOST, Steps
from topshap.show.style import BORDER_LINE, FAINT_TEXT, INK, INSIDE, OUTSIDE, axes_or_new, open_frame, plain
from topshap.show.wording import NOTHING_LEARNED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topshap.core.result import TopK

_COLOURS = {"raises": INSIDE, "lowers": BORDER_LINE["color"], "others": OUTSIDE, "base": INK, "total": INK}


@front_door
def waterfall(top: TopK, ax: Axes | None = None, *, most: int = MOST, level: float = 0.95) -> Axes:
    """Draw how the top players lead from v(empty) to v(grand), such as from the base value to a prediction.

    Each bar adds the contribution of one of the top k players. The last bar adds those of all other players together:
    since estimates need not add up exactly, it is what is missing.

    Parameters
    ----------
    top
        The result.
    ax
        The axes to draw on; by default those of a new figure. Needs the extra ``topshap[plots]``.
    most
        The maximum number of players with a bar of their own.
    level
        The level of the intervals, between 0 and 1.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the plot.

    Examples
    --------
    >>> import topshap
    >>> explainer = topshap.Explainer(lambda X: X @ [3.0, -1.0, 2.0], [[0, 0, 0]], feature_names=["age", "bmi", "bp"])
    >>> ax = topshap.show.waterfall(explainer.explain([2, 5, 1], k=2))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['base value', 'age = 2', 'bp = 1', '1 other player', 'prediction']
    """
    steps = Steps.of(top, most=check_int("most", most, low=1), level=check_probability("level", level), label_length=28)
    ax = axes_or_new(ax, height=1.1 + 0.3 * len(steps.rows))
    places = np.arange(len(steps.rows))
    for place, row in zip(places.tolist(), steps.rows, strict=True):
        ax.barh(place, row.contribution, left=row.start, height=0.66, color=_COLOURS[row.kind])
        if row.half_width > 0.0:
            ax.errorbar(row.end, place, xerr=row.half_width, fmt="none", ecolor=INK, elinewidth=1, capsize=2)
        if row.kind in ("base", "total"):
            ax.plot([row.end, row.end], [place - 0.4, place + 0.4], color=INK, linewidth=2)
        if place > 0:
            ax.plot([row.start, row.start], [place - 0.67, place + 0.33], color=FAINT_TEXT, linewidth=0.8)
        number = f"{steps.number(row)}{steps.uncertainty(row)}"
        ax.text(1.02, place, number, va="center", fontsize="small", color=INK, transform=ax.get_yaxis_transform())
    ax.use_sticky_edges = False  # so that there is a margin on both sides
    ax.margins(x=0.03)
    ax.set_yticks(places, [row.label for row in steps.rows])
    plain(ax.get_yticklabels())
    ax.set_ylim(places[-1] + 0.6, -0.6)
    ax.tick_params(axis="y", length=0)
    open_frame(ax, "top", "right", "left")
    value = "value" if top.output_name is None else shorten(printable(top.output_name), 60)
    ax.set_xlabel(value + (f", with {100 * level:g}% intervals" if steps.has_intervals else ""))
    plain([ax.xaxis.label])
    unknown = "" if has_learned(top) else f": {NOTHING_LEARNED}"
    ax.set_title(f"From {steps.rows[0].label} to {steps.rows[-1].label}{unknown}", loc="left", fontsize="medium")
    return ax
