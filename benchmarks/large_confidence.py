"""Races that stop by themselves on games of many players whose Shapley values are known.

    python benchmarks/large_confidence.py [--games unanimity-30 trees-50 ...] [--algorithms auto swap@k cmcs@k]

unanimity-N   a sum of 2 N unanimity games of one to six of N players
trees-N       the prediction of boosted trees with N features for one row, those left out averaged over 20 other rows;
              the exact values are the interventional ones of the trees

For every game and algorithm it prints the mean number of distinct evaluations, how many times fewer these are than
those of ``cmcs@k`` with its published rule, how many runs had an inclusion-exclusion error above epsilon, with the
Clopper-Pearson interval of that rate, and the seconds of a run.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from fixed_confidence import Outcome, failure_rate, races
from sklearn.datasets import make_regression
from sklearn.ensemble import GradientBoostingRegressor

from topshap.bench.summary import circumstances
from topshap.games import UnanimityGame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from topshap.core.typing import Coalitions, Values

K = 5
PUBLISHED = "cmcs@k"
ROWS = 20


class BoostedTrees:
    """What boosted trees predict for one row if the features left out are those of other rows."""

    def __init__(self, n_players: int, seed: int) -> None:
        self.n_players = n_players
        x, y = make_regression(600, n_players, n_informative=n_players // 2, noise=5.0, random_state=seed)
        y += 20.0 * x[:, 0] * x[:, 1] + 10.0 * np.abs(x[:, 2])
        self._model = GradientBoostingRegressor(n_estimators=100, max_depth=4, random_state=seed).fit(x, y)
        self._row, self._others = x[0].astype(np.float32), x[1 : 1 + ROWS].astype(np.float32)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the mean prediction of each coalition."""
        mixed = np.where(coalitions[:, None], self._row, self._others)
        predictions: Values = self._model.predict(mixed.reshape(-1, self.n_players))
        return predictions.reshape(len(coalitions), ROWS).mean(axis=1)

    def shapley_values(self) -> Values:
        """Return the exact Shapley values.

        Against one other row a leaf is reached if certain features P come from the row itself and certain others Q do
        not: its value times a game whose Shapley values are (p-1)! q! / (p+q)! in P and -p! (q-1)! / (p+q)! in Q.
        """
        phi = np.zeros(self.n_players)
        for tree, other in product(self._model.estimators_[:, 0], self._others):
            for value, inside, outside in self._leaves(tree.tree_, other):
                p, q = len(inside), len(outside)
                whole = math.factorial(p + q)
                if p:
                    phi[list(inside)] += value * math.factorial(p - 1) * math.factorial(q) / whole
                if q:
                    phi[list(outside)] -= value * math.factorial(p) * math.factorial(q - 1) / whole
        return self._model.learning_rate * phi / ROWS

    def _leaves(self, tree: Any, other: Values) -> Iterator[tuple[float, frozenset[int], frozenset[int]]]:
        """Return the leaves that can be reached: their values, who has to be inside, and who outside."""
        todo: list[tuple[int, frozenset[int], frozenset[int]]] = [(0, frozenset(), frozenset())]
        while todo:
            node, inside, outside = todo.pop()
            feature = int(tree.feature[node])
            if feature < 0:
                yield float(tree.value[node, 0, 0]), inside, outside
                continue
            own, others = (
                tree.children_left[node] if row[feature] <= tree.threshold[node] else tree.children_right[node]
                for row in (self._row, other)
            )
            if feature not in outside:
                todo.append((own, inside if own == others else inside | {feature}, outside))
            if feature not in inside and own != others:
                todo.append((others, inside, outside | {feature}))
            elif feature in outside:
                todo.append((others, inside, outside))


def unanimity(n: int, seed: int) -> UnanimityGame:
    """Return a sum of unanimity games."""
    rng = np.random.default_rng(seed)
    sets = [rng.choice(n, rng.integers(1, 7), replace=False).tolist() for _ in range(2 * n)]
    return UnanimityGame(sets, rng.exponential(size=2 * n), n_players=n)


class Cell(NamedTuple):
    """One algorithm on one game."""

    game: str
    algorithm: str
    epsilon: float
    delta: float


class Result(NamedTuple):
    """What the races came to, and how long one of them took."""

    outcome: Outcome
    seconds: float


def run_cell(cell: Cell, runs: int) -> Result:
    """Run a cell with different seeds."""
    kind, players = cell.game.split("-")
    game: Any = {"unanimity": unanimity, "trees": BoostedTrees}[kind](int(players), 0)
    exact = game.shapley_values()
    epsilon = cell.epsilon * float(np.ptp(exact))
    start = time.perf_counter()
    outcome = races(game, exact, cell.algorithm, k=K, epsilon=epsilon, delta=cell.delta, runs=runs)
    return Result(outcome, (time.perf_counter() - start) / runs)


def report(results: Mapping[Cell, Result]) -> None:
    """Print a line for every game and algorithm."""
    print(f"{'game':<16}{'algorithm':<10}{'evaluations':>13}{'fewer':>8}   {'wrong':<32}{'seconds':>9}")
    for cell, (outcome, seconds) in results.items():
        mean = float(np.mean(outcome.evaluations))
        rival = results.get(cell._replace(algorithm=PUBLISHED))
        fewer = float("nan") if rival is None else float(np.mean(rival.outcome.evaluations)) / mean
        name = f"{cell.game:<16}{cell.algorithm:<10}{mean:>13.0f}{fewer:>8.2f}"
        print(f"{name}   {failure_rate(outcome.wrong):<32}{seconds:>9.1f}")


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Evaluations until confident in games of many players.")
    every = ["unanimity-30", "unanimity-60", "unanimity-100", "unanimity-300", "trees-30", "trees-50"]
    parser.add_argument("--games", nargs="+", default=every)
    parser.add_argument("--algorithms", nargs="+", default=["odd-gp@k", "swap@k", PUBLISHED])
    parser.add_argument("--epsilon", type=float, default=0.05, help="part of the range of the Shapley values")
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    cells = [
        Cell(game, algorithm, options.epsilon, options.delta)
        for game, algorithm in product(options.games, options.algorithms)
    ]
    terms = f"k={K}, epsilon={options.epsilon:g} of the range, delta={options.delta:g}, {options.runs} runs"
    print(f"{circumstances()}\n\n{terms}")
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        results = dict(zip(cells, pool.map(run_cell, cells, [options.runs] * len(cells)), strict=True))
    report(results)


if __name__ == "__main__":
    main()
