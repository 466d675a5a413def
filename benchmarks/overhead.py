"""How long topshap itself takes per access to a value, against a game that costs next to nothing.

    python benchmarks/overhead.py                      # n=14, budget 2000, every algorithm
    python benchmarks/overhead.py --players 1000 --budget 20000
    python benchmarks/overhead.py --players 20000 --budget 20003 --algorithms cmcs

Prints the time of a whole run, less the time spent inside the game, per access, for the quickest of several repeats,
and the memory at the peak. Machines are noisy: compare lines of one run with each other, not with those of another day.
"""

from __future__ import annotations

import argparse
import os
import resource
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from typing import TYPE_CHECKING

import numpy as np

import topshap
from topshap.algorithms import ALGORITHMS

if TYPE_CHECKING:
    from topshap.typing import Coalitions, Values


class TimedAdditiveGame:
    """A trivial vectorised game that knows how long it was at work itself."""

    def __init__(self, n: int) -> None:
        self.n_players = n
        self.seconds = 0.0
        self._weights = np.random.default_rng(0).random(n)

    def __call__(self, coalitions: Coalitions) -> Values:
        """Return the sum of the members' weights."""
        start = time.perf_counter()
        values = coalitions @ self._weights
        self.seconds += time.perf_counter() - start
        return values


def microseconds_per_access(algorithm: str, n: int, budget: int, repeats: int) -> tuple[float, float, int]:
    """Return the overhead and the time of the game itself per access in the quickest run, and the accesses."""
    runs, calls = [], 0
    for seed in range(repeats):
        game = TimedAdditiveGame(n)
        start = time.perf_counter()
        top = topshap.identify(
            game, k=min(5, n), budget=budget, algorithm=algorithm, counting="calls", random_state=seed
        )
        seconds = time.perf_counter() - start
        calls = top.calls
        runs.append(((seconds - game.seconds) / calls * 1e6, game.seconds / calls * 1e6))
    return *min(runs), calls


def main() -> None:
    """Print a line for each algorithm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=14)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS))
    options = parser.parse_args()
    print(f"n={options.players}, budget {options.budget}, quickest of {options.repeats} runs, one thread")
    print(f"{'algorithm':<18}{'overhead us/access':>20}{'game us/access':>16}{'accesses':>10}{'peak MB':>9}")
    for algorithm in options.algorithms:
        microseconds_per_access(algorithm, options.players, min(options.budget, 4 * options.players), 1)  # warm up
        overhead, inside, calls = microseconds_per_access(algorithm, options.players, options.budget, options.repeats)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{algorithm:<18}{overhead:>20.2f}{inside:>16.2f}{calls:>10}{peak:>9.0f}")


if __name__ == "__main__":
    main()
