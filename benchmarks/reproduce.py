"""Reproduce published figures and print them beside what the authors' own code achieves on the same games.

    python benchmarks/reproduce.py --games DIR --baselines DIR

DIR/global/*.npz are complete games; the baselines are pac_global.csv and fixed_budget_global.csv, means with standard
errors. Part "pac" is Table 1 of "Antithetic Sampling for Top-k Shapley Identification" (Kolpaczki, Nielen and
Hüllermeier 2025): races that stop by themselves. Part "fixed" compares the quality reached with a fixed budget. Every
access is counted in both. The exit code is 1 if a figure differs and no reason for that is known.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections import defaultdict
from concurrent.futures import Future, ProcessPoolExecutor
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.games import TableGame
from topshap.reference import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    Baseline: TypeAlias = "Mapping[Cell, Mapping[str, str]]"

K, EPSILON, DELTA = 5, 0.0005, 0.01
PAC = ("cmcs", "greedy-cmcs", "cmcs@k", "samplingshap@k")
FIXED = (*PAC, "approshapley", "kernelshap", "stratified-svarm", "bus")
INFORMATION = ("independent", "same-length", "identical", "gap-e", "sar")
COLUMNS = {
    "pac": {
        "calls": ("calls", "measured_calls", "measured_se"),
        "calls, paper": ("calls", "paper_calls", "paper_se"),
        "distinct": ("distinct", "measured_distinct", "measured_distinct_se"),
    },
    "fixed": {q: (q, q, f"{q}_se") for q in ("inc_exc_error", "ratio_precision", "binary_precision", "mse")},
}
"""The columns of each part: the field of `Outcome`, the baseline's mean and its standard error."""
BEYOND = 4.0
CHUNK = 10

DELIBERATE = {
    "stratified-svarm": "strata never sampled are left out; the baseline counts them as zero",
    "gap-e": "the complexity is estimated; the baseline reads the true values",
    "sar": "phases fill the budget at hand; the baseline's look like those of a plan for twice its 2000",
}
"""Why a figure may differ from the baseline's on purpose."""

EXTRA_BUDGET = {"kernelshap": 1}
"""The baseline's kernelshap does not count the empty coalition: one evaluation more makes the budgets equal."""


class Cell(NamedTuple):
    """One setting to run many times; without a budget the race stops by itself."""

    game: str
    algorithm: str
    k: int
    budget: int | None = None


class Outcome(NamedTuple):
    """What one run cost and how good its answer was."""

    calls: float
    distinct: float
    inc_exc_error: float
    ratio_precision: float
    binary_precision: float
    mse: float
    seconds: float


class Mean(NamedTuple):
    """A mean with its standard error."""

    mean: float
    se: float

    def __str__(self) -> str:
        return f"{self.mean:.4g}±{self.se:.1g}" if self.mean < 100 else f"{self.mean:.0f}±{self.se:.0f}"


class Comparison(NamedTuple):
    """A figure of ours beside the baseline's."""

    cell: Cell
    figure: str
    ours: Mean
    theirs: Mean

    @property
    def z(self) -> float:
        """The difference in standard errors of the difference; squares next to nothing are rounding noise."""
        difference = self.ours.mean - self.theirs.mean
        if self.figure == "mse" and max(self.ours.mean, self.theirs.mean) < 1e-20:
            return 0.0
        return difference / (np.hypot(self.ours.se, self.theirs.se) or 1e-300) if difference else 0.0

    def __str__(self) -> str:
        flag = "ok" if abs(self.z) <= BEYOND else "!!"
        return f"{self.ours!s:>16} {self.theirs!s:>16} {self.z:+6.1f} {flag}"


def run(game: TableGame, cell: Cell, *, seed: int, epsilon: float = EPSILON, delta: float = DELTA) -> Outcome:
    """Run one race, every access counted, and judge its answer by the exact values."""
    start = time.process_time()
    top = topshap.identify(
        game,
        k=cell.k,
        budget=None if cell.budget is None else cell.budget + EXTRA_BUDGET.get(cell.algorithm, 0),
        epsilon=epsilon if cell.budget is None else None,
        delta=delta,
        algorithm=cell.algorithm,
        counting="calls",
        random_state=np.random.default_rng([seed, cell.k, cell.budget or 0]),
    )
    seconds = time.process_time() - start
    exact = game.shapley_values()
    return Outcome(
        calls=top.calls,
        distinct=top.evaluations,
        inc_exc_error=metrics.inclusion_exclusion_error(exact, top.players),
        ratio_precision=metrics.ratio_precision(exact, top.players),
        binary_precision=metrics.binary_precision(exact, top.players),
        mse=metrics.mean_squared_error(exact, top.estimates),
        seconds=seconds,
    )


def summarize(outcomes: Sequence[Outcome]) -> dict[str, Mean]:
    """Return the mean of every field of the outcomes, of at least two runs."""
    numbers = np.array(outcomes)
    errors = numbers.std(axis=0, ddof=1) / np.sqrt(len(numbers))
    return dict(zip(Outcome._fields, map(Mean, numbers.mean(axis=0).tolist(), errors.tolist()), strict=True))


