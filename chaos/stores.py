"""Attacks on the files of a store: a damaged store gives only right values, or a StoreError."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np

import topshap
from chaos.children import GIBIBYTE, run
from chaos.commands import check_command
from chaos.games import N_PLAYERS, NAME, check_store, summary, values_of
from chaos.mutations import mutate
from topshap import StoreError

if TYPE_CHECKING:
    from pathlib import Path

BUDGET = 300
COMPANIONS = ("", "-wal", "-shm", "-leases")
COPIES = 8


def corrupt_store(rng: np.random.Generator, folder: Path) -> None:
    """Damage copies of a store, with a write-ahead log or without, and use them."""
    with topshap.Store(folder / "run.db", game=NAME) as store:
        _identify(store, seed=0, budget=BUDGET)
        if rng.random() < 0.5:
            store.close()
        for i in range(COPIES):
            copy = folder / f"copy-{i}"
            copy.mkdir()
            for end in COMPANIONS:
                path = folder / f"run.db{end}"
                if path.exists():
                    shutil.copyfile(path, copy / path.name)
            _damage(copy / "run.db", rng)
    run("chaos.stores:use_all", folder, memory=4 * GIBIBYTE, seed=int(rng.integers(1000)))


def _damage(path: Path, rng: np.random.Generator) -> None:
    """Change, remove or replace some of the files of a store."""
    present = [each for end in COMPANIONS if (each := path.with_name(path.name + end)).exists()]
    for each in present:
        if each == path or rng.random() < 0.4:
            kind = rng.random()
            if kind < 0.75:
                each.write_bytes(mutate(each.read_bytes(), rng))
            elif kind < 0.85 and each != path:
                each.unlink()
            elif kind < 0.9:
                each.write_bytes(b"")
            elif kind < 0.95:
                each.chmod(0o444)
            elif each != path:
                each.unlink()
                each.mkdir()


def use_all(folder: Path, seed: int) -> None:
    """Use all damaged copies in a child process."""
    rng = np.random.default_rng(seed)
    expected = summary(topshap.identify(values_of, N_PLAYERS, k=3, budget=BUDGET, random_state=seed))
    for i in range(COPIES):
        path = folder / f"copy-{i}" / "run.db"
        sys.stderr.write(f"{path}\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            steps = ["read", "run", "check", "command", "repair", "run", "read"]
            for step in steps[int(rng.integers(len(steps) - 2)) :]:
                try:
                    _use(path, step, seed, expected)
                except StoreError as error:
                    assert str(path) in str(error) or os.fspath(path.parent) in str(error), error


def _use(path: Path, step: str, seed: int, expected: str) -> None:
    sys.stderr.write(f"{step}\n")
    store = topshap.Store(path, game=NAME)
    if step == "read":
        check_store(path)
    elif step == "run":
        assert summary(_identify(store, seed, BUDGET)) == expected, f"another result with the store {path}"
        store.close()
    elif step == "command":
        for command in (["info", path], ["check", path], ["export", path, path.with_name("out.csv")]):
            check_command(["store", *map(str, command)])
    else:
        store.check(repair=step == "repair")


def _identify(store: topshap.Store, seed: int, budget: int) -> topshap.TopK:
    return topshap.identify(values_of, N_PLAYERS, k=3, budget=budget, random_state=seed, store=store)
