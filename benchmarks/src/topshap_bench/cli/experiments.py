"""Resumable experiments that write a results file, a report and figures to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import topshap_bench as bench
from topshap.core.errors import ParameterError
from topshap.core.options import default_rank_by
from topshap.core.validation import check_choice
from topshap_bench.cli.options import (
    OUT,
    Algorithms,
    Budgets,
    Datasets,
    Families,
    Games,
    Jobs,
    Ks,
    Order,
    Ordered,
    Out,
    Quick,
    RankBy,
    Seed,
    Unseen,
    given,
    say_where,
)
from topshap_bench.parallel import one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap_bench import Source

PER_FAMILY_IN_QUICK = 3


def race(
    games: Games = None,
    algorithm: Algorithms = None,
    budget: Budgets = None,
    k: Ks = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs of every combination: by default 10, and 2 with --quick.")
    ] = None,
    unseen: Unseen = False,
    networks: Annotated[
        bool, typer.Option("--networks", help="Add games of small neural networks on scikit-learn's tables.")
    ] = False,
    large: Annotated[
        bool, typer.Option("--large", help="Add games of 30 to 500 players, with budgets and rivals of their own.")
    ] = False,
    slow: Annotated[
        bool, typer.Option("--slow", help="Add rivals that take seconds, in one family and with one budget only.")
    ] = False,
    out: Out = OUT,
    jobs: Jobs = -1,
    quick: Quick = False,
    seed: Seed = 0,
) -> None:
    """Race odd-gp against other algorithms with the same number of distinct evaluations.

    By default it races against the strongest algorithms of topshap and those of shap, shapiq and lightshap that are not
    slow. A custom algorithm is a subclass of topshap.algorithms.Algorithm in a module that can be imported from the
    current directory.

    For example: topshap-bench race --quick --games games --out results
    or: topshap-bench race --unseen --networks --large --slow --runs 5 -k 3 -k 5 --games games --out results
    """
    from topshap_bench.pairs.model_games import model_games
    from topshap_bench.race import race as run_race

    options: dict[str, Any] = {"budgets": (100, 500), "ks": (3,), "runs": 2} if quick else {"runs": 10}
    options |= given(algorithms=algorithm, budgets=budget, ks=k, runs=runs)
    sources = _sources(games, out, jobs, quick=quick, synthetic=True, unseen=unseen)
    sources += model_games(out / "models", ("mlp",)) if networks else []
    done = run_race(sources, out, large=large, slow=slow, **options, **_how(jobs, seed))
    say_where(done.text, out, "race.csv", "race.txt", "race.png")


def clock(
    rows: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="The results file of a race, race.csv.")
    ] = None,
    games: Annotated[
        Path | None, typer.Option(help="A folder with complete games, for runs with larger budgets than a race has.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs of every combination with large budgets.")] = 2,
    unseen: Unseen = False,
    out: Out = OUT,
    jobs: Jobs = 1,
    quick: Quick = False,
    seed: Seed = 0,
) -> None:
    """Compare odd-gp with other algorithms at equal CPU time, for evaluations that take from 1 us to 1 s.

    The algorithms, errors and times are those of a race. Cheap evaluations allow larger budgets than its own: with
    --games, algorithms with little overhead run with up to 65,536 evaluations. Times are affected by other processes.

    For example: topshap-bench clock --games games --quick --runs 1 --out results
    """
    from topshap_bench.clock import clock as run_clock

    sources = [] if games is None else _sources(games, out, jobs, quick=quick, unseen=unseen)
    raced = [] if rows is None else bench.read_results(rows)
    text = run_clock(out, rows=raced, sources=sources, runs=runs, **_how(jobs, seed))
    say_where(text, out, *(["clock.csv"] if sources else []), "clock.txt", "clock.png")


def guarantee(
    games: Games = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="A kind of adversarial game, all by default; can be repeated.")
    ] = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="ALGORITHM:GUARANTEE, for example swap@k:exact; can be repeated.")
    ] = None,
    promised: Annotated[bool, typer.Option("--promised", help="Run only rules with a guarantee.")] = False,
    delta: Annotated[
        list[float] | None, typer.Option(help="An allowed failure rate: by default 0.01, 0.05, 0.1; can be repeated.")
    ] = None,
    budget: Annotated[
        list[int] | None,
        typer.Option(min=2, help="A fixed budget for the calibration: by default 100, 200, 400; can be repeated."),
    ] = None,
    games_per_kind: Annotated[
        int | None, typer.Option(min=1, help="Games of each kind: by default 50, and 5 with --quick.")
    ] = None,
    players: Annotated[
        int | None, typer.Option(min=8, max=20, help="Players of adversarial games: by default 10 to 14 by kind.")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each game by the fastest rules: by default 20, and 2 with --quick."),
    ] = None,
    real_runs: Annotated[
        int | None, typer.Option(min=1, help="Runs of each real game: by default as many a family as a kind has.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(min=0.0, help="The allowed error, instead of that of each kind.")
    ] = None,
    family: Families = None,
    rank_by: RankBy = None,
    ordered: Ordered = False,
    order: Order = 1,
    clear: Annotated[
        bool, typer.Option("--clear", help="End at the first clear gap, instead of at a given k.")
    ] = False,
    out: Out = OUT,
    jobs: Jobs = -1,
    quick: Quick = False,
    seed: Seed = 0,
) -> None:
    """Count how often confident results are wrong, on real and adversarial games.

    Real games are left out if --kind is given without --games. The report also shows how often results after a fixed
    budget are right, compared with their confidence, and the coverage of their intervals. The exit code is 1 if a rule
    with a guarantee fails significantly more often than allowed.

    For example: topshap-bench guarantee --kind voting --kind step --promised --out results
    or: topshap-bench guarantee --rank-by magnitude --ordered --promised --out ordered
    or: topshap-bench guarantee --order 2 --promised --out pairs
    or: topshap-bench guarantee --clear --promised --out gaps
    """
    from topshap_bench import guarantee as module

    options: dict[str, Any] = {"games": 5, "deltas": (0.1,), "budgets": (100,), "runs": 2} if quick else {}
    rules: Sequence[tuple[str, str]] | None = None
    if promised:
        usual = rank_by in (None, "value") and not ordered and order == 1 and not clear
        rules = module.PROMISED if usual else module.OF_OTHER_GOALS[:1]
    if rule:
        rules = tuple((name, guarantee) for name, _, guarantee in (text.rpartition(":") for text in rule))
    options |= given(kinds=kind, rules=rules, games=games_per_kind, deltas=delta, budgets=budget, runs=runs)
    sources = [] if kind and games is None else _sources(games, out, jobs, quick=quick)
    for name in family or ():
        check_choice("family", name, sorted({source.family for source in sources}))
    sources = [source for source in sources if not family or source.family in family]
    options |= given(players=players, real_runs=real_runs, epsilon=epsilon)
    options |= {"rank_by": rank_by or default_rank_by(order), "ordered": ordered, "order": order, "clear": clear}
    done = module.guarantee(sources, out, **options, **_how(jobs, seed))
    say_where(done.text, out, "guarantee.csv", "guarantee.txt", "guarantee.png")
    if not done.kept:
        raise typer.Exit(1)


def paper(
    games: Games = None,
    parts: Annotated[
        str, typer.Option(help="The letters of the parts; f is Table 1, b compares the main algorithms at k = 3.")
    ] = "abcdef",
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Runs of every setting; 1000 in the paper. By default 50 of global games, 10 of each local game and "
            "30 for Table 1; with --quick 20, 20 and 10.",
        ),
    ] = None,
    out: Out = OUT,
    jobs: Jobs = -1,
    quick: Quick = False,
    seed: Seed = 0,
) -> None:
    """Reproduce the figures and Table 1 of the paper, with the published numbers next to the measured ones.

    The German credit game of Table 1 has its own command, german-credit.

    For example: topshap-bench paper --games games --parts bf --runs 1000 --out results
    """
    from topshap_bench.paper import paper as run_paper

    counts = (20, 20, 10) if quick else (50, 10, 30)
    names = ("runs", "runs_of_local_games", "runs_of_table_1")
    options: dict[str, Any] = {name: runs or count for name, count in zip(names, counts, strict=True)}
    if quick:
        options |= {"budgets": (100, 500, 2000), "ks": (1, 3, 5, 7, 9)}
    sources = _sources(games, out, jobs, quick=quick, whole=("global",))
    done = run_paper(sources, out, parts=parts, **options, **_how(jobs, seed))
    say_where(done.text, out, "paper.csv", "paper.txt", *(path.name for path in done.figures))


def german_credit(
    folder: Datasets = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help="An algorithm of Table 1 or odd-gp@k: by default cmcs@k, samplingshap@k and odd-gp@k."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Races of each algorithm.")] = 2,
    truth: Annotated[
        int, typer.Option(min=100, help="Evaluations of the long run that estimates the Shapley values.")
    ] = 40_000,
    out: Out = OUT,
    jobs: Jobs = -1,
    seed: Seed = 0,
) -> None:
    """Run the races of Table 1 on the German credit game, which has too many coalitions for a complete table.

    A random forest is trained for every coalition that a race asks for. The values are kept in a store in the output
    folder, so that an interrupted run continues where it ended; with the defaults, it takes hours.

    For example: topshap-bench german-credit --algorithm cmcs@k --runs 1 --out results
    """
    from topshap_bench.german_credit import german_credit as run_german_credit

    text = run_german_credit(
        out, datasets=folder, runs=runs, truth=truth, **given(algorithms=algorithm), **_how(jobs, seed)
    )
    say_where(text, out, "german-credit.csv", "german-credit.txt", "german-credit.db")


def scale(
    algorithm: Algorithms = None,
    runs: Annotated[int, typer.Option(min=1, help="The number of runs; the fastest one counts.")] = 3,
    limit: Annotated[
        float, typer.Option(min=0.0, help="Skip runs that are expected to take more seconds than this.")
    ] = 3.0,
    out: Out = OUT,
    quick: Quick = False,
) -> None:
    """Measure the time and memory per access of the algorithms as players and budgets grow.

    Every measurement is saved immediately and is not repeated by later calls.

    For example: topshap-bench scale --quick --out results
    """
    from topshap_bench.scaling import scale as run_scale

    options: dict[str, Any] = {}
    if quick:
        options = {"players": (10, 30, 100, 300), "budgets": (500, 1000, 2000, 4000)}

    def say(found: Any) -> None:
        about = f"{found.algorithm}, {found.n_players} players, budget {found.budget}"
        cost = f"{found.microseconds:.1f} us per access" if found.calls else found.outcome
        typer.echo(f"{about}: {cost}", err=True)

    done = run_scale(out, runs=runs, limit=limit, progress=say, **options, **given(algorithms=algorithm))
    say_where(done.text, out, "scale.csv", "scale.txt", "scale.png")


COMMANDS = (race, clock, guarantee, paper, german_credit, scale)


def _sources(
    games: Path | None,
    out: Path,
    jobs: int,
    *,
    quick: bool,
    synthetic: bool = False,
    unseen: bool = False,
    whole: tuple[str, ...] = (),
) -> list[Source]:
    """Return the games in a folder, or generated games; with `quick`, a few of each family that is not in `whole`."""
    if unseen and games is None:
        raise ParameterError("--unseen refers to published tables. Name their folder with --games.")
    if games is not None:
        sources = bench.from_folder(games, half="judge" if unseen else "all")
    else:
        names = ("diabetes",) if quick else ("diabetes", "wine")
        sources = bench.trained(out / "tables", names, n_jobs=jobs) + (bench.synthetic() if synthetic else [])
    if not quick:
        return sources
    families = {source.family: [other for other in sources if other.family == source.family] for source in sources}
    most = {family: None if family in whole else PER_FAMILY_IN_QUICK for family in families}
    return [source for family, members in families.items() for source in members[: most[family]]]


def _how(jobs: int, seed: int) -> dict[str, Any]:
    one_thread()
    return {"n_jobs": jobs, "seed": seed, "progress": True}
