"""How good the top k are for a fixed budget of distinct evaluations, and how well odd-gp knows it.

    python benchmarks/fixed_budget.py --games DIR [--prototype FILE] [--half judge]

DIR/FAMILY/*.npz are complete games. Parameters were tuned on every second game of each family (``--half tune``), not on
the others (``--half judge``), which earlier versions were judged by as well. For every budget and family it prints the
mean inclusion-exclusion error as a part of the range of the Shapley values, and the geometric mean over games of the
ratio of odd-gp's error to the others', with 0.001 of the range added to both; at the end, also with one ratio a game,
of the errors averaged over budgets.

The best of the three rivals is chosen anew wherever a ratio is formed: as "luckiest rival" by the runs that count,
which favours it, since the smallest of three measured errors is smaller than the error that any of them can be expected
to have; as "best rival" by one half of the runs, and then measured in the other, which favours odd-gp a little, since
with few runs it is not always the best that is chosen. The truth lies between the two.

For odd-gp, it also prints how often 95% intervals of differences across the border of the top k hold the truth, and how
often the set is right when it says it is p sure.
``--prototype`` names a Python file with a function ``topk(game, n, budget, k, seed)`` that returns estimates.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from itertools import pairwise, product
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap.games import TableGame
from topshap.reference.metrics import binary_precision, inclusion_exclusion_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

    from topshap.core.typing import Matrix, Values

OURS = "odd-gp"
RIVALS = ("kernelshap", "stratified-svarm", "greedy-cmcs")
LUCKIEST, BEST = "luckiest rival", "best rival"
BUDGETS = (50, 100, 250, 500, 1000, 2000)
KS = (1, 3, 5, 7)
ADDED = 0.001
CONFIDENCE_BINS = (0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001)


class Cell(NamedTuple):
    """One algorithm on one game for one budget; `algorithm` may be the path of a prototype."""

    path: Path
    budget: int
    algorithm: str

    @property
    def family(self) -> str:
        """The folder of the game."""
        return self.path.parent.name


class Outcome(NamedTuple):
    """The errors, and how often intervals and confidence were right."""

    errors: Values
    """One error a run, the mean over all k."""
    seconds: float = 0.0
    covered: Sequence[bool] = ()
    confident: Sequence[tuple[float, float]] = ()

    @property
    def error(self) -> float:
        """The mean error over all runs."""
        return float(self.errors.mean())


load_game = lru_cache(TableGame.load)


@lru_cache
def load_prototype(path: str) -> ModuleType:
    """Import a prototype from its file."""
    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_cell(cell: Cell, runs: int) -> Outcome:
    """Run a cell for every k and seed."""
    game = load_game(cell.path)
    exact = game.shapley_values()
    start = time.process_time()
    errors, covered, confident = [], [], []
    for k, seed in product(KS, range(runs)):
        if cell.algorithm.endswith(".py"):
            estimates = load_prototype(cell.algorithm).topk(game, game.n_players, cell.budget, k, seed)
            players = np.argsort(-estimates, kind="stable")[:k]
        else:
            top = topshap.identify(game, k=k, budget=cell.budget, algorithm=cell.algorithm, random_state=seed)
            players = top.players
            if cell.algorithm == OURS and top.covariance is not None:
                covered += border_coverage(top, exact)
                confident.append((top.confidence, binary_precision(exact, players)))
        errors.append(inclusion_exclusion_error(exact, players) / np.ptp(exact))
    by_run = np.reshape(errors, (len(KS), runs)).mean(axis=0)
    return Outcome(by_run, (time.process_time() - start) / len(errors), covered, confident)


def border_coverage(top: topshap.TopK, exact: topshap.core.typing.Values, depth: int = 2) -> list[bool]:
    """Say for players next to the border whether 95% intervals of their differences hold the truth."""
    order = np.argsort(-top.estimates, kind="stable")
    covariance = top.covariance
    if covariance is None:
        return []
    held = []
    for i, j in product(order[max(0, top.k - depth) : top.k], order[top.k : top.k + depth]):
        deviation = np.sqrt(max(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0))
        off = abs((top.estimates[i] - top.estimates[j]) - (exact[i] - exact[j]))
        held.append(bool(off <= 1.96 * deviation + 1e-9 * np.abs(exact).max()))
    return held


def ratio(results: Mapping[Cell, Outcome], cells: Iterable[Cell], rival: str, *, perfect: bool = False) -> float:
    """Return the geometric mean over games of our error over the rival's, or of no error at all if `perfect`."""
    logs = [
        np.log(((0.0 if perfect else results[cell].error) + ADDED) / (rival_error(results, cell, rival) + ADDED))
        for cell in cells
        if cell.algorithm == OURS
    ]
    return float(np.exp(np.mean(logs)))


def rival_error(results: Mapping[Cell, Outcome], cell: Cell, rival: str) -> float:
    """Return the error of a rival, or of the best of them, on the same game and budget."""
    if rival not in (LUCKIEST, BEST):
        return results[cell._replace(algorithm=rival)].error
    errors = np.array([results[cell._replace(algorithm=name)].errors for name in RIVALS])
    return luckiest_error(errors) if rival == LUCKIEST else best_error(errors)


def luckiest_error(errors: Matrix) -> float:
    """Return the smallest of the mean errors, one algorithm a row, one run a column."""
    return float(errors.mean(axis=1).min())


