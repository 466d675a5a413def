"""The command that counts failures for every goal."""

from __future__ import annotations

from typing import Annotated

import typer

import topshap_bench as bench
from topshap_bench.cli.options import OUT, Families, Games, Jobs, Out, Seed, given, say_where
from topshap_bench.parallel import one_thread


def guarantee_goals(
    games: Games = None,
    family: Families = None,
    goal: Annotated[
        list[str] | None,
        typer.Option(help="magnitude, lowest, ordered, pairs, clear or zero: by default all; can be repeated."),
    ] = None,
    delta: Annotated[
        list[float] | None, typer.Option(help="An allowed failure rate: by default 0.01, 0.05, 0.1; can be repeated.")
    ] = None,
    games_per_kind: Annotated[int | None, typer.Option(min=1, help="Games of each kind: by default 50.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of each game: by default 20.")] = None,
    real_runs: Annotated[int | None, typer.Option(min=1, help="Runs of each real game: by default 5.")] = None,
    out: Out = OUT,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """Count how often odd-gp@k is wrong about magnitudes, the lowest, ordered lists, pairs and clear gaps.

    Real games are run if --games is given. The exit code is 1 if a goal fails significantly more often than allowed.

    For example: topshap-bench guarantee-goals --goal clear --games-per-kind 2 --runs 1 --delta 0.1 --out results
    """
    from topshap_bench.goals import goals

    one_thread()
    sources = [] if games is None else bench.from_folder(games, families=family)
    options = given(names=goal, deltas=delta, games=games_per_kind, runs=runs, real_runs=real_runs)
    done = goals(sources, out, n_jobs=jobs, seed=seed, progress=True, **options)
    say_where(done.text, out, "goals.csv", "goals.txt")
    if not done.kept:
        raise typer.Exit(1)


COMMANDS = (guarantee_goals,)
