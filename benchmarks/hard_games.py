"""How often races that stop by themselves are wrong on games made to deceive them.

    python benchmarks/hard_games.py [--kinds near-tie rare-pivot ...] [--algorithms swap@k] [--delta 0.01 0.05 0.1]
    python benchmarks/hard_games.py --kinds near-tie tie --epsilon 0

Games are drawn at random, small enough for exact Shapley values. For every kind, algorithm, epsilon and delta it prints
the mean number of evaluations, which part of all coalitions that is, and how many runs had an inclusion-exclusion error
above epsilon, with the Clopper-Pearson interval of that rate; then the worst single game. The exit code is 1 if a rate
is significantly above delta.

near-tie      interactions and noise; the two players next to the border differ by 1% of the range
tie           the same, but they do not differ
rare-pivot    weights, and three players who add up to ten times as much in one coalition of 128 to 1024
all-rare      nobody contributes but in a few patterns of at least five others
unanimity     sums of unanimity games of two to eight players
voting        weighted majorities
heavy-tail    weights, and noise with infinite variance
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from fixed_confidence import Outcome, failure_rate, races
from scipy.stats import binomtest

import topshap
from topshap.coalitions import from_ids
from topshap.exact import shapley_from_table
from topshap.games import TableGame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from topshap.typing import Coalitions, Values

K = 4


class Cell(NamedTuple):
    """One game of a kind, with one algorithm."""

    kind: str
    number: int
    algorithm: str
    delta: float
    epsilon: float
    players: int


def with_border_gap(table: Values, x: Coalitions, part: float) -> Values:
    """Lift the best player outside of the top k until the border gap is this part of the range."""
    phi = shapley_from_table(table)
    order = np.argsort(-phi)
    gap = phi[order[K - 1]] - phi[order[K]]
    return table + x[:, order[K]] * (gap - part * np.ptp(phi))


def rough(x: Coalitions, rng: np.random.Generator) -> Values:
    """Weights, interactions of two, and noise."""
    n = x.shape[1]
    interactions = np.triu(rng.normal(size=(n, n)), 1) * 0.5
    return x @ rng.normal(size=n) + ((x @ interactions) * x).sum(axis=1) + 0.3 * rng.normal(size=len(x))


def pattern(x: Coalitions, player: int, size: int, rng: np.random.Generator) -> Coalitions:
    """Say which coalitions have the player, and a random pattern of so many others."""
    others = rng.choice(np.delete(np.arange(x.shape[1]), player), size, replace=False)
    return x[:, player] & (x[:, others] == (rng.random(size) < 0.5)).all(axis=1)


def rare_pivot(x: Coalitions, rng: np.random.Generator) -> Values:
    """Weights, and three players who add much in few coalitions."""
    n = x.shape[1]
    table = x @ np.sort(rng.random(n))
    for player in rng.choice(n, 3, replace=False):
        table = table + 10.0 ** rng.uniform(0.0, 1.0) * pattern(x, int(player), int(rng.integers(6, n)), rng)
    return table


def all_rare(x: Coalitions, rng: np.random.Generator) -> Values:
    """Everybody adds 1 in a few patterns of others."""
    n = x.shape[1]
    players = np.repeat(np.arange(n), rng.integers(1, 6, n))
    return np.sum([pattern(x, int(i), int(rng.integers(5, n - 2)), rng) for i in players], axis=0).astype(np.float64)


def unanimity(x: Coalitions, rng: np.random.Generator) -> Values:
    """Add up unanimity games."""
    n = x.shape[1]
    sets = [rng.choice(n, rng.integers(2, 9), replace=False) for _ in range(2 * n)]
    return np.sum([rng.exponential() * x[:, members].all(axis=1) for members in sets], axis=0)


def voting(x: Coalitions, rng: np.random.Generator) -> Values:
    """Weighted majorities."""
    votes = rng.integers(1, 30, x.shape[1])
    return (x @ votes >= int(votes.sum() * rng.uniform(0.4, 0.8))).astype(np.float64)


def heavy_tail(x: Coalitions, rng: np.random.Generator) -> Values:
    """Weights, and noise that has no variance."""
    return x @ (0.1 * np.arange(x.shape[1])) + 0.2 * rng.standard_t(1.5, len(x))


KINDS: Mapping[str, Callable[[Coalitions, np.random.Generator], Values]] = {
    "near-tie": lambda x, rng: with_border_gap(rough(x, rng), x, 0.01),
    "tie": lambda x, rng: with_border_gap(rough(x, rng), x, 0.0),
    "rare-pivot": rare_pivot,
    "all-rare": all_rare,
    "unanimity": unanimity,
    "voting": voting,
    "heavy-tail": heavy_tail,
}


def run_cell(cell: Cell, runs: int) -> Outcome:
    """Run a cell with different seeds."""
    x = from_ids(np.arange(2**cell.players), cell.players)
    rng = np.random.default_rng([list(KINDS).index(cell.kind), cell.number])
    game = TableGame(KINDS[cell.kind](x, rng))
    exact = game.shapley_values()
    epsilon = cell.epsilon * float(np.ptp(exact))
    return races(game, exact, cell.algorithm, k=K, epsilon=epsilon, delta=cell.delta, runs=runs)


def report(results: Mapping[Cell, Outcome]) -> bool:
    """Print a line for every kind, algorithm and delta; return whether no rate is significantly above delta."""
    columns = f"{'evaluations':>13}{'part':>7}   wrong{'worst game':>42}"
    print(f"{'kind':<12}{'algorithm':<10}{'epsilon':>8}{'delta':>7}{columns}")
    fine = True
    groups: Iterable[tuple[str, str, float, float]] = dict.fromkeys(
        (c.kind, c.algorithm, c.epsilon, c.delta) for c in results
    )
    for kind, algorithm, epsilon, delta in groups:
        group = (kind, algorithm, epsilon, delta)
        cells = [c for c in results if (c.kind, c.algorithm, c.epsilon, c.delta) == group]
        wrong = [w for c in cells for w in results[c].wrong]
        spent = float(np.mean([results[c].evaluations for c in cells]))
        worst = max(cells, key=lambda c: sum(results[c].wrong))
        fine &= binomtest(sum(wrong), len(wrong), delta, alternative="greater").pvalue > 0.001
        name = f"{kind:<12}{algorithm:<10}{epsilon:>8g}{delta:>7g}{spent:>13.0f}{spent / 2 ** cells[0].players:>7.2f}"
        print(f"{name}   {failure_rate(wrong)}   {worst.number}: {failure_rate(results[worst].wrong).strip()}")
    return fine


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Failures of races that stop by themselves on deceptive games.")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--algorithms", nargs="+", default=["odd-gp@k", "swap@k"])
    parser.add_argument("--delta", type=float, nargs="+", default=[0.01, 0.05, 0.1])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.002], help="parts of the range of the values")
    parser.add_argument("--players", type=int, default=10)
    parser.add_argument("--games", type=int, default=50, help="games of each kind")
    parser.add_argument("--runs", type=int, default=20, help="runs of each game")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    cells = [
        Cell(kind, number, algorithm, delta, epsilon, options.players)
        for kind, algorithm, epsilon, delta in product(
            options.kinds, options.algorithms, options.epsilon, options.delta
        )
        for number in range(options.games)
    ]
    print(f"k={K}, n={options.players}, epsilon in parts of the range, topshap {topshap.__version__}")
    repeated = [options.runs] * len(cells)
    if options.jobs == 1:
        return 0 if report(dict(zip(cells, map(run_cell, cells, repeated), strict=True))) else 1
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        results = dict(zip(cells, pool.map(run_cell, cells, repeated), strict=True))
    return 0 if report(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
