"""Figures of benchmarks: panels of `topshap.show.curves`, written to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from matplotlib.figure import Figure

from topshap.show import curves
from topshap.show.style import SERIES, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from topshap.core.typing import Matrix

MOST_CURVES = len(SERIES)
"""The maximum number of curves in a panel that can be distinguished."""


class Panel(NamedTuple):
    """One plot with a curve for each name, given as one row per run and one column per point."""

    title: str
    points: Sequence[float]
    errors: Mapping[str, Matrix]
    xlabel: str
    ylabel: str
    logarithmic: bool = False
    """Whether both axes are logarithmic."""
    diagonal: bool = False
    """Whether to draw the line on which both axes are equal."""


def draw(panels: Sequence[Panel], path: Path, *, columns: int = 3) -> Path:
    """Draw the panels side by side and return the path of the figure."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.6 * columns, 3.4 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    shown: list[str] = []
    for ax, panel in zip(grid, panels, strict=False):
        curves(panel.points, panel.errors, ax, ylabel=panel.ylabel)
        ax.set_xlabel(panel.xlabel)
        plain([ax.set_title(panel.title, fontsize=10)])
        if panel.logarithmic:
            ax.set_xscale("log")
            ax.set_yscale("log")
        if panel.diagonal:
            ax.axline((0.0, 0.0), slope=1.0, color="#8A8A8A", linewidth=0.8)
        if shown == list(panel.errors):
            ax.get_legend().remove()  # the same as in the previous panel
        else:
            ax.legend(frameon=False, fontsize=7)
        shown = list(panel.errors)
    for ax in grid[len(panels) :]:
        ax.set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return path
