"""CPU time per access of every algorithm in `topshap.identify`, compared with shap's KernelExplainer.

The game is a sum of weights with 14 players, a budget of 2000 and ``counting="calls"``; its own time is negligible. A
separate process measures one run after the other (see `topshap_bench.overhead_probe`), and the fastest of several seeds
counts. Given the source tree of another version, a second process measures that version. The two alternate after every
run, so that the load of the machine affects both equally.

With numbers of players and budgets, the CPU time of whole runs is measured instead, on a game with interactions whose
values look like probabilities, since an algorithm that learns a model of the game has nothing to learn in a sum.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from itertools import product
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import topshap
from topshap_bench.summary import as_text, circumstances, geometric_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

PROBE = Path(__file__).with_name("overhead_probe.py")
KERNEL_EXPLAINER = "shap:kernel"


class Overhead(NamedTuple):
    """The overhead of one algorithm in microseconds per access; nan if a version does not have the algorithm."""

    algorithm: str
    new: float
    old: float
    kernel_explainer: float

    @property
    def to_kernel_explainer(self) -> float:
        """The overhead divided by that of shap's KernelExplainer."""
        return self.new / self.kernel_explainer

    @property
    def to_old(self) -> float:
        """The overhead divided by that of the other version."""
        return self.new / self.old


class RunTime(NamedTuple):
    """The CPU milliseconds of one run of an algorithm; nan if a version does not have the algorithm."""

    algorithm: str
    players: int
    budget: int
    new: float
    old: float


class Probe:
    """A process that measures one version of topshap on request.

    Parameters
    ----------
    source
        The folder that contains the package ``topshap``.
    script
        The script that measures. It prints the path of the package and the names of what it can measure, then answers
        every line of its input with a number.
    """

    def __init__(self, source: Path, script: Path = PROBE) -> None:
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(  # noqa: S603 - a script of this package
            [sys.executable, "-P", "-u", script],
            env=os.environ | one_thread | {"PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        loaded = Path(self._read())
        if not loaded.is_relative_to(source.resolve()):
            self.close()
            raise FileNotFoundError(f"{source} does not contain the package topshap; {loaded} was imported instead.")
        self.names = self._read().split()

    def measure(self, name: str, seed: int, *size: int) -> float:
        """Return the measurement of one run; nan for an unknown name.

        With the default script it is the CPU time per access of an algorithm in microseconds, or, with the number of
        players and the budget as the size, the CPU time of a run in milliseconds.
        """
        if name not in self.names:
            return float("nan")
        print(name, seed, *size, file=self._process.stdin, flush=True)
        return float(self._read())

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()

    def _read(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            raise RuntimeError(f"The process that measures topshap ended with exit code {self._process.wait()}.")
        return line.strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def overhead(
    *,
    old: Path | None = None,
    runs: int = 7,
    algorithms: Sequence[str] | None = None,
    progress: Callable[[str], object] | None = None,
) -> list[Overhead]:
    """Measure the overhead per access of every algorithm.

    Parameters
    ----------
    old
        The source tree of another version, the folder that contains its package ``topshap``. With None, only this
        version is measured.
    runs
        The number of seeds; the fastest run counts.
    algorithms
        The names of the algorithms, all by default.
    progress
        A function that is called with the name of every algorithm.
    """
    with ExitStack() as stack:
        new = stack.enter_context(Probe(Path(topshap.__file__).parents[1]))
        other = None if old is None else stack.enter_context(Probe(old))
        measured = {}
        for name in new.names:
            if algorithms is None or name in {*algorithms, KERNEL_EXPLAINER}:
                if progress is not None:
                    progress(name)
                measured[name] = fastest(name, new, other, runs)
    reference = measured[KERNEL_EXPLAINER][0] if KERNEL_EXPLAINER in measured else float("nan")
    return [Overhead(name, ours, theirs, reference) for name, (ours, theirs) in measured.items()]


def run_times(
    *,
    players: Sequence[int] = (14,),
    budgets: Sequence[int] = (100, 1000),
    old: Path | None = None,
    runs: int = 7,
    algorithms: Sequence[str] = ("odd-gp",),
    progress: Callable[[str], object] | None = None,
) -> list[RunTime]:
    """Measure whole runs with every number of players and budget; the parameters are those of `overhead`."""
    measured = []
    with ExitStack() as stack:
        new = stack.enter_context(Probe(Path(topshap.__file__).parents[1]))
        other = None if old is None else stack.enter_context(Probe(old))
        for name, n, budget in product(algorithms, players, budgets):
            if progress is not None:
                progress(f"{name}, {n} players, budget {budget}")
            measured.append(RunTime(name, n, budget, *fastest(name, new, other, runs, n, budget)))
    return measured


def fastest(name: str, new: Probe, other: Probe | None, runs: int, *size: int) -> tuple[float, float]:
    """Return the fastest run of each version; the versions alternate, and so does their order."""
    best = {new: float("inf"), other: float("inf")}
    for turn in range(runs + 1):
        for probe in (new, other) if turn % 2 else (other, new):
            took = float("nan") if probe is None else probe.measure(name, max(turn - 1, 0), *size)
            if turn > 0:  # the first turn is a warm-up
                best[probe] = min(took, best[probe])
    return best[new], best[other]


def report(measured: Sequence[Overhead], *, runs: int) -> str:
    """Return a table with a line per algorithm."""
    compared = not all(isnan(found.old) for found in measured)
    columns = ["algorithm", "us/access", "/ KernelExplainer", *(["old us/access", "new / old"] if compared else [])]
    lines = []
    for found in measured:
        line = [found.algorithm, f"{found.new:.2f}", f"{found.to_kernel_explainer:.3f}"]
        lines.append(line + ([f"{found.old:.2f}", f"{found.to_old:.3f}"] if compared else []))
    about = f"microseconds of CPU time per access, n=14, budget 2000, counting='calls', fastest of {runs} runs"
    return f"{circumstances()}\n\n{about}\n{as_text(columns, lines)}"


def report_of_run_times(measured: Sequence[RunTime], *, runs: int) -> str:
    """Return a table with a line per number of players and budget, and the mean ratio to the other version."""
    compared = not all(isnan(found.old) for found in measured)
    columns = ["algorithm", "n", "budget", "ms", *(["old ms", "new / old"] if compared else [])]
    lines = [
        [
            *(found.algorithm, found.players, found.budget, f"{found.new:.1f}"),
            *([f"{found.old:.1f}", f"{found.new / found.old:.3f}"] if compared else []),
        ]
        for found in measured
    ]
    about = f"milliseconds of CPU time per run, fastest of {runs} runs"
    text = f"{circumstances()}\n\n{about}\n{as_text(columns, lines)}"
    if not compared:
        return text
    mean = geometric_mean([float(np.log(found.new / found.old)) for found in measured])
    return f"{text}\n\ngeometric mean of new / old: {mean.ratio:.3f}"
