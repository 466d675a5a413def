"""odd-gp against least squares on games of many players with known Shapley values.

The rivals are least squares with the leverage scores of Musco and Witter (2025), "Provably Accurate Shapley Value
Estimation via Leverage Score Sampling" (complement pairs, uniform sizes, without replacement, weighted by the Shapley
kernel, efficient), and ``kernelshap``. For each kind of game, the report shows the root mean squared error of all
Shapley values and the inclusion-exclusion error of the top 10, both as fractions of the range of the Shapley values;
the ratio of odd-gp's root mean squared error to that of leverage least squares; and, for odd-gp, the CPU seconds
without those of the game and the peak memory of its process. The games run one after the other, each in a separate
process.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tqdm import tqdm

import topshap
from topshap.core.coalitions import with_complements
from topshap.reference.metrics import inclusion_exclusion_error, mean_squared_error
from topshap_bench.instrumented import TimedGame
from topshap_bench.known_games import KINDS
from topshap_bench.least_squares import draw_pairs, kernel_least_squares
from topshap_bench.parallel import one_thread
from topshap_bench.summary import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.core.typing import Values

K = 10
OURS = "odd-gp"
LEVERAGE = "leverage"
RIVALS = (LEVERAGE, "kernelshap")
TARGET_RATIO, TARGET_SECONDS, TARGET_MB = 0.7, 30.0, 2048.0


class Setting(NamedTuple):
    """One game and one budget."""

    kind: str
    n: int
    per_player: int
    seed: int


class Outcome(NamedTuple):
    """The root mean squared and inclusion-exclusion errors of all algorithms, and the cost of odd-gp."""

    squared: dict[str, float]
    error: dict[str, float]
    seconds: float
    megabytes: float

    @property
    def ratio(self) -> float:
        """The root mean squared error of odd-gp divided by that of leverage least squares."""
        return self.squared[OURS] / self.squared[LEVERAGE]


def large_games(
    *,
    players: Sequence[int] = (500, 1000),
    per_player: Sequence[int] = (5, 10),
    kinds: Sequence[str] = tuple(KINDS),
    seeds: int = 1,
) -> str:
    """Run every kind of game with several numbers of players and evaluations per player, and return the report."""
    one_thread()
    groups = list(product(players, per_player, kinds))
    settings = [Setting(kind, n, per, seed) for n, per, kind in groups for seed in range(seeds)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        outcomes = list(tqdm(pool.map(run_setting, settings), total=len(settings), unit="game", disable=None))
    by_group = [outcomes[start : start + seeds] for start in range(0, len(outcomes), seeds)]
    lines = [_line(kind, n, per * n, of_it) for (n, per, kind), of_it in zip(groups, by_group, strict=True)]
    shown = [f"{name} {measure}" for measure in ("RMSE", "error") for name in (OURS, *RIVALS)]
    ratio = _geometric_mean([_geometric_mean([o.ratio for o in of_it]) for of_it in by_group])
    slowest, largest = max(o.seconds for o in outcomes), max(o.megabytes for o in outcomes)
    return "\n".join(
        [
            f"k={K}, {seeds} seeds, topshap {topshap.__version__}",
            "root mean squared errors (RMSE) and inclusion-exclusion errors in thousandths of the range",
            as_text(["kind", "n", "budget", *shown, "ratio", "s", "MB"], lines),
            f"\nratio of root mean squared errors {ratio:.3f} (target {TARGET_RATIO})",
            f"slowest {slowest:.1f} s (target {TARGET_SECONDS:.0f}), peak {largest:.0f} MB (target {TARGET_MB:.0f})",
        ]
    )


def run_setting(setting: Setting) -> Outcome:
    """Run all algorithms on a game, odd-gp first so that the peak memory is its own."""
    known = KINDS[setting.kind](setting.n, setting.seed)
    game = TimedGame(known)
    budget = setting.per_player * setting.n
    start = time.process_time()
    estimates = {OURS: estimate(game, OURS, budget, setting.seed)}
    seconds = time.process_time() - start - game.seconds
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    estimates |= {rival: estimate(game, rival, budget, setting.seed) for rival in RIVALS}
    exact = known.shapley_values()
    spread = float(np.ptp(exact))
    tops = {name: np.argsort(-phi, kind="stable")[:K] for name, phi in estimates.items()}
    return Outcome(
        {name: np.sqrt(mean_squared_error(exact, phi)) / spread for name, phi in estimates.items()},
        {name: inclusion_exclusion_error(exact, top) / spread for name, top in tops.items()},
        seconds,
        megabytes,
    )


def estimate(game: TimedGame, algorithm: str, budget: int, seed: int) -> Values:
    """Return the estimates of an algorithm; raise an error if it exceeds the budget."""
    before = game.rows
    if algorithm == LEVERAGE:
        phi = leverage_least_squares(game, budget, seed)
    else:
        phi = topshap.identify(game, k=K, budget=budget, algorithm=algorithm, random_state=seed).estimates
    if game.rows - before > budget:
        raise RuntimeError(f"{algorithm} exceeded its budget of {budget}: it took {game.rows - before} evaluations")
    return phi


def leverage_least_squares(game: TimedGame, budget: int, seed: int) -> Values:
    """Return the least-squares estimates from complement pairs drawn by their leverage scores."""
    n = game.n_players
    empty, grand = game(np.array([[False] * n, [True] * n])).tolist()
    drawn = with_complements(draw_pairs(n, (budget - 2) // 2, 0.0, np.random.default_rng(seed)))
    return kernel_least_squares(drawn, game(drawn) - empty, grand - empty)


def _geometric_mean(numbers: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(numbers))))


def _line(kind: str, n: int, budget: int, outcomes: Sequence[Outcome]) -> list[str]:
    """Return the line of a kind of game, with means over seeds."""
    errors = [
        f"{1000 * np.mean([each[algorithm] for each in of_it]):.3f}"
        for of_it in ([o.squared for o in outcomes], [o.error for o in outcomes])
        for algorithm in (OURS, *RIVALS)
    ]
    ratio = f"{_geometric_mean([o.ratio for o in outcomes]):.3f}"
    seconds = f"{np.mean([o.seconds for o in outcomes]):.1f}"
    return [kind, str(n), str(budget), *errors, ratio, seconds, f"{max(o.megabytes for o in outcomes):.0f}"]
