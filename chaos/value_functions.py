"""Attacks with value functions that fail: a run ends with an error that names the cause, or with a right result."""

from __future__ import annotations

import asyncio
import math
import os
import re
import sys
import time
import warnings
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import joblib
import numpy as np

import topshap
from chaos.children import GIBIBYTE, run
from chaos.games import N_PLAYERS, NAME, Log, check_store, summary, values_of, worth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from topshap.core.typing import Coalition, Coalitions, Values

TIMEOUT = 0.3


class Unspeakable:
    """An object that cannot be printed, converted or compared."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __float__(self) -> float:
        raise ZeroDivisionError("no float")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise OSError("no array")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class UnspeakableError(Exception):
    """An error without a message."""

    def __str__(self) -> str:
        raise RuntimeError("no message")


def _raise(error: BaseException) -> NoReturn:
    raise error


def _recurse(coalition: Coalition) -> float:
    return _recurse(coalition) + 1.0


def _hang(_: Coalition) -> float:
    time.sleep(60.0)
    return 0.0


def _change_argument(coalition: Coalition) -> float:
    value = worth(coalition)
    coalition[:] = ~coalition
    return value


def _warn(coalition: Coalition) -> float:
    warnings.warn("a warning of the game", UserWarning, stacklevel=1)
    return worth(coalition)


ANSWERS: dict[str, Callable[[Coalition], Any]] = {
    "array of no dimensions": lambda row: np.array(worth(row)),
    "numpy scalar": lambda row: np.float64(worth(row)),
    "decimal": lambda row: Decimal(worth(row)),
    "fraction": lambda row: Fraction(worth(row)),
    "changes its argument": _change_argument,
    "warns": _warn,
}
"""Answers that are right."""

ERRORS: dict[str, tuple[Callable[[Coalition], Any], str]] = {
    "raises": (lambda _: _raise(RuntimeError("boom")), "RuntimeError: boom"),
    "raises a KeyError": (lambda _: _raise(KeyError("boom")), "KeyError"),
    "raises StopIteration": (lambda _: _raise(StopIteration("boom")), "boom"),
    "raises a MemoryError": (lambda _: _raise(MemoryError("boom")), "MemoryError"),
    "raises control characters": (lambda _: _raise(ValueError("boom\x1b[2J")), "boom"),
    "raises an error without a message": (lambda _: _raise(UnspeakableError()), "UnspeakableError"),
    "recurses": (_recurse, "RecursionError"),
    "hangs": (_hang, f"{TIMEOUT:g} s"),
    "list": (lambda row: [worth(row), 1.0, 2.0], "number"),
    "matrix": (lambda _: np.zeros((2, 2)), "number"),
    "empty": (lambda _: np.array([]), "number"),
    "None": (lambda _: None, "number"),
    "text": (lambda _: "3.0", "number"),
    "bytes": (lambda _: b"3.0", "number"),
    "dict": (lambda _: {"value": 3.0}, "number"),
    "function": (lambda _: worth, "number"),
    "generator": (lambda row: (value for value in row), "number"),
    "complex": (lambda _: 1j, "number"),
    "date": (lambda _: np.datetime64("2024-01-01"), "number"),
    "large int": (lambda _: 10**400, "number|too large"),
    "nan": (lambda _: math.nan, "finite number"),
    "inf": (lambda _: -math.inf, "finite number"),
    "huge": (lambda _: 1e305, "finite number"),
    "masked": (lambda _: np.ma.masked, "number"),
    "unspeakable": (lambda _: Unspeakable(), "number|no float|no array"),
    "list of unspeakable": (lambda _: [Unspeakable()], "number|no float|no array"),
    "ends its worker": (lambda _: os._exit(3), "worker"),
}
"""Answers that are wrong, and what the error has to say, as a regular expression."""


@dataclass
class Hostile:
    """A function of one coalition that does something hostile for some coalitions, and logs the other calls."""

    log: Log
    kind: str
    salt: int

    def __call__(self, coalition: Coalition) -> Any:
        """Return the value of a coalition, or attack."""
        if self.is_attacked(coalition):
            return ANSWERS[self.kind](coalition) if self.kind in ANSWERS else ERRORS[self.kind][0](coalition)
        value = worth(coalition)
        self.log.write("end", coalition)
        return value

    def is_attacked(self, coalition: Coalition) -> bool:
        """Return whether a coalition is one of the few."""
        number = int.from_bytes(np.packbits(coalition).tobytes(), "little")
        proper = 0 < int(coalition.sum()) < N_PLAYERS
        return proper and (number * 2654435761 + self.salt) % 97 < 5


@dataclass
class HostileLater(Hostile):
    """The same as a coroutine."""

    async def __call__(self, coalition: Coalition) -> Any:
        """Return the value of a coalition, or attack."""
        if self.kind == "hangs" and self.is_attacked(coalition):
            await asyncio.sleep(60.0)
        return super().__call__(coalition)


def value_functions(rng: np.random.Generator, folder: Path) -> None:
    """Run several hostile games, in a child process for those that leave threads behind or end their worker."""
    kinds = [str(kind) for kind in rng.choice([*ANSWERS, *ERRORS, "denormal", "noisy"], size=3, replace=False)]
    for number, kind in enumerate(kinds):
        part = folder / str(number)
        part.mkdir()
        n_jobs = 2 if kind == "ends its worker" or rng.random() < 0.15 else 1
        backend = "threading" if n_jobs == 2 and kind != "ends its worker" and rng.random() < 0.5 else "loky"
        if n_jobs == 1 and kind in ERRORS and rng.random() < 0.25:
            backend = "async"
        arguments = {"n_jobs": n_jobs, "backend": backend, "seed": int(rng.integers(1000))}
        function = {"denormal": "run_denormal", "noisy": "run_noisy"}.get(kind, "run_hostile")
        run(f"chaos.value_functions:{function}", part, memory=8 * GIBIBYTE, kind=kind, **arguments)


def run_hostile(folder: Path, kind: str, n_jobs: int, backend: str, seed: int) -> None:
    """Run a hostile game in a child process."""
    log = Log(folder / "log")
    hostile: Any = HostileLater(log, kind, seed) if backend == "async" else Hostile(log, kind, seed)
    timeout = TIMEOUT if kind == "hangs" else None
    game = topshap.games.per_coalition(hostile, N_PLAYERS)
    store = topshap.Store(folder / "run.db", game=NAME)
    oracle = topshap.Oracle(game, retries=seed % 2, backoff=0.001, timeout=timeout, store=store)
    options: Any = {"k": 3, "budget": 100, "random_state": seed}
    sys.stderr.write(f"{kind}, n_jobs={n_jobs}, backend={backend}, seed={seed}\n")
    try:
        if backend == "async":
            top = asyncio.run(topshap.aidentify(oracle, **options))
        else:
            with joblib.parallel_config(backend=backend):
                top = topshap.identify(oracle, n_jobs=n_jobs, **options)
    except topshap.TopshapError as error:
        assert kind in ERRORS, f"an error for a right answer: {error}"
        says = ERRORS[kind][1]
        assert re.search(says, str(error)), f"the cause {says!r} is not named: {error}"
    else:
        assert kind in ANSWERS or top.evaluations == len(log.read("end")), f"a value was made up for {kind}: {top}"
        assert summary(top) == summary(topshap.identify(values_of, N_PLAYERS, **options)), f"a wrong result: {top}"
    stored = check_store(folder / "run.db")
    lost = set(log.read("end")) - stored
    assert not lost, f"{len(lost)} values are not in the store"
    sys.stdout.flush()
    os._exit(0)  # a call that hangs stays behind in a thread


def run_denormal(folder: Path, kind: str, n_jobs: int, backend: str, seed: int) -> None:  # noqa: ARG001
    """Find the same players whatever the scale of the values."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UserWarning)
    scale = 2.0 ** float(np.random.default_rng(seed).choice([-1040, -900, -300, 300, 900]))
    names = [*topshap.algorithms.ALGORITHMS, "auto"]
    options: Any = {"k": 3, "budget": 200, "random_state": seed, "algorithm": names[seed % len(names)]}
    sys.stderr.write(f"scale={scale} {options}\n")
    normal = topshap.identify(_rounded, N_PLAYERS, **options)
    scaled = topshap.identify(lambda rows: _rounded(rows) * scale, N_PLAYERS, **options)
    assert normal.players.tolist() == scaled.players.tolist(), f"{scaled}\n{normal}"
    assert str(scaled)


def _rounded(coalitions: Coalitions) -> Values:
    """Return the values with the precision that the smallest numbers have."""
    return values_of(coalitions).astype(np.float32).astype(np.float64)


def run_noisy(folder: Path, kind: str, n_jobs: int, backend: str, seed: int) -> None:  # noqa: ARG001
    """Run a game whose values vary, declared or not, with a store."""
    rng = np.random.default_rng(seed)
    declared = bool(rng.random() < 0.5)
    game = topshap.Oracle(lambda rows: values_of(rows) + rng.normal(size=len(rows)), deterministic=not declared)
    store = topshap.Store(folder / "run.db", game=NAME)
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UserWarning)
    options: Any = {"k": 3, "budget": 100, "random_state": seed, "check_deterministic": bool(rng.random() < 0.5)}
    first = topshap.identify(game, N_PLAYERS, store=store, **options)
    second = topshap.identify(game, N_PLAYERS, store=store, **options)
    assert summary(first) == summary(second), "another result from the values in the store"
    assert len(store) == first.evaluations
