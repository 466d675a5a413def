"""The complete tables of the paper's global games, made by this package, and the top 3 that topshap finds in them.

A random forest of 20 trees is trained on every subset of a table's features: 2**n trainings, on all cores. What has
been trained is kept in the output file, so a run that was stopped goes on where it was. Diabetes and wine come with
scikit-learn; the others are read from --folder, or fetched from OpenML.

    python benchmarks/global_games.py --out tables
    python benchmarks/global_games.py --out tables --games titanic --folder datasets --published games/global
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import topshap
from topshap.bench.tables import trained_table
from topshap.datasets import NAMES
from topshap.games import TableGame


def report(name: str, game: TableGame, k: int, seconds: float, published: Path | None) -> None:
    """Print the exact top k, what `identify` finds within budgets, and the published table's top k."""
    names = game.player_names or ()
    phi = game.shapley_values()
    exact = np.argsort(-phi, kind="stable")[:k]
    print(f"\n{name}: {len(game.values):,} values of {game.n_players} features in {seconds:.0f} s")
    print(f"  exact top {k}: {', '.join(f'{names[i]} ({phi[i]:.4g})' for i in exact)}; next {np.sort(phi)[-k - 1]:.4g}")
    for budget in (100, 250, 500):
        tops = [topshap.identify(game, k=k, budget=budget, random_state=seed) for seed in range(20)]
        right = np.mean([set(top.players) == set(exact) for top in tops])
        print(f"  identify, {budget} evaluations: right in {right:.0%} of 20 runs, e.g. {', '.join(tops[0].names)}")
    if published is not None and (published / f"{name}.npz").exists():
        theirs = TableGame.load(published / f"{name}.npz").shapley_values()
        order = np.argsort(-theirs, kind="stable")[:k]
        agreement = np.corrcoef(phi, theirs)[0, 1]
        print(f"  published top {k}: {', '.join(names[i] for i in order)}; correlation of the values {agreement:.3f}")


def main() -> None:
    """Make the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=NAMES, default=["diabetes", "wine"])
    parser.add_argument("--out", type=Path, required=True, help="where the tables are kept")
    parser.add_argument("--folder", type=Path, help="where the datasets are, in place of OpenML")
    parser.add_argument("--published", type=Path, help="where the published tables are, to compare with")
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args()
    for name in options.games:
        start = time.perf_counter()
        game, _ = trained_table(name, options.out, n_jobs=options.n_jobs, datasets=options.folder)
        report(name, game, options.k, time.perf_counter() - start, options.published)


if __name__ == "__main__":
    main()
