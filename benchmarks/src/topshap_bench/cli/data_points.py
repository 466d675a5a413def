"""The command that compares values of training points."""

from __future__ import annotations

from typing import Annotated

import typer

from topshap_bench.cli.options import Datasets


def data_points(
    folder: Datasets = None,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs of every setting.")] = 3,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="DATA:MODEL:POINTS:BUDGET, such as digits:bayes:1000:1000; can be repeated."),
    ] = None,
    large: Annotated[
        int, typer.Option(min=0, help="The number of points whose cost is measured; 0 for none.")
    ] = 100_000,
    large_budget: Annotated[int, typer.Option(min=2, help="The budget of that run.")] = 500,
) -> None:
    """Compare values of training points: wrong labels found, accuracy without points, and cost of 100,000 points.

    For example: topshap-bench data-points --setting digits:bayes:300:100 --runs 2 --large 0
    """
    from topshap_bench.data_points import comparison
    from topshap_bench.data_points.large import large_run

    settings = [comparison.Setting.parse(text) for text in setting] if setting else comparison.SETTINGS
    for line in comparison.compare(settings, runs=runs, folder=folder):
        typer.echo(line)
    if large > 0:
        typer.echo(large_run(large, large_budget))


COMMANDS = (data_points,)
