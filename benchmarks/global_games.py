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
from typing import TYPE_CHECKING

import joblib
import numpy as np
from tqdm.auto import tqdm

import topshap
from topshap.coalitions import from_ids
from topshap.datasets import NAMES, load_dataset
from topshap.games import RetrainingGame, TableGame

if TYPE_CHECKING:
    from topshap.typing import Values

BLOCK = 64


def complete_table(game: RetrainingGame, path: Path, *, n_jobs: int, label: str) -> Values:
    """Return the values of all coalitions, those that the file has from there; all are in the file afterwards."""
    values = np.full(2**game.n_players, np.nan)
    if path.exists():
        with np.load(path, allow_pickle=False) as kept:
            if str(kept["fingerprint"]) != game.fingerprint:
                raise SystemExit(f"{path} has another game's values: remove it or choose another folder.")
            values = kept["values"]
    missing = np.flatnonzero(np.isnan(values))
    blocks = [missing[start : start + BLOCK] for start in range(0, len(missing), BLOCK)]
    tasks = (joblib.delayed(game)(from_ids(block, game.n_players)) for block in blocks)
    answers = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    saved_at = time.monotonic()
    with tqdm(total=len(values), initial=len(values) - len(missing), desc=label, unit="forest") as bar:
        for block, answer in zip(blocks, answers, strict=True):
            values[block] = answer
            bar.update(len(block))
            if time.monotonic() - saved_at > 10.0:
                save(path, values, game)
                saved_at = time.monotonic()
    save(path, values, game)
    return values


def save(path: Path, values: Values, game: RetrainingGame) -> None:
    """Write what is known, in place of the old file and never half of it."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(
            file,
            values=values,
            player_names=np.array(game.player_names),
            fingerprint=np.array(game.fingerprint),
        )
    unfinished.replace(path)


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
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.games:
        X, y, task = load_dataset(name, folder=options.folder)
        game = RetrainingGame.random_forest(X, y, task=task)
        start = time.perf_counter()
        values = complete_table(game, options.out / f"{name}.npz", n_jobs=options.n_jobs, label=name)
        seconds = time.perf_counter() - start
        report(name, TableGame(values, game.player_names), options.k, seconds, options.published)


if __name__ == "__main__":
    main()
