"""``topshap show``: a saved result, as a leaderboard, a plot or a report."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

import topshap
from topshap.core.errors import ParameterError
from topshap.core.extras import import_extra


class Kind(StrEnum):
    """What a plot shows."""

    leaderboard = "leaderboard"
    race = "race"
    pairwise = "pairwise"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show")(show)


def show(
    result: Path = typer.Argument(help="A file that TopK.save wrote."),
    plot: Path | None = typer.Option(None, help="Draw it to this file: .png, .svg, .pdf."),
    kind: Kind = typer.Option(Kind.leaderboard, help="What to draw."),
    report: Path | None = typer.Option(None, help="Write a report to this .html file."),
    title: str | None = typer.Option(None, help="What stands at the top of the report."),
) -> None:
    """Print a saved result, draw it, or write a report on it.

    For example: topshap show result.json --plot race.png --kind race --report report.html
    """
    if not result.is_file():
        raise ParameterError(f"There is no file {str(result)!r}.")
    top = topshap.load(result)
    typer.echo(str(top))
    if plot is not None:
        _draw(top, plot, kind)
        typer.echo(f"The {kind} is in {plot.resolve()}")
    if report is not None:
        top.to_html(report, title=title)
        typer.echo(f"The report is in {report.resolve()}")


def _draw(top: topshap.TopK, path: Path, kind: Kind) -> None:
    """Draw to a file, without a screen."""
    figures = import_extra("matplotlib.figure", extra="plots", needed_by="topshap show --plot")
    known = figures.Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise ParameterError(f"A plot is written as {', '.join(sorted(known))}. Got {str(path)!r} instead.")
    import_extra("matplotlib", extra="plots", needed_by="topshap show --plot").use("Agg")
    getattr(topshap.show, kind)(top).figure.savefig(path, dpi=150)
