"""Measurements that print a report; only trained tables are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topshap.core.options import default_rank_by
from topshap_bench.cli.options import (
    Algorithms,
    Baselines,
    Budgets,
    Datasets,
    Delta,
    Families,
    Folder,
    Half,
    Jobs,
    Ks,
    Order,
    Ordered,
    RankBy,
    given,
)


def fixed_budget(
    games: Folder,
    half: Half = "judge",
    budget: Budgets = None,
    runs: Annotated[
        int, typer.Option(min=1, help="The number of runs for every k; at least 10 in the family 'global'.")
    ] = 3,
    prototype: Annotated[
        Path | None, typer.Option(help="A Python file that defines topk(game, n, budget, k, seed), as another rival.")
    ] = None,
    jobs: Jobs = 2,
) -> None:
    """Print the errors of odd-gp and three rivals for fixed budgets, and the calibration of odd-gp.

    For example: topshap-bench fixed-budget --games games --half judge --runs 20
    """
    from topshap_bench.fixed_budget import fixed_budget as run

    typer.echo(run(games, half=half, runs=runs, prototype=prototype, n_jobs=jobs, **given(budgets=budget)))


def fixed_confidence(
    games: Folder,
    baselines: Baselines = None,
    family: Families = None,
    algorithm: Algorithms = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="The number of players to find.")] = 5,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="The allowed error, 0.0005 by default; can be repeated.")
    ] = None,
    relative: Annotated[
        list[float] | None, typer.Option(help="The allowed error as a fraction of v(N) - v(empty); can be repeated.")
    ] = None,
    delta: Delta = 0.01,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs for every game and algorithm.")] = 100,
    single_games: Annotated[
        bool, typer.Option("--single-games", help="Print a line for every game of every family.")
    ] = False,
    rank_by: RankBy = None,
    ordered: Ordered = False,
    order: Order = 1,
    jobs: Jobs = 2,
) -> None:
    """Print the number of evaluations until confident, and how often the result is wrong.

    For example: topshap-bench fixed-confidence --games games --relative 0.01 --algorithm odd-gp@k --runs 20
    """
    from topshap_bench.fixed_confidence import Terms
    from topshap_bench.fixed_confidence import fixed_confidence as run

    errors = relative or epsilon or [0.0005]
    by = rank_by or default_rank_by(order)
    terms = [Terms(k, error, delta, runs, bool(relative), by, ordered, order) for error in errors]
    options = given(families=family, algorithms=algorithm, baselines=baselines)
    typer.echo(run(games, terms=terms, single_games=single_games, n_jobs=jobs, **options))


def stopping(
    games: Folder,
    family: Families = None,
    half: Half = "all",
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="The number of players to find.")] = 5,
    tol: Annotated[float, typer.Option(help="The tolerance of lightshap.")] = 0.01,
    delta: Delta = 0.05,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs for every game and rule.")] = 5,
    jobs: Jobs = 2,
) -> None:
    """Print the evaluations and the wrong sets of lightshap's stopping rule and of topshap's at matched terms.

    For example: topshap-bench stopping --games games --runs 5
    """
    from topshap_bench.stopping import Terms
    from topshap_bench.stopping import stopping as run

    terms = Terms(k, tol, delta, runs)
    typer.echo(run(games, terms=terms, half=half, n_jobs=jobs, **given(families=family)))


def reproduce(
    games: Folder,
    baselines: Annotated[Path, typer.Option(help="A folder with pac_global.csv and fixed_budget_global.csv.")],
    part: Annotated[list[str] | None, typer.Option(help="pac or fixed, both by default; can be repeated.")] = None,
    game: Annotated[list[str] | None, typer.Option(help="A game by name, all by default; can be repeated.")] = None,
    runs: Annotated[
        int | None, typer.Option(min=2, help="Runs per setting; by default 100 for pac, 200 for fixed.")
    ] = None,
    jobs: Jobs = 2,
) -> None:
    """Print published results next to measured ones.

    The exit code is 1 if a result differs for no known reason.

    For example: topshap-bench reproduce --games games --baselines baselines --part pac --runs 10
    """
    from topshap_bench.reproduce import reproduce as run

    done = run(games, baselines, n_jobs=jobs, **given(parts=part, games=game, runs=runs))
    typer.echo(done.text)
    if not done.explained:
        raise typer.Exit(1)


def large_games(
    players: Annotated[
        list[int] | None, typer.Option(min=2, help="A number of players, 500 and 1000 by default; can be repeated.")
    ] = None,
    per_player: Annotated[
        list[int] | None, typer.Option(min=2, help="Evaluations per player, 5 and 10 by default; can be repeated.")
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(help="A kind of game, all by default; can be repeated.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="The number of games of every kind.")] = 1,
) -> None:
    """Compare odd-gp with least squares on games of many players.

    For example: topshap-bench large-games --players 500 --per-player 5 --kind sparse
    """
    from topshap_bench.large_games import large_games as run

    typer.echo(run(seeds=seeds, **given(players=players, per_player=per_player, kinds=kind)))


def large_confidence(
    game: Annotated[
        list[str] | None, typer.Option(help="unanimity-N or trees-N, for example trees-50; can be repeated.")
    ] = None,
    algorithm: Algorithms = None,
    epsilon: Annotated[
        float, typer.Option(help="The allowed error as a fraction of the range of the Shapley values.")
    ] = 0.05,
    delta: Delta = 0.05,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs for every game and algorithm.")] = 20,
    jobs: Jobs = 2,
) -> None:
    """Print the number of evaluations until confident in games of many players.

    For example: topshap-bench large-confidence --game trees-50 --algorithm odd-gp@k --algorithm cmcs@k --runs 10
    """
    from topshap_bench.fixed_confidence import Terms
    from topshap_bench.large_confidence import large_confidence as run

    terms = Terms(epsilon=epsilon, delta=delta, runs=runs)
    typer.echo(run(terms=terms, n_jobs=jobs, **given(games=game, algorithms=algorithm)))


def stability(
    question: Annotated[
        list[str] | None,
        typer.Option(help="clear-gap, credible-gap, ranks or sizes; all by default; can be repeated."),
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(help="A kind of game, all by default; can be repeated.")] = None,
    delta: Annotated[
        list[float] | None, typer.Option(help="An allowed failure rate, three by default; can be repeated.")
    ] = None,
    games: Annotated[int, typer.Option(min=1, help="The number of games of every kind.")] = 50,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs for every game.")] = 20,
    budget: Annotated[int, typer.Option(min=2, help="The budget after which stable ranks are judged.")] = 400,
    jobs: Jobs = 2,
) -> None:
    """Print how often clear gaps and stable ranks are wrong.

    For example: topshap-bench stability --question clear-gap --kind near-tie --games 2 --runs 2 --delta 0.1
    """
    from topshap_bench.stability import stability as run

    options = given(questions=question, kinds=kind, deltas=delta)
    typer.echo(run(games=games, runs=runs, budget=budget, n_jobs=jobs, **options))


def tree_surrogates(
    games: Folder,
    family: Families = None,
    half: Half = "judge",
    budget: Budgets = None,
    model: Annotated[
        list[str] | None, typer.Option(help="sklearn, lightgbm or xgboost, sklearn by default; can be repeated.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs for every k.")] = 3,
    jobs: Jobs = 1,
) -> None:
    """Compare odd-gp with boosted trees on games with high-order interactions.

    For example: topshap-bench tree-surrogates --games games --model sklearn --model lightgbm
    """
    from topshap_bench.tree_surrogates import tree_surrogates as run

    options = given(families=family, budgets=budget, models=model)
    typer.echo(run(games, half=half, runs=runs, n_jobs=jobs, **options))


def engine(
    what: Annotated[
        list[str] | None, typer.Argument(help="workers, store, known, memory or threads; all of them by default.")
    ] = None,
    algorithm: Annotated[str, typer.Option(hidden=True, help="The algorithm of the large run.")] = "cmcs",
) -> None:
    """Measure the speed-up by workers, the cost of stores and known coalitions, memory, and the effect of threads.

    For example: topshap-bench engine known store
    """
    from topshap_bench.engine import MEASUREMENTS, measure

    for name in what or MEASUREMENTS:
        for line in measure(name, algorithm):
            typer.echo(line)


def global_games(
    out: Annotated[Path, typer.Option(help="The folder of the tables.")],
    game: Annotated[
        list[str] | None, typer.Option(help="A dataset, diabetes and wine by default; can be repeated.")
    ] = None,
    folder: Datasets = None,
    published: Annotated[Path | None, typer.Option(help="A folder with published tables to compare with.")] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="The number of features to find.")] = 3,
    jobs: Jobs = -1,
) -> None:
    """Train the complete tables of the paper's global games, and print the top k in them.

    For example: topshap-bench global-games --out tables --game diabetes
    """
    from topshap_bench.global_games import global_games as run

    for text in run(game or ["diabetes", "wine"], out, datasets=folder, published=published, k=k, n_jobs=jobs):
        typer.echo(text)


def selection(
    data: Annotated[
        list[str] | None, typer.Option(help="breast-cancer or a dataset, five by default; can be repeated.")
    ] = None,
    folder: Datasets = None,
    splits: Annotated[int, typer.Option(min=1, help="The number of splits of each dataset.")] = 10,
    k: Ks = None,
    jobs: Jobs = -1,
) -> None:
    """Compare TopKSelector with SelectKBest and RFE on real data.

    For example: topshap-bench selection --data breast-cancer --splits 2 -k 3
    """
    from topshap_bench.selection import selection as run

    typer.echo(run(splits=splits, n_jobs=jobs, **given(data=data, folder=folder, ks=k)))


def overhead(
    old: Annotated[
        Path | None,
        typer.Option(help="The source tree of another version: the folder that contains its package topshap."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs; the fastest one counts.")] = 7,
    algorithm: Algorithms = None,
    players: Annotated[
        list[int] | None, typer.Option(min=2, help="A number of players, for the time of whole runs; can be repeated.")
    ] = None,
    budget: Budgets = None,
) -> None:
    """Print the CPU time per access of every algorithm in identify, and that of shap's KernelExplainer.

    With --old, this version and another one are measured alternately. With --players or --budget, the time of whole
    runs is printed instead, of odd-gp unless --algorithm names others.

    For example: topshap-bench overhead --runs 1 --algorithm cmcs
    """
    from topshap_bench.overhead import overhead as run
    from topshap_bench.overhead import report, report_of_run_times, run_times

    def say(name: str) -> None:
        typer.echo(f"measuring {name}", err=True)

    if players is not None or budget is not None:
        sizes = given(players=players, budgets=budget, algorithms=algorithm)
        typer.echo(report_of_run_times(run_times(old=old, runs=runs, progress=say, **sizes), runs=runs))
        return
    typer.echo(report(run(old=old, runs=runs, progress=say, **given(algorithms=algorithm)), runs=runs))


COMMANDS = (
    fixed_budget,
    fixed_confidence,
    stopping,
    reproduce,
    large_games,
    large_confidence,
    stability,
    tree_surrogates,
    engine,
    global_games,
    selection,
    overhead,
)
