"""Comparisons of algorithms for pairs of players."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topshap_bench.cli.options import Budgets, Families, Games, Half, Jobs, Ks, given


def pairs(
    games: Games = None,
    models: Annotated[
        Path | None, typer.Option(help="A folder for tables of small models, which are computed if missing.")
    ] = None,
    family: Families = None,
    half: Half = "all",
    budget: Budgets = None,
    k: Ks = None,
    seeds: Annotated[int, typer.Option(min=1, help="The number of runs for every game, budget and k.")] = 5,
    rivals: Annotated[bool, typer.Option("--rivals", help="Compare with ProxySHAP, KernelSHAPIQ, SVARMIQ.")] = False,
    rival: Annotated[
        list[str] | None, typer.Option(help="A rival by name, for example proxyshap-hpo; can be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A results file, .csv; runs in it are not repeated.")] = None,
    jobs: Jobs = 1,
) -> None:
    """Print the errors and the coverage of odd-gp for pairs of players, next to algorithms of shapiq.

    For example: topshap-bench pairs --games games --budget 100 --k 5 --seeds 1
    """
    from topshap_bench.pairs.comparison import compare_pairs
    from topshap_bench.pairs.rivals import RIVALS

    usual = list(RIVALS) if rivals else []
    options = given(families=family, budgets=budget, ks=k, rivals=rival or usual, out=out)
    typer.echo(compare_pairs(games, models=models, half=half, seeds=seeds, n_jobs=jobs, **options))


def large_pairs(
    table: Annotated[list[str] | None, typer.Option(help="A table, by default all; can be repeated.")] = None,
    players: Annotated[
        list[int] | None, typer.Option(min=30, help="A number of players, by default all; can be repeated.")
    ] = None,
    budget: Budgets = None,
    k: Annotated[int, typer.Option(min=1, help="The number of pairs to find.")] = 5,
    rows: Annotated[int, typer.Option(min=1, help="The number of games of each table.")] = 3,
    rivals: Annotated[bool, typer.Option("--rivals", help="Compare with ProxySHAP and KernelSHAPIQ.")] = False,
    rival: Annotated[
        list[str] | None, typer.Option(help="A rival by name, for example proxyshap-adjusted; can be repeated.")
    ] = None,
    jobs: Jobs = 1,
) -> None:
    """Print the errors of odd-gp for pairs of 30 to 120 players, features of tree models whose interactions are known.

    For example: topshap-bench large-pairs --table friedman --players 30 --budget 200 --rows 1
    """
    from topshap_bench.pairs.large import compare_large

    usual = ["proxyshap", "kernelshapiq"] if rivals else []
    options = given(tables=table, players=players, budgets=budget, rivals=rival or usual)
    typer.echo(compare_large(k=k, rows=rows, n_jobs=jobs, **options))


COMMANDS = (pairs, large_pairs)
