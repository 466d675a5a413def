"""``topshap bench``: the benchmarks, each with one command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from topshap.core.errors import ParameterError

if TYPE_CHECKING:
    from topshap.bench import Source

app_of_bench = typer.Typer(
    help="Reproduce the paper, race the field, check guarantees, measure growth.", no_args_is_help=True
)

GAMES = typer.Option(None, help="A folder with complete games FAMILY/*.npz; by default the package makes its own.")
OUT = typer.Option(Path("topshap-bench"), help="The folder to write to; what is in it is not run again.")
JOBS = typer.Option(-1, help="How many processes; -1 for one a core.")
QUICK = typer.Option(default=False, help="Few games, few runs: minutes instead of hours.")
SEED = typer.Option(0, help="The same seed gives the same table, but for the seconds.")
PER_FAMILY_IN_QUICK = 3


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(app_of_bench, name="bench")


@app_of_bench.command("race")
def race(
    games: Path | None = GAMES,
    out: Path = OUT,
    runs: int | None = typer.Option(None, min=1, help="Runs of every setting: by default 10, and 2 with --quick."),
    jobs: int = JOBS,
    quick: bool = QUICK,
    seed: int = SEED,
    unseen: bool = typer.Option(default=False, help="Leave out the published tables that odd-gp was tuned on."),
) -> None:
    """Race topshap against the published algorithms, shap and shapiq at equal distinct evaluations.

    For example: topshap bench race --quick --games games --out results
    """
    from topshap.bench.race import BUDGETS, KS  # noqa: PLC0415 - it takes a while to import
    from topshap.bench.race import race as run_race  # noqa: PLC0415 - so that --help stays quick

    settings: dict[str, Any] = {"budgets": (100, 500), "ks": (3,)} if quick else {"budgets": BUDGETS, "ks": KS}
    sources = _sources(games, out, jobs, quick=quick, synthetic=True, unseen=unseen)
    done = run_race(sources, out, runs=runs or (2 if quick else 10), **settings, **_how(jobs, seed))
    _say(done.text, out, "race.csv", "race.txt", "race.png")


@app_of_bench.command("guarantee")
def guarantee(
    games: Path | None = GAMES,
    out: Path = OUT,
    runs: int | None = typer.Option(None, min=1, help="Runs of each of 50 games: by default 20; 2 of 5 with --quick."),
    promised: bool = typer.Option(default=False, help="Only the rules that promise something."),
    jobs: int = JOBS,
    quick: bool = QUICK,
    seed: int = SEED,
) -> None:
    """Count how often races that stop by themselves are wrong, on real games and on those made to deceive.

    The exit code is 1 if a rule that promises something is wrong significantly more often than it may be.

    For example: topshap bench guarantee --quick --out results
    """
    from topshap.bench.guarantee import DELTAS, PROMISED  # noqa: PLC0415 - it takes a while to import
    from topshap.bench.guarantee import guarantee as run_guarantee  # noqa: PLC0415 - so that --help stays quick

    settings: dict[str, Any] = {"games": 5, "deltas": (0.1,)} if quick else {"games": 50, "deltas": DELTAS}
    sources = _sources(games, out, jobs, quick=quick)
    if promised:
        settings["rules"] = PROMISED
    done = run_guarantee(sources, out, runs=runs or (2 if quick else 20), **settings, **_how(jobs, seed))
    _say(done.text, out, "guarantee.csv", "guarantee.txt", "guarantee.png")
    if not done.kept:
        raise typer.Exit(1)


@app_of_bench.command("paper")
def paper(
    games: Path | None = GAMES,
    out: Path = OUT,
    runs: int | None = typer.Option(
        None, min=1, help="Runs of every setting: by default 100, and 20 with --quick; the paper's are 1000."
    ),
    parts: str = typer.Option("abcdef", help="Which parts, by their letters; f is Table 1, b all algorithms at k = 3."),
    jobs: int = JOBS,
    quick: bool = QUICK,
    seed: int = SEED,
) -> None:
    """Make the paper's figures and its Table 1, the published figures beside these.

    For example: topshap bench paper --games games --parts bf --runs 1000 --out results
    """
    from topshap.bench.paper import BUDGETS  # noqa: PLC0415 - it takes a while to import
    from topshap.bench.paper import paper as run_paper  # noqa: PLC0415 - so that --help stays quick

    settings: dict[str, Any] = {"budgets": BUDGETS}
    if quick:
        settings = {"budgets": (100, 500, 2000), "ks": (1, 3, 5, 7, 9), "runs_of_table_1": runs or 10}
    sources = _sources(games, out, jobs, quick=quick, whole=("global",))
    count = runs or (20 if quick else 100)
    done = run_paper(sources, out, parts=parts, runs=count, **settings, **_how(jobs, seed))
    _say(done.text, out, "paper.csv", "paper.txt", *(path.name for path in done.figures))


@app_of_bench.command("scale")
def scale(
    out: Path = OUT,
    runs: int = typer.Option(3, min=1, help="The quickest of how many runs counts."),
    limit: float = typer.Option(3.0, min=0.0, help="A run that is expected to take more seconds is left out."),
    quick: bool = QUICK,
) -> None:
    """Measure the time and memory of the algorithms themselves as players and budgets grow, one after the other.

    What has been measured is in the table at once, and is not measured again.

    For example: topshap bench scale --quick --out results
    """
    from topshap.bench.scale import BUDGETS, PLAYERS  # noqa: PLC0415 - it takes a while to import
    from topshap.bench.scale import scale as run_scale  # noqa: PLC0415 - so that --help stays quick

    settings: dict[str, Any] = {"players": PLAYERS, "budgets": BUDGETS}
    if quick:
        settings = {"players": (10, 30, 100, 300), "budgets": (500, 1000, 2000, 4000)}

    def say(found: Any) -> None:
        about = f"{found.algorithm}, {found.n_players} players, budget {found.budget}"
        came_to = f"{found.microseconds:.1f} us per access" if found.calls else found.outcome
        typer.echo(f"{about}: {came_to}", err=True)

    done = run_scale(out, runs=runs, limit=limit, progress=say, **settings)
    _say(done.text, out, "scale.csv", "scale.txt", "scale.png")


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
    """Return the games of a folder, or those that the package makes.

    If it is to be quick only a few of each family, but all of those families that are to be whole.
    """
    from topshap import bench  # noqa: PLC0415 - so that --help stays quick

    if unseen and games is None:
        raise ParameterError("--unseen is about published tables: it needs --games.")
    if games is not None:
        sources = bench.from_folder(games, unseen=unseen)
    else:
        names = ("diabetes",) if quick else ("diabetes", "wine")
        sources = bench.trained(out / "tables", names, n_jobs=jobs) + (bench.synthetic() if synthetic else [])
    if not quick:
        return sources
    families = {source.family: [other for other in sources if other.family == source.family] for source in sources}
    most = {family: None if family in whole else PER_FAMILY_IN_QUICK for family in families}
    return [source for family, members in families.items() for source in members[: most[family]]]


def _how(jobs: int, seed: int) -> dict[str, Any]:
    _one_thread()
    return {"n_jobs": jobs, "seed": seed, "progress": True}


def _one_thread() -> None:
    # Workers read these when they import numpy: threads that wait for each other take longer than the work.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _say(text: str, out: Path, *files: str) -> None:
    typer.echo(text)
    typer.echo(f"\n{', '.join(files)} are in {out.resolve()}")
