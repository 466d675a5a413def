"""What the engine brings and what it costs: workers, the store, known coalitions, memory of a large game, threads.

    python benchmarks/engine.py            # all five
    python benchmarks/engine.py workers    # or some of them: workers, store, known, memory, threads

Machines are noisy: compare lines of one run with each other, not with those of another day.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import topshap
from topshap.core.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalition, Coalitions, Values

REPEATS = 5


def slow(coalition: Coalition) -> float:
    """Return a sum of weights after 50 ms."""
    time.sleep(0.05)
    return float(np.flatnonzero(coalition).sum())


class TimedGame:
    """A trivial vectorised game that knows how long it was at work itself."""

    def __init__(self, n: int) -> None:
        self.n_players = n
        self.seconds = 0.0
        self._weights = np.random.default_rng(0).random(n)

    def __call__(self, coalitions: Coalitions) -> Values:
        """Return the sum of the members' weights."""
        start = time.perf_counter()
        values: Values = coalitions @ self._weights
        self.seconds += time.perf_counter() - start
        return values


def workers() -> None:
    """Print how long a run with a value function of 50 ms takes with one and with two workers."""
    game = topshap.games.per_coalition(slow, n_players=14)
    topshap.Oracle(game, n_jobs=2)(np.eye(14, dtype=np.bool_))  # the workers are up, and have imported what they need
    seconds = {}
    for n_jobs in (1, 2):
        start = time.perf_counter()
        topshap.identify(game, k=3, budget=300, random_state=0, n_jobs=n_jobs)
        seconds[n_jobs] = time.perf_counter() - start
        print(f"50 ms a value, n=14, budget 300, n_jobs={n_jobs}: {seconds[n_jobs]:.2f} s")
    print(f"speed-up with two workers: {seconds[1] / seconds[2]:.2f}")


def store() -> None:
    """Print the overhead per distinct coalition of runs with a store, and of running them again from it.

    Making a file and closing it takes as long as some waits for the disk, whatever the number of coalitions.
    """
    for budget in (2000, 2**14):
        best: dict[str, float] = {}
        for _ in range(REPEATS):
            with tempfile.TemporaryDirectory() as folder:
                kept = topshap.Store(Path(folder) / "run.db", game="benchmark")
                for name, where in (("without a store", None), ("stored", kept), ("answered from the store", kept)):
                    game = TimedGame(14)
                    start = time.perf_counter()
                    top = topshap.identify(game, k=3, budget=budget, store=where, algorithm="cmcs", random_state=0)
                    took = (time.perf_counter() - start - game.seconds) / top.evaluations * 1e6
                    best[name] = min(took, best.get(name, np.inf))
        for name, microseconds in best.items():
            print(f"n=14, {top.evaluations} coalitions, {name}: {microseconds:.1f} us per distinct coalition")


def known() -> None:
    """Print how long the ledger takes to answer 1000 coalitions that it knows."""
    for n in (14, 100, 1000):
        rows = np.random.default_rng(0).random((1000, n)) < 0.5
        ledger = Ledger(n)
        bill = ledger.price(rows)
        ledger.enter(bill, np.zeros(len(bill.unpaid)))
        runs = []
        for _ in range(20):
            start = time.perf_counter()
            ledger.enter(ledger.price(rows), np.empty(0))
            runs.append(time.perf_counter() - start)
        print(f"n={n}: {min(runs) * 1e3:.2f} ms per 1000 known coalitions")


def memory() -> None:
    """Print the memory at the peak of large runs with a store, each in a process of its own."""
    for algorithm in ("cmcs", "greedy-cmcs", "stratified-svarm"):
        subprocess.run([sys.executable, __file__, "large", "--algorithm", algorithm], check=True)  # noqa: S603 - this file


def large(algorithm: str) -> None:
    """Run one large game with a store and print the memory at the peak."""
    with tempfile.TemporaryDirectory() as folder:
        kept = topshap.Store(Path(folder) / "run.db", game="benchmark")
        start = time.perf_counter()
        top = topshap.identify(TimedGame(2000), k=5, budget=40_000, algorithm=algorithm, random_state=0, store=kept)
        seconds = time.perf_counter() - start
        size = kept.info().size / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"n=2000, {top.evaluations} coalitions, {top.algorithm}: peak memory {peak:.2f} GB, "
        f"store {size:.0f} MB, {seconds:.0f} s"
    )


def threads() -> None:
    """Print how long odd-gp thinks where BLAS has a thread for every core, with threadpoolctl and without."""
    every_core = str(os.cpu_count() or 1)
    environment = {**os.environ, "OMP_NUM_THREADS": every_core, "OPENBLAS_NUM_THREADS": every_core}
    for what in ("thinking", "thinking-without-threadpoolctl"):
        subprocess.run([sys.executable, __file__, what], check=True, env=environment)  # noqa: S603 - this file


def thinking(*, threadpoolctl: bool) -> None:
    """Print how long odd-gp takes for 1000 evaluations of a game that costs nothing."""
    if not threadpoolctl:
        sys.modules.update({"threadpoolctl": None})  # type: ignore[dict-item]  # as if it were not installed
    game = topshap.games.TableGame(np.random.default_rng(0).random(2**14))
    runs = []
    for seed in range(REPEATS):
        start = time.perf_counter()
        topshap.identify(game, k=5, budget=1000, algorithm="odd-gp", random_state=seed)
        runs.append(time.perf_counter() - start)
    how = "with" if threadpoolctl else "without"
    print(f"odd-gp, n=14, 1000 evaluations, {os.cpu_count()} cores, {how} threadpoolctl: {np.median(runs):.2f} s")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["workers", "store", "known", "memory", "threads"])
    parser.add_argument("--algorithm", default="cmcs", help="of the large run")
    options = parser.parse_args()
    measures: dict[str, Callable[[], None]] = {
        "workers": workers,
        "store": store,
        "known": known,
        "memory": memory,
        "large": lambda: large(options.algorithm),
        "threads": threads,
        "thinking": lambda: thinking(threadpoolctl=True),
        "thinking-without-threadpoolctl": lambda: thinking(threadpoolctl=False),
    }
    for what in options.what:
        measures[what]()


if __name__ == "__main__":
    main()
