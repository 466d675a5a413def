"""odd-gp against least squares on games of many players whose Shapley values are known exactly.

    python benchmarks/large_games.py [--players 500 1000] [--per-player 5 10] [--kinds sparse ...] [--seeds 1]

Every kind of game is run with 5 and 10 evaluations per player. The rivals are least squares with the leverage scores of
Musco and Witter (2025), "Provably Accurate Shapley Value Estimation via Leverage Score Sampling": complement pairs, all
sizes alike, without replacement, weighted by the Shapley kernel and efficient; and ``kernelshap``. For each kind it
prints the root mean squared error of all Shapley values and the inclusion-exclusion error of the top 10, both as parts
of the range of the Shapley values; the ratio of odd-gp's root mean squared error to that of leverage least squares; and
for odd-gp the processor seconds without those of the game, and the memory of its process at the peak. Every game runs
in a process of its own, one after the other.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from fixed_budget import OURS
from scipy.special import expit
from tree_surrogates import least_squares

import topshap
from topshap.algorithms.odd_gp.designs import draw_pairs
from topshap.algorithms.odd_gp.integrals import unit_nodes
from topshap.core.coalitions import with_complements
from topshap.games import UnanimityGame
from topshap.reference.metrics import inclusion_exclusion_error, mean_squared_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from topshap.core.typing import Coalitions, Values

    class KnownGame(Protocol):
        """A game whose Shapley values are known."""

        @property
        def n_players(self) -> int:
            """The number of players."""

        def __call__(self, coalitions: Coalitions, /) -> Values:
            """Return the values of the rows."""

        def shapley_values(self) -> Values:
            """Return the exact Shapley values."""


K = 10
LEVERAGE = "leverage"
RIVALS = (LEVERAGE, "kernelshap")
TARGET_RATIO, TARGET_SECONDS, TARGET_MB = 0.7, 30.0, 2048.0
SIGMOID_NODES = 128


def sums_of_sets(
    n: int,
    seed: int,
    *,
    orders: Mapping[int, float],
    relevant: float = 1.0,
    heredity: bool = False,
    signed: bool = False,
    size: float = 1.0,
) -> UnanimityGame:
    """Return a sum of unanimity games.

    `orders` says for each size of set how many sets there are per player. Only the part `relevant` of the players
    occurs, but no fewer than 20. With `heredity`, players with a large effect of their own occur more often and with
    larger coefficients. `size` is the mean coefficient of the sets of two and more; single players have one of 1. A
    game of pairs and single players alone is no test: with complements, every least squares finds it exactly.
    """
    rng = np.random.default_rng([seed, n])
    active = rng.permutation(n)[: max(20, round(relevant * n))]
    strength = rng.exponential(size=len(active))
    chance = strength / strength.sum() if heredity else None
    sets, coefficients = [[i] for i in active.tolist()], list(strength)
    for order, per_player in orders.items():
        for _ in range(round(per_player * len(active))):
            members = rng.choice(len(active), size=order, replace=False, p=chance)
            sets.append(active[members].tolist())
            coefficients.append(size * rng.exponential() * (strength[members].mean() if heredity else 1.0))
    signs = rng.choice([-1.0, 1.0], size=len(sets)) if signed else np.ones(len(sets))
    return UnanimityGame(sets, signs * coefficients, n)


class DiminishingGame:
    """v(S) = 1 - the product of q_i over S: each player leaves over a part of what the others left."""

    def __init__(self, n: int, seed: int) -> None:
        self.n_players = n
        self._left = np.exp(-np.random.default_rng([seed, n]).exponential(3.0 / n, size=n))

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the values of the rows."""
        return -np.expm1(coalitions @ np.log(self._left))

    def shapley_values(self) -> Values:
        """Integrate over the chance t that another player is there already: a polynomial of degree n - 1 in t."""
        taken = 1.0 - self._left
        nodes, weights = unit_nodes(self.n_players // 2 + 1)
        factors = 1.0 - np.outer(nodes, taken)
        others = np.exp(np.log(factors).sum(axis=1))[:, None] / factors
        return taken * (weights @ others)


class SigmoidGame:
    """v(S) = expit(a + b * the sum of the weights in S), steep enough that few players decide; weights are ints."""

    def __init__(self, n: int, seed: int) -> None:
        self.n_players = n
        rng = np.random.default_rng([seed, n])
        self._weights = np.rint(rng.normal(2.0, 8.0, size=n)).astype(np.int64)
        self._middle = float(self._weights.sum()) / 2.0
        self._steepness = 4.0 / float(np.sqrt((self._weights**2).sum()))

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the values of the rows."""
        return self._of_sum(coalitions.astype(np.float64) @ self._weights)

    def _of_sum(self, total: Values) -> Values:
        return np.asarray(expit(self._steepness * (total - self._middle)))

    def shapley_values(self) -> Values:
        """Integrate over the chance t that another player is there already.

        For each t the distribution of the others' sum is the inverse Fourier transform of a product over them.
        """
        distinct, place, counts = np.unique(self._weights, return_inverse=True, return_counts=True)
        lowest, highest = (int(self._weights[part].sum()) for part in (self._weights < 0, self._weights > 0))
        length = 1 << (highest - lowest + 1).bit_length()
        sums = lowest + np.arange(length, dtype=np.float64)
        gains = [self._of_sum(sums + own) - self._of_sum(sums) for own in distinct.tolist()]
        turns = np.exp(-2j * np.pi * np.outer(distinct, np.arange(length // 2 + 1)) / length)
        phi = np.zeros(len(distinct))
        for node, weight in zip(*unit_nodes(SIGMOID_NODES), strict=True):
            factors = 1.0 - node + node * turns
            everybody = np.prod(factors ** counts[:, None], axis=0)
            for index, gain in enumerate(gains):
                chances = np.roll(np.fft.irfft(everybody / factors[index], length), -lowest)
                phi[index] += weight * float(chances @ gain)
        return phi[place]


KINDS: dict[str, Callable[[int, int], KnownGame]] = {
    "heredity": partial(sums_of_sets, orders={2: 2.0, 3: 1.0}, heredity=True),
    "sparse": partial(sums_of_sets, orders={2: 2.0, 3: 1.0}, relevant=0.03),
    "high-order": partial(sums_of_sets, orders={4: 0.5, 6: 0.5, 8: 0.5, 12: 0.5}),
    "signed": partial(sums_of_sets, orders={2: 1.0, 3: 1.0, 4: 1.0}, signed=True),
    "noisy": partial(sums_of_sets, orders={2: 2.0, 3: 2.0}, signed=True, size=0.2),
    "diminishing": DiminishingGame,
    "sigmoid": SigmoidGame,
}


class TimedGame:
    """A game that knows how long it was at work itself, and how many rows it was asked for."""

    def __init__(self, game: KnownGame) -> None:
        self.n_players = game.n_players
        self.seconds = 0.0
        self.rows = 0
        self._game = game

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the values of the rows."""
        start = time.process_time()
        values = self._game(coalitions)
        self.seconds += time.process_time() - start
        self.rows += len(coalitions)
        return values


class Cell(NamedTuple):
    """One game and one budget."""

    kind: str
    n: int
    per_player: int
    seed: int


class Outcome(NamedTuple):
    """The root mean squared and the inclusion-exclusion error of all algorithms, and what odd-gp took."""

    squared: dict[str, float]
    error: dict[str, float]
    seconds: float
    megabytes: float


def run_cell(cell: Cell) -> Outcome:
    """Run all algorithms on a game, odd-gp first so that the peak of memory is its own."""
    game = TimedGame(KINDS[cell.kind](cell.n, cell.seed))
    budget = cell.per_player * cell.n
    start = time.process_time()
    estimates = {OURS: estimate(game, OURS, budget, cell.seed)}
    seconds = time.process_time() - start - game.seconds
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    estimates |= {rival: estimate(game, rival, budget, cell.seed) for rival in RIVALS}
    exact = KINDS[cell.kind](cell.n, cell.seed).shapley_values()
    spread = float(np.ptp(exact))
    return Outcome(
        {name: np.sqrt(mean_squared_error(exact, phi)) / spread for name, phi in estimates.items()},
        {
            name: inclusion_exclusion_error(exact, np.argsort(-phi, kind="stable")[:K]) / spread
            for name, phi in estimates.items()
        },
        seconds,
        megabytes,
    )


def estimate(game: TimedGame, algorithm: str, budget: int, seed: int) -> Values:
    """Return an algorithm's estimates; none may ask for more than the budget."""
    before = game.rows
    if algorithm == LEVERAGE:
        phi = leverage_least_squares(game, budget, seed)
    else:
        phi = topshap.identify(game, k=K, budget=budget, algorithm=algorithm, random_state=seed).estimates
    assert game.rows - before <= budget
    return phi


def leverage_least_squares(game: TimedGame, budget: int, seed: int) -> Values:
    """Return what least squares makes of complement pairs drawn by their leverage scores."""
    n = game.n_players
    empty, grand = game(np.array([[False] * n, [True] * n])).tolist()
    drawn = with_complements(draw_pairs(n, (budget - 2) // 2, 0.0, np.random.default_rng(seed)))
    return least_squares(drawn, game(drawn) - empty, grand - empty)


def geometric_mean(numbers: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(numbers))))


def print_row(name: str, n: int, budget: int, outcomes: Sequence[Outcome]) -> None:
    """Print a kind of game: means over seeds."""
    row = [f"{name:<12}{n:>6}{budget:>7}"]
    for errors in ([o.squared for o in outcomes], [o.error for o in outcomes]):
        row += [f"{1000 * np.mean([e[algorithm] for e in errors]):>11.3f}" for algorithm in (OURS, *RIVALS)]
    row.append(f"{geometric_mean([o.squared[OURS] / o.squared[LEVERAGE] for o in outcomes]):>7.3f}")
    row.append(f"{np.mean([o.seconds for o in outcomes]):>7.1f}{max(o.megabytes for o in outcomes):>7.0f}")
    print(*row, flush=True)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="odd-gp against least squares on large games.")
    parser.add_argument("--players", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--per-player", type=int, nargs="+", default=[5, 10], help="evaluations per player")
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=list(KINDS))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    print(f"k={K}, {options.seeds} seeds, errors x1000 of the range, topshap {topshap.__version__}")
    print(
        f"{'kind':<12}{'n':>6}{'budget':>7}",
        *(f"{name:>11}" for name in (OURS, *RIVALS) * 2),
        f"{'ratio':>7}      s     MB",
    )
    print(f"{'':>25} {'root mean squared error':>35} {'inclusion-exclusion error':>35}")
    ratios, slowest, largest = list[float](), 0.0, 0.0
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for n, per_player, kind in product(options.players, options.per_player, options.kinds):
            cells = [Cell(kind, n, per_player, seed) for seed in range(options.seeds)]
            outcomes = list(pool.map(run_cell, cells))
            print_row(kind, n, per_player * n, outcomes)
            ratios.append(geometric_mean([o.squared[OURS] / o.squared[LEVERAGE] for o in outcomes]))
            slowest = max(slowest, *(o.seconds for o in outcomes))
            largest = max(largest, *(o.megabytes for o in outcomes))
    print(f"\nratio of root mean squared errors {geometric_mean(ratios):.3f} (target {TARGET_RATIO})")
    print(f"slowest {slowest:.1f} s (target {TARGET_SECONDS:.0f}), peak {largest:.0f} MB (target {TARGET_MB:.0f})")


if __name__ == "__main__":
    main()
