"""Attacks with SIGKILL: a resumed run has the result of an undisturbed one, and repeats only what was in flight."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from chaos.children import STARTED, Child
from chaos.games import Log, Setup, check_store, run_child

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

RUN = f"{run_child.__module__}:{run_child.__name__}"


def kill_and_resume(rng: np.random.Generator, folder: Path) -> None:
    """Kill a run several times, alone or with its workers, and resume it."""
    setup, log = Setup.draw(rng), Log(folder / "log")
    kills = int(rng.integers(1, 4))
    with ExitStack() as children:
        for _ in range(kills):
            child = children.enter_context(Child(RUN, folder, setup=vars(setup)))
            child.wait_for_start()
            if rng.random() < 0.7:  # workers take a while to start
                before = log.read("start").total()
                child.wait_until(lambda before=before: log.read("start").total() > before)  # type: ignore[misc]
            time.sleep(rng.exponential(0.2))
            child.kill(group=bool(rng.random() < 0.5))
        resumed = children.enter_context(Child(RUN, folder, setup=vars(setup)))
        _check_result(resumed, setup)
    started = log.read("start")
    repeated = started.total() - len(started)
    assert repeated <= kills * setup.in_flight, f"{repeated} evaluations repeated after {kills} kills of {setup}"
    _check_stored(folder, setup)


def kill_shared(rng: np.random.Generator, folder: Path) -> None:
    """Kill some of the processes that share a store; the others finish."""
    setup, log = Setup.draw(rng), Log(folder / "log")
    setup.n_jobs = 1
    processes, killed = 3, int(rng.integers(1, 3))
    with ExitStack() as stack:
        children = [stack.enter_context(Child(RUN, folder, setup=vars(setup))) for _ in range(processes)]
        for child in children[:killed]:
            child.wait_for_start()
            time.sleep(rng.exponential(0.2))
            child.kill(group=True)
        for child in children[killed:]:
            _check_result(child, setup)
    started = log.read("start")
    bound = 1.1 * len(started) + processes * setup.in_flight
    assert started.total() <= bound, f"{started.total()} evaluations of {len(started)} coalitions by {setup}"
    _check_stored(folder, setup)


def _check_result(child: Child, setup: Setup) -> None:
    assert child.check() == f"{STARTED}\n{setup.expected()}\n", f"another result of {setup}:\n{child.out}"


def _check_stored(folder: Path, setup: Setup) -> None:
    stored, started = check_store(folder / "run.db"), set(Log(folder / "log").read("start"))
    assert stored == started, f"{len(started - stored)} evaluated coalitions are not in the store of {setup}"
