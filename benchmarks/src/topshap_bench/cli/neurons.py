"""The command that compares ways to find the most important units of networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topshap_bench.cli.options import Budgets, Jobs, given


def neurons(
    network: Annotated[
        list[str] | None, typer.Option(help="convolutional or transformer, by default both; can be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="The number of networks of each kind.")] = 3,
    budget: Budgets = None,
    tolerance: Annotated[float, typer.Option(help="The tolerance of runs that stop by themselves.")] = 0.01,
    most: Annotated[
        int, typer.Option(min=2, help="The largest number of evaluations of these runs, and that of the reference.")
    ] = 6000,
    out: Annotated[Path | None, typer.Option(help="A file for the report, which is printed as well.")] = None,
    jobs: Jobs = 1,
) -> None:
    """Compare auto with the truncated bandit of Neuron Shapley, activation norms and gradients on trained networks.

    For example: topshap-bench neurons --network convolutional --seeds 1 --budget 500 --most 1000
    """
    from topshap_bench.neurons.comparison import compare_neurons

    options = given(networks=network, budgets=budget)
    text = compare_neurons(seeds=seeds, tolerance=tolerance, most=most, n_jobs=jobs, **options)
    typer.echo(text)
    if out is not None:
        out.write_text(text + "\n", encoding="utf-8")


COMMANDS = (neurons,)
