"""The complete tables of the paper's global games, trained locally, and the top k that topshap finds in them.

A random forest of 20 trees is trained on every subset of a dataset's features: 2**n trainings. The values are saved in
the output folder, so an interrupted run can be resumed. Diabetes and wine come with scikit-learn; the other datasets
are read from a folder or fetched from OpenML.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

import topshap
from topshap.games import TableGame
from topshap_bench.parallel import one_thread
from topshap_bench.trained_tables import trained_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BUDGETS = (100, 250, 500)
RUNS = 20


def global_games(
    names: Sequence[str],
    out: Path,
    *,
    datasets: Path | None = None,
    published: Path | None = None,
    k: int = 3,
    n_jobs: int | None = -1,
) -> Iterator[str]:
    """Train the tables of some datasets, and yield a report on each.

    Parameters
    ----------
    names
        The names of datasets; see `topshap_bench.datasets.NAMES`.
    out
        The folder for the tables.
    datasets
        The folder with the datasets, instead of OpenML.
    published
        A folder with published tables to compare with.
    k
        The number of features to find.
    n_jobs
        The number of workers.
    """
    one_thread()
    for name in names:
        start = time.perf_counter()
        game, _ = trained_table(name, out, n_jobs=n_jobs, datasets=datasets)
        yield report(name, game, k, time.perf_counter() - start, published)


def report(name: str, game: TableGame, k: int, seconds: float, published: Path | None) -> str:
    """Return the exact top k, the results of `identify` with several budgets, and the published top k."""
    names = game.player_names or ()
    phi = game.shapley_values()
    exact = np.argsort(-phi, kind="stable")[:k]
    lines = [f"\n{name}: {len(game.values):,} values of {game.n_players} features in {seconds:.0f} s"]
    listed = ", ".join(f"{names[i]} ({phi[i]:.4g})" for i in exact)
    lines.append(f"  exact top {k}: {listed}; next {np.sort(phi)[-k - 1]:.4g}")
    for budget in BUDGETS:
        tops = [topshap.identify(game, k=k, budget=budget, random_state=seed) for seed in range(RUNS)]
        right = np.mean([set(top.players) == set(exact) for top in tops])
        first = ", ".join(tops[0].names)
        lines.append(f"  identify, {budget} evaluations: right in {right:.0%} of {RUNS} runs, e.g. {first}")
    if published is not None and (published / f"{name}.npz").exists():
        theirs = TableGame.load(published / f"{name}.npz").shapley_values()
        order = np.argsort(-theirs, kind="stable")[:k]
        correlation = np.corrcoef(phi, theirs)[0, 1]
        listed = ", ".join(names[i] for i in order)
        lines.append(f"  published top {k}: {listed}; correlation of the values {correlation:.3f}")
    return "\n".join(lines)