load_game = lru_cache(TableGame.load)  # once per process


def run_chunk(folder: Path, cell: Cell, seeds: range) -> list[Outcome]:
    """Run a cell once for each seed, in a worker."""
    game = load_game(folder / f"{cell.game}.npz")
    return [run(game, cell, seed=seed) for seed in seeds]


def run_all(
    pool: ProcessPoolExecutor, folder: Path, cells: Sequence[Cell], runs: int
) -> Iterator[tuple[Cell, list[Outcome]]]:
    """Run every cell `runs` times and yield it with its outcomes, in order, as soon as they are there."""
    waiting: dict[Cell, list[Future[list[Outcome]]]] = defaultdict(list)
    for cell in cells:
        for start in range(0, runs, CHUNK):
            seeds = range(start, min(start + CHUNK, runs))
            waiting[cell].append(pool.submit(run_chunk, folder, cell, seeds))
    for cell, chunks in waiting.items():
        yield cell, [outcome for chunk in chunks for outcome in chunk.result()]


def read_baseline(path: Path) -> Baseline:
    """Read a table of baselines, one row per cell."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    budgets = [int(row["budget"]) if "budget" in row else None for row in rows]
    return {Cell(r["game"], r["algorithm"], int(r.get("k", K)), b): r for r, b in zip(rows, budgets, strict=True)}


def cells_of(part: str, games: Sequence[str]) -> list[Cell]:
    """Return the settings of a part, in the order of its table."""
    if part == "pac":
        return [Cell(game, algorithm, K) for game in games for algorithm in PAC]
    return [Cell(*setting) for setting in product(games, (*FIXED, *INFORMATION), (3, 5), (500, 2000))]


def reproduce(part: str, results: Iterable[tuple[Cell, list[Outcome]]], baseline: Baseline) -> list[Comparison]:
    """Print a table beside its baseline, a row a cell, and return every comparison in it."""
    headings = [f"{column + ': ours, theirs, z':^43}" for column in COLUMNS[part]]
    print(f"\nPart {part}\n{'game':<15}{'algorithm':<17} k budget", *headings, "ms/run")
    made: list[Comparison] = []
    for cell, outcomes in results:
        ours, theirs = summarize(outcomes), baseline[cell]
        row = [
            Comparison(cell, column, ours[field], Mean(float(theirs[mean]), float(theirs[se])))
            for column, (field, mean, se) in COLUMNS[part].items()
        ]
        made += row
        label = f"{cell.game:<15}{cell.algorithm:<17} {cell.k} {cell.budget or '-':>6}"
        accuracy = np.mean([o.inc_exc_error <= EPSILON for o in outcomes])
        judged = f" accuracy {accuracy:.3f} / {theirs['accuracy']}" if "accuracy" in theirs else ""
        print(label, *row, f"{1000 * ours['seconds'].mean:6.1f}{judged}", flush=True)
    return made


def conclude(made: Sequence[Comparison]) -> bool:
    """Print what differs and why; return whether every difference has a known reason."""
    for what, only_informs in (("compared", False), ("for information only", True)):
        cells = [c for c in made if (c.cell.algorithm in INFORMATION) == only_informs]
        beyond = [c for c in cells if abs(c.z) > BEYOND]
        print(f"\n{len(cells)} cells {what}, {len(beyond)} beyond {BEYOND:.0f} standard errors")
        for c in beyond:
            where = f"{c.cell.game} {c.cell.algorithm} k={c.cell.k} budget={c.cell.budget} {c.figure}"
            reason = DELIBERATE.get(c.cell.algorithm, "UNEXPLAINED")
            print(f"  {where}: {c.ours} against {c.theirs}, z={c.z:+.1f}: {reason}")
    return all(c.cell.algorithm in DELIBERATE for c in made if abs(c.z) > BEYOND)


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Reproduce published figures on complete games.")
    parser.add_argument("--games", type=Path, required=True, help="directory with global/*.npz")
    parser.add_argument("--baselines", type=Path, required=True, help="directory with the baselines' .csv files")
    parser.add_argument("--part", choices=("pac", "fixed", "all"), default="all")
    parser.add_argument("--runs", type=int, help="runs per cell, at least 2; by default 100 for pac, 200 for fixed")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--games-only", help="comma-separated names, by default all games")
    options = parser.parse_args()

    # Workers are started afresh, so numpy reads these when they import it: one thread each.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    folder = options.games / "global"
    games = sorted(path.stem for path in folder.glob("*.npz"))
    chosen = games if options.games_only is None else options.games_only.split(",")
    if not chosen or not set(chosen) <= set(games):
        parser.error(f"{folder} must hold the games. Got {games} there, and {chosen} to run.")
    made: list[Comparison] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for part, file, runs in (("pac", "pac_global.csv", 100), ("fixed", "fixed_budget_global.csv", 200)):
            if options.part in (part, "all"):
                results = run_all(pool, folder, cells_of(part, chosen), options.runs or runs)
                made += reproduce(part, results, read_baseline(options.baselines / file))
    return 0 if conclude(made) else 1


if __name__ == "__main__":
    raise SystemExit(main())
