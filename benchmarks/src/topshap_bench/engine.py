"""Measurements of the evaluation: workers, stores, known coalitions, memory of large games, threads.

Times depend on the machine and its load, so compare only lines of the same run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import topshap
from topshap.algorithms.odd_gp import blas
from topshap.core.ledger import Ledger
from topshap_bench.instrumented import TimedGame, additive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from topshap.core.typing import Coalition

REPEATS = 5


def slow(coalition: Coalition) -> float:
    """Return a sum of weights after 50 ms."""
    time.sleep(0.05)
    return float(np.flatnonzero(coalition).sum())


def workers() -> Iterator[str]:
    """Measure a run with a value function that takes 50 ms, with one and with two workers."""
    game = topshap.games.per_coalition(slow, n_players=14)
    topshap.Oracle(game, n_jobs=2)(np.eye(14, dtype=np.bool_))  # start the workers and import their packages
    seconds = {}
    for n_jobs in (1, 2):
        start = time.perf_counter()
        topshap.identify(game, k=3, budget=300, random_state=0, n_jobs=n_jobs)
        seconds[n_jobs] = time.perf_counter() - start
        yield f"50 ms per value, n=14, budget 300, n_jobs={n_jobs}: {seconds[n_jobs]:.2f} s"
    yield f"speed-up with two workers: {seconds[1] / seconds[2]:.2f}"


def store() -> Iterator[str]:
    """Measure the overhead per distinct coalition without a store, with a new store, and with a store of all values.

    Creating and closing a file includes a few waits for the disk, whatever the number of coalitions.
    """
    for budget in (2000, 2**14):
        best: dict[str, float] = {}
        for _ in range(REPEATS):
            with tempfile.TemporaryDirectory() as folder:
                kept = topshap.Store(Path(folder) / "run.db", game="benchmark")
                for name, where in (("without a store", None), ("stored", kept), ("answered from the store", kept)):
                    game = TimedGame(additive(14))
                    start = time.perf_counter()
                    top = topshap.identify(game, k=3, budget=budget, store=where, algorithm="cmcs", random_state=0)
                    took = (time.perf_counter() - start - game.seconds) / top.evaluations * 1e6
                    best[name] = min(took, best.get(name, np.inf))
        for name, microseconds in best.items():
            yield f"n=14, {top.evaluations} coalitions, {name}: {microseconds:.1f} us per distinct coalition"


def known() -> Iterator[str]:
    """Measure the time that the ledger takes to look up 1000 known coalitions."""
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
        yield f"n={n}: {min(runs) * 1e3:.2f} ms per 1000 known coalitions"


def memory() -> Iterator[str]:
    """Measure the peak memory of large runs with a store, each in a separate process."""
    for algorithm in ("cmcs", "greedy-cmcs", "stratified-svarm"):
        yield _in_a_process("large", "--algorithm", algorithm)


def large(algorithm: str) -> Iterator[str]:
    """Run a large game with a store and measure the peak memory of this process."""
    with tempfile.TemporaryDirectory() as folder:
        kept = topshap.Store(Path(folder) / "run.db", game="benchmark")
        start = time.perf_counter()
        game = additive(2000)
        top = topshap.identify(game, k=5, budget=40_000, algorithm=algorithm, random_state=0, store=kept)
        seconds = time.perf_counter() - start
        size = kept.info().size / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    what = f"n=2000, {top.evaluations} coalitions, {top.algorithm}"
    yield f"{what}: peak memory {peak:.2f} GB, store {size:.0f} MB, {seconds:.0f} s"


def threads() -> Iterator[str]:
    """Measure odd-gp with one BLAS thread, its default, and with one thread per core."""
    every_core = str(os.cpu_count() or 1)
    for what in ("odd-gp", "odd-gp-with-all-threads"):
        yield _in_a_process(what, OMP_NUM_THREADS=every_core, OPENBLAS_NUM_THREADS=every_core)


def odd_gp(*, one_thread: bool) -> Iterator[str]:
    """Measure odd-gp for 1000 evaluations of a game that costs nothing."""
    if not one_thread:
        blas.MAX_PLAYERS = 0
    game = topshap.games.TableGame(np.random.default_rng(0).random(2**14))
    runs = []
    for seed in range(REPEATS):
        start = time.perf_counter()
        topshap.identify(game, k=5, budget=1000, algorithm="odd-gp", random_state=seed)
        runs.append(time.perf_counter() - start)
    how = "one BLAS thread" if one_thread else "one BLAS thread per core"
    yield f"odd-gp, n=14, 1000 evaluations, {os.cpu_count()} cores, {how}: {np.median(runs):.2f} s"


def _in_a_process(*arguments: str, **environment: str) -> str:
    """Run ``topshap-bench engine`` in a separate process and return its output."""
    command = [sys.executable, "-m", "topshap_bench", "engine", *arguments]
    variables = os.environ | environment
    done = subprocess.run(  # noqa: S603 - a command of this package
        command, check=True, text=True, stdout=subprocess.PIPE, env=variables
    )
    return done.stdout.rstrip()


MEASUREMENTS: Mapping[str, Callable[[], Iterator[str]]] = {
    "workers": workers,
    "store": store,
    "known": known,
    "memory": memory,
    "threads": threads,
}
"""The measurements by name."""


def measure(what: str, algorithm: str = "cmcs") -> Iterator[str]:
    """Yield the lines of a measurement.

    Parameters
    ----------
    what
        A name in `MEASUREMENTS`, or one of the parts that run in separate processes: ``"large"``, ``"odd-gp"`` or
        ``"odd-gp-with-all-threads"``.
    algorithm
        The algorithm of ``"large"``.
    """
    if what == "large":
        return large(algorithm)
    if what.startswith("odd-gp"):
        return odd_gp(one_thread=what == "odd-gp")
    return MEASUREMENTS[what]()