def best_error(errors: Matrix) -> float:
    """Return the error of the best algorithm: chosen by one half of the runs and measured in the other, both ways.

    Examples
    --------
    >>> best_error(np.array([[1.0, 2.0, 1.0, 2.0], [2.0, 1.0, 2.0, 1.0]]))
    2.0
    """
    if errors.shape[1] == 1:
        return luckiest_error(errors)
    one, other = errors[:, ::2].mean(axis=1), errors[:, 1::2].mean(axis=1)
    return float(other[one.argmin()] + one[other.argmin()]) / 2.0


def averaged_over_budgets(results: Mapping[Cell, Outcome]) -> dict[Cell, Outcome]:
    """Return one cell for each game and algorithm, with the mean of the errors for all budgets."""
    by_game: dict[Cell, list[Values]] = {}
    for cell, outcome in results.items():
        by_game.setdefault(cell._replace(budget=0), []).append(outcome.errors)
    return {cell: Outcome(np.mean(errors, axis=0)) for cell, errors in by_game.items()}


def print_errors(results: Mapping[Cell, Outcome], rivals: Sequence[str]) -> None:
    """Print a row for every budget and family, and one for all."""
    named = [(rival, Path(rival).stem + " (prototype)" if rival.endswith(".py") else rival) for rival in rivals]
    families = sorted({cell.family for cell in results})
    columns = f"{LUCKIEST:>15}{BEST:>13}  s/run"
    print(f"\n{'budget':>7} {'family':<13}{'odd-gp':>9}", *(f"{name:>20}" for _, name in named), columns)
    print(f"{'':>21}{'x1000':>9}", *(f"{'x1000':>11}{'ratio':>9}" for _ in named), f"{'ratio':>15}{'ratio':>13}")
    for budget, family in [*product(BUDGETS, [*families, "all"]), (None, "all")]:
        cells = [c for c in results if budget in (c.budget, None) and family in (c.family, "all")]
        ours = [results[c] for c in cells if c.algorithm == OURS]
        if not ours:
            continue
        row = [f"{budget or 'all':>7} {family:<13}{1000 * np.mean([o.error for o in ours]):>9.2f}"]
        for rival, _ in named:
            mean = 1000 * np.mean([results[c].error for c in cells if c.algorithm == rival])
            row.append(f"{mean:>11.2f}{ratio(results, cells, rival):>9.3f}")
        row.append(f"{ratio(results, cells, LUCKIEST):>15.3f}{ratio(results, cells, BEST):>13.3f}")
        row.append(f" {np.mean([o.seconds for o in ours]):.3f}")
        print(*row)
    any_rival = (*RIVALS, LUCKIEST, BEST)
    perfect = ", ".join(f"{ratio(results, results, rival, perfect=True):.3f} ({rival})" for rival in any_rival)
    print(f"\nNo error at all would have the ratios {perfect}.")
    by_game = averaged_over_budgets(results)
    named += [(LUCKIEST, LUCKIEST), (BEST, BEST)]
    averaged = ", ".join(f"{ratio(by_game, by_game, rival):.3f} ({name})" for rival, name in named)
    print(f"With one ratio a game, of the errors averaged over budgets: {averaged}.")


def print_calibration(results: Mapping[Cell, Outcome]) -> None:
    """Print how often intervals hold the truth by family, and how often the set is right by confidence."""
    print("\n95% intervals of differences across the border")
    for family in [*sorted({cell.family for cell in results}), "all"]:
        held = [h for c, o in results.items() if family in (c.family, "all") for h in o.covered]
        print(f"  {family:<13} cover {np.mean(held):.3f} of {len(held)}")
    said, right = np.array([pair for outcome in results.values() for pair in outcome.confident]).T
    print("\nconfidence   said   right   runs")
    for low, high in pairwise(CONFIDENCE_BINS):
        inside = (said >= low) & (said < high)
        if inside.any():
            name = f"{low:>6.2f}-{min(high, 1):<4.2f}"
            print(f"{name} {said[inside].mean():.3f}   {right[inside].mean():.3f}  {inside.sum():>5}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Errors and calibration for a fixed budget on complete games.")
    parser.add_argument("--games", type=Path, required=True, help="directory with FAMILY/*.npz")
    parser.add_argument("--prototype", help="a Python file with topk(game, n, budget, k, seed)")
    parser.add_argument("--half", choices=("tune", "judge", "all"), default="judge")
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS))
    parser.add_argument("--runs", type=int, default=3, help="runs for every k; at least 10 in the family 'global'")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    chosen = {"tune": slice(0, None, 2), "judge": slice(1, None, 2), "all": slice(None)}[options.half]
    families = sorted(path for path in options.games.iterdir() if any(path.glob("*.npz")))
    games = [path for family in families for path in sorted(family.glob("*.npz"))[chosen]]
    rivals = [*RIVALS, *([options.prototype] if options.prototype else [])]
    cells = [Cell(*setting) for setting in product(games, options.budgets, [OURS, *rivals])]
    runs = [max(10, options.runs) if cell.family == "global" else options.runs for cell in cells]
    print(f"{len(games)} games ({options.half}), k in {KS}, topshap {topshap.__version__}")
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        results = dict(zip(cells, pool.map(run_cell, cells, runs), strict=True))
    print_errors(results, rivals)
    print_calibration(results)


if __name__ == "__main__":
    main()
