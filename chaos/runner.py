"""Draw attacks and seeds until the time is over, count them, and keep the seeds of findings."""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chaos import endpoints, files, interrupts, kills, options, stores, value_functions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Attack = Callable[[np.random.Generator, Path], None]

ATTACKS: Mapping[str, Attack] = {
    "kill-and-resume": kills.kill_and_resume,
    "kill-shared": kills.kill_shared,
    "corrupt-store": stores.corrupt_store,
    "saved-results": files.saved_results,
    "tables": files.tables,
    "archives": files.archives,
    "large-files": files.large_files,
    "value-functions": value_functions.value_functions,
    "endpoint": endpoints.failing_endpoint,
    "cancellation": endpoints.cancellations,
    "options": options.options,
    "names": options.names,
    "interrupts": interrupts.interrupts,
}
"""All attacks by name."""


def main(arguments: Sequence[str] | None = None, attacks: Mapping[str, Attack] = ATTACKS) -> int:
    """Run the command; return 1 if there is a finding, and 0 otherwise."""
    given = _parser(attacks).parse_args(arguments)
    if hasattr(os, "nice"):
        os.nice(max(0, 10 - os.nice(0)))
    logging.getLogger("topshap").setLevel(logging.ERROR)  # retries are part of the attacks
    tried: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for name, seed in _draws(given, list(attacks)):
        tried[name] += 1
        message = run_attack(attacks[name], seed)
        if message is not None:
            found[name] += 1
            command = f"python -m chaos --attack {name} --seed {seed}"
            print(f"FINDING in {name}: {message}\nTo repeat it, run: {command}", flush=True)
            with given.failures.open("a", encoding="utf-8") as file:
                file.write(f"{name} {seed}\n")
    print(f"{'attack':<18}{'tried':>8}{'survived':>10}")
    for name in tried:
        print(f"{name:<18}{tried[name]:>8}{tried[name] - found[name]:>10}")
    print(f"{'total':<18}{tried.total():>8}{tried.total() - found.total():>10}", flush=True)
    return 1 if found else 0


def run_attack(attack: Attack, seed: int) -> str | None:
    """Run an attack in a folder of its own; return the description of a finding, None if there is none."""
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as folder:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # about results that are uncertain
                attack(np.random.default_rng(seed), Path(folder))
        except AssertionError as error:
            return str(error) or traceback.format_exc()
        except Exception:  # noqa: BLE001 - an error that the attack did not expect is a finding too
            return traceback.format_exc()
    return None


def _draws(given: argparse.Namespace, names: list[str]) -> Iterator[tuple[str, int]]:
    """Yield pairs of an attack and a seed: the given one, or random ones until the time is over."""
    if given.attack is not None and given.minutes is None:
        yield given.attack, given.seed
        return
    rng = np.random.default_rng(given.seed)
    end = time.monotonic() + 60.0 * (30.0 if given.minutes is None else given.minutes)
    while time.monotonic() < end:
        name = given.attack or names[rng.integers(len(names))]
        yield name, int(rng.integers(2**31))


def _parser(attacks: Mapping[str, Attack]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m chaos", description="Attack topshap at random.")
    parser.add_argument("--minutes", type=float, help="the duration; 30 by default, one attack with --attack")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the attack, or of the series of attacks")
    parser.add_argument("--attack", choices=sorted(attacks), help="the only attack to run")
    parser.add_argument(
        "--failures", type=Path, default=Path("chaos-failures.txt"), help="the file that keeps the seeds of findings"
    )
    return parser
