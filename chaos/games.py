"""The game of most attacks, and runs of it whose evaluations are logged."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

import topshap
from chaos.children import STARTED

if TYPE_CHECKING:
    from pathlib import Path

    from topshap.core.typing import Coalition, Coalitions, Values

N_PLAYERS = 12
NAME = "chaos-v1"
_WEIGHTS = np.random.default_rng(12).normal(size=N_PLAYERS)


def worth(coalition: Coalition) -> float:
    """Return the value of a coalition: a sum of weights, and an interaction."""
    return float(np.where(coalition, _WEIGHTS, 0.0).sum() + 0.3 * (coalition[0] and coalition[5]))


def values_of(coalitions: Coalitions) -> Values:
    """Return the values of several coalitions."""
    return np.array([worth(row) for row in coalitions])


def check_store(path: Path) -> set[str]:
    """Return the coalitions in a store as text; a value that is not the game's is a finding."""
    found: set[str] = set()
    with topshap.Store(path, game=NAME) as store:
        for coalitions, _, values in store.read():
            assert np.array_equal(values, values_of(coalitions)), f"a wrong value in the store {path}"
            found.update(row.tobytes().hex() for row in coalitions)
    return found


@dataclass
class Log:
    """The evaluations of all processes: a line at the start and at the end of each."""

    path: Path

    def write(self, kind: str, coalition: Coalition) -> None:
        """Append a line in one system call, which survives a kill."""
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{kind} {coalition.tobytes().hex()}\n".encode())
        os.close(file)

    def read(self, kind: str) -> Counter[str]:
        """Return how often each coalition was evaluated: "start" counts all, "end" those with a value."""
        lines = self.path.read_text().split("\n") if self.path.exists() else []
        return Counter(line.partition(" ")[2] for line in lines if line.startswith(kind))


@dataclass
class Paid:
    """A function of one coalition that takes a while and logs its calls."""

    log: Log
    seconds: float

    def __call__(self, coalition: Coalition) -> float:
        """Return the value of a coalition."""
        self.log.write("start", coalition)
        time.sleep(self.seconds)
        value = worth(coalition)
        self.log.write("end", coalition)
        return value


@dataclass
class PaidLater(Paid):
    """The same as a coroutine."""

    async def __call__(self, coalition: Coalition) -> float:  # type: ignore[override]
        """Return the value of a coalition."""
        self.log.write("start", coalition)
        await asyncio.sleep(self.seconds)
        value = worth(coalition)
        self.log.write("end", coalition)
        return value


@dataclass
class Setup:
    """How a run is made; drawn at random, and passed to children as JSON."""

    n_jobs: int
    backend: str
    asynchronous: bool
    algorithm: str
    budget: int
    k: int
    seed: int
    seconds: float

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Setup:
        """Return a random setup."""
        n_jobs = int(rng.integers(1, 3))
        return cls(
            n_jobs=n_jobs,
            backend=str(rng.choice(["loky", "threading"])),
            asynchronous=bool(rng.random() < 0.3),
            algorithm=str(rng.choice(["auto", "greedy-cmcs", "cmcs", "kernelshap", "approshapley"])),
            budget=int(rng.integers(20, 120)),
            k=int(rng.integers(1, N_PLAYERS)),
            seed=int(rng.integers(1000)),
            seconds=float(rng.choice([0.001, 0.005, 0.01])),
        )

    @property
    def options(self) -> Any:
        """The options of the race."""
        return {"k": self.k, "budget": self.budget, "algorithm": self.algorithm, "random_state": self.seed}

    @property
    def in_flight(self) -> int:
        """The largest number of evaluations at the same time."""
        return self.n_jobs

    def expected(self) -> str:
        """Return the result of a run that nothing disturbs."""
        return summary(topshap.identify(values_of, N_PLAYERS, **self.options))

    def run(self, folder: Path, **options: Any) -> topshap.TopK:
        """Return the result of a run with the store and the log in this folder."""
        log, store = Log(folder / "log"), topshap.Store(folder / "run.db", game=NAME)
        if self.asynchronous:
            later = topshap.games.per_coalition(PaidLater(log, self.seconds), N_PLAYERS)
            return asyncio.run(topshap.aidentify(later, store=store, concurrency=self.n_jobs, **self.options))
        game = topshap.games.per_coalition(Paid(log, self.seconds), N_PLAYERS)
        with joblib.parallel_config(backend=self.backend):
            return topshap.identify(game, store=store, n_jobs=self.n_jobs, **self.options, **options)


def summary(top: topshap.TopK) -> str:
    """Return all of a result that has to be the same to the bit."""
    numbers = top.estimates.tobytes().hex() + top.std_errors.tobytes().hex()
    return f"{top.players.tolist()} {top.evaluations} {top.calls} {top.stopped} {numbers}"


def run_child(folder: Path, setup: dict[str, Any]) -> None:
    """Run a setup in a child process and print the result."""
    print(STARTED, flush=True)
    print(summary(Setup(**setup).run(folder)), flush=True)
