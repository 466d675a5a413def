"""How many evaluations it takes until confident, and how often that is wrong.

    python benchmarks/fixed_confidence.py --games DIR [--baselines DIR] [--families global local-nlp] [--runs 100]
    python benchmarks/fixed_confidence.py --games DIR --relative 0.01 0.05 --algorithms odd-gp@k cmcs@k

DIR/FAMILY/*.npz are complete games. For every game and algorithm it prints the mean number of distinct evaluations
until a race for the top k stops by itself, how many of the runs had an inclusion-exclusion error above epsilon, with
the Clopper-Pearson interval of that rate, and with --baselines (a directory with pac_global.csv) how many times fewer
evaluations than the calls that are published for CMCS@K in Table 1 of arXiv 2504.02019. ``--relative`` takes epsilon as
parts of v(N) - v(empty) instead.
"""

from __future__ import annotations

import argparse
import csv
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from fixed_budget import load_game
from scipy.stats import binomtest

import topshap
from topshap.bench.summary import circumstances
from topshap.reference.metrics import inclusion_exclusion_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topshap.core.typing import Game, Values


class Cell(NamedTuple):
    """One algorithm on one game; `epsilon` is a part of v(N) - v(empty) if `relative`."""

    path: Path
    algorithm: str
    k: int
    epsilon: float
    relative: bool
    delta: float


class Outcome(NamedTuple):
    """What each run spent, and whether its error was larger than allowed."""

    evaluations: list[int]
    wrong: list[bool]


def run_cell(cell: Cell, runs: int) -> Outcome:
    """Run a cell with different seeds."""
    game = load_game(cell.path)
    epsilon = cell.epsilon * abs(game.values[-1] - game.values[0]) if cell.relative else cell.epsilon
    return races(game, game.shapley_values(), cell.algorithm, k=cell.k, epsilon=epsilon, delta=cell.delta, runs=runs)


def races(game: Game, exact: Values, algorithm: str, *, k: int, epsilon: float, delta: float, runs: int) -> Outcome:
    """Run races that stop by themselves on a game whose Shapley values are known, with different seeds."""
    tops = [
        topshap.identify(game, k=k, epsilon=epsilon, delta=delta, algorithm=algorithm, random_state=seed)
        for seed in range(runs)
    ]
    allowed = epsilon + 1e-9 * float(np.abs(exact).max())
    wrong = [inclusion_exclusion_error(exact, top.players) > allowed for top in tops]
    return Outcome([top.evaluations for top in tops], wrong)


def published_calls(baselines: Path | None) -> dict[str, float]:
    """Return the calls of CMCS@K in Table 1, by game."""
    if baselines is None:
        return {}
    with (baselines / "pac_global.csv").open(newline="") as file:
        return {row["game"]: float(row["paper_calls"]) for row in csv.DictReader(file) if row["algorithm"] == "cmcs@k"}


def failure_rate(wrong: Sequence[bool]) -> str:
    """Return the share of failures with its Clopper-Pearson interval."""
    interval = binomtest(sum(wrong), len(wrong)).proportion_ci(0.95, method="exact")
    return f"{sum(wrong):>5} of {len(wrong):<6} [{interval.low:.4f}, {interval.high:.4f}]"


def print_results(results: Mapping[Cell, Outcome], calls: Mapping[str, float], *, single_games: bool) -> None:
    """Print a line for every game, and for every family and algorithm one about all its games."""
    print(f"{'family':<13}{'game':<30}{'algorithm':<10}{'epsilon':>9}{'evaluations':>13}{'fewer':>8}   wrong")
    groups = sorted({(cell.path.parent.name, cell.epsilon, cell.algorithm) for cell in results})
    for family, epsilon, algorithm in groups:
        cells = [c for c in results if (c.path.parent.name, c.epsilon, c.algorithm) == (family, epsilon, algorithm)]
        fewer = []
        for cell in cells:
            mean = float(np.mean(results[cell].evaluations))
            times = calls[cell.path.stem] / mean if cell.path.stem in calls else float("nan")
            fewer.append(times)
            if single_games or family == "global":
                name = f"{family:<13}{cell.path.stem:<30}{algorithm:<10}{epsilon:>9g}"
                print(f"{name}{mean:>13.0f}{times:>8.1f}   {failure_rate(results[cell].wrong)}")
        mean = float(np.mean([np.mean(results[cell].evaluations) for cell in cells]))
        wrong = [value for cell in cells for value in results[cell].wrong]
        geometric = float(np.exp(np.mean(np.log(fewer))))
        name = f"{family:<13}{'all, mean and geometric mean':<30}{algorithm:<10}{epsilon:>9g}"
        print(f"{name}{mean:>13.0f}{geometric:>8.1f}   {failure_rate(wrong)}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Evaluations until confident, and failures, on complete games.")
    parser.add_argument("--games", type=Path, required=True, help="directory with FAMILY/*.npz")
    parser.add_argument("--baselines", type=Path, help="directory with pac_global.csv")
    parser.add_argument("--families", nargs="+", default=["global"])
    parser.add_argument("--algorithms", nargs="+", default=["auto"])
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.0005])
    parser.add_argument("--relative", type=float, nargs="+", help="epsilon as parts of v(N) - v(empty)")
    parser.add_argument("--delta", type=float, default=0.01)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--single-games", action="store_true", help="a line for every game of every family")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    paths = [path for family in options.families for path in sorted((options.games / family).glob("*.npz"))]
    tolerances = product(options.relative, [True]) if options.relative else product(options.epsilon, [False])
    cells = [
        Cell(path, algorithm, options.k, epsilon, relative, options.delta)
        for (epsilon, relative), path, algorithm in product(tolerances, paths, options.algorithms)
    ]
    print(f"{circumstances()}\n\nk={options.k}, delta={options.delta:g}, {options.runs} runs")
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        results = dict(zip(cells, pool.map(run_cell, cells, [options.runs] * len(cells)), strict=True))
    print_results(results, published_calls(options.baselines), single_games=options.single_games)


if __name__ == "__main__":
    main()
