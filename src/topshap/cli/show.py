"""``topshap show``: a saved result as a leaderboard, a plot or a report."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

import topshap
from topshap.cli.output import check_writable
from topshap.core.errors import ParameterError
from topshap.core.extras import import_extra


class Kind(StrEnum):
    """The kinds of plots."""

    leaderboard = "leaderboard"
    race = "race"
    pairwise = "pairwise"
    waterfall = "waterfall"
    network = "network"
    matrix = "matrix"
    beeswarm = "beeswarm"
    bar = "bar"
    heat_map = "heat_map"


_OF_MANY = (Kind.beeswarm, Kind.bar, Kind.heat_map)
"""The plots of many rows."""
_OF_PAIRS = (Kind.network, Kind.matrix)
"""The plots of pairs."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show")(show)


def show(
    result: Path = typer.Argument(help="A file written by TopK.save, Explanations.save or --json."),
    plot: Path | None = typer.Option(None, help="Write a plot to this file, such as .png, .svg or .pdf."),
    kind: Kind | None = typer.Option(
        None, help="The kind of plot; by default leaderboard, or beeswarm for a file with many rows."
    ),
    report: Path | None = typer.Option(None, help="Write a report to this .html file."),
    title: str | None = typer.Option(None, help="The title of the report."),
) -> None:
    """Print a saved result, plot it, or write a report about it.

    For example: topshap show result.json --plot race.png --kind race --report report.html
    """
    if not result.is_file():
        raise ParameterError(f"The file {str(result)!r} does not exist.")
    check_writable(plot)
    check_writable(report)
    top = topshap.load(result)
    typer.echo(str(top))
    if plot is not None:
        _draw(top, plot, kind)
        typer.echo(f"The plot is in {plot.resolve()}")
    if report is not None:
        top.to_html(report, title=title)
        typer.echo(f"The report is in {report.resolve()}")


def _draw(top: topshap.TopK | topshap.TopKs | topshap.Explanations, path: Path, kind: Kind | None) -> None:
    """Write a plot to a file."""
    many = isinstance(top, topshap.Explanations)
    kind = kind or (Kind.beeswarm if many else Kind.leaderboard)
    if (kind in _OF_MANY) != many:
        fitting = [each.value for each in Kind if (each in _OF_MANY) == many]
        file = "a file with many rows" if many else "a file with one result"
        raise ParameterError(f"The plot of {file} must be one of {', '.join(fitting)}. Got '{kind}' instead.")
    figures = import_extra("matplotlib.figure", extra="plots", needed_by="topshap show --plot")
    known = figures.Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise ParameterError(f"The plot must be a file of type {', '.join(sorted(known))}. Got {str(path)!r} instead.")
    import_extra("matplotlib", extra="plots", needed_by="topshap show --plot").use("Agg")
    if kind in _OF_PAIRS and not isinstance(top, topshap.TopPairs):
        raise ParameterError(f"The plot {kind.value!r} is of pairs, and the result is for players. Omit --kind.")
    if isinstance(top, topshap.TopKs) and kind != Kind.leaderboard:
        raise ParameterError(f"The plot {kind.value!r} is of one output, and the result has {len(top)}. Omit --kind.")
    draw: Any = topshap.show.output_map if isinstance(top, topshap.TopKs) else getattr(topshap.show, kind)
    draw(top).figure.savefig(path, dpi=150)
