"""The style of all plots: colours that differ in brightness as well as in hue, and axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.text import Text

INSIDE = "#0062A3"
"""The top k: a blue that is dark in greyscale."""
OUTSIDE = "#C4C4C4"
"""The other players: light."""
OUTSIDE_LINE = "#8A8A8A"
"""Lines of the other players."""
FAINT_TEXT = "#666666"
"""Text of the other players, dark enough to be read on white."""
BORDER_LINE: dict[str, Any] = {"color": "#C04A00", "linewidth": 1.3, "linestyle": (0, (5, 2))}
"""The border of the top k."""
INK = "#222222"
"""Intervals and text."""
SERIES = (
    ("#0062A3", "-", "o"),
    ("#E08A00", "--", "s"),
    ("#00805E", "-.", "^"),
    ("#B0519A", ":", "D"),
    ("#222222", (0, (5, 1)), "v"),
    ("#5AAEE0", (0, (3, 1, 1, 1)), "P"),
    ("#C04A00", (0, (1, 1)), "X"),
    ("#8A8A8A", (0, (6, 2, 1, 2)), "*"),
)
"""Colour, dashes and marker of each curve of a plot; each of the three is enough to distinguish them."""


def axes_or_new(ax: Axes | None, *, width: float = 6.4, height: float = 4.0) -> Axes:
    """Return `ax`, or the axes of a new figure of this size in inches if it is None."""
    if ax is not None:
        return ax
    pyplot: Any = import_extra("matplotlib.pyplot", extra="plots", needed_by="topshap.show")
    new: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return new


def plain(texts: Iterable[Text]) -> None:
    """Show texts literally: dollar signs in a name do not start a formula."""
    for text in texts:
        text.set_parse_math(False)


def open_frame(ax: Axes, *sides: str) -> None:
    """Remove the lines of the frame at these sides."""
    ax.spines[list(sides)].set_visible(False)
