"""The command that compares warm-ups."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topshap_bench.cli.options import Budgets, Games, Jobs, given


def warm_up(
    games: Games = None,
    length: Annotated[
        list[int] | None, typer.Option(min=2, help="A fixed length of the warm-up; can be repeated.")
    ] = None,
    budget: Budgets = None,
    runs: Annotated[
        int, typer.Option(min=1, help="The number of runs of greedy-cmcs for every game, warm-up and k.")
    ] = 10,
    confident_runs: Annotated[
        int | None, typer.Option(min=1, help="The number of runs of cmcs@k; by default as many.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for warm-up.txt and warm-up.png.")] = None,
    jobs: Jobs = 2,
) -> None:
    """Print the errors of greedy-cmcs and the calls of cmcs@k by the length of the warm-up.

    For example: topshap-bench warm-up --games games --runs 10 --out results
    """
    from topshap_bench.warm_up import warm_up as run

    options = given(lengths=length, budgets=budget)
    typer.echo(run(games, out=out, runs=runs, confident_runs=confident_runs, n_jobs=jobs, **options))


COMMANDS = (warm_up,)
