"""Complete tables of the paper's global games, trained locally, for benchmarks without files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import RetrainingGame, TableGame
from topshap_bench.datasets import load_dataset
from topshap_bench.parallel import in_order

if TYPE_CHECKING:
    from pathlib import Path

    from topshap.core.typing import Values

BLOCK = 64
_SECONDS_BETWEEN_SAVES = 10.0


def complete_table(game: RetrainingGame, path: Path, *, n_jobs: int | None, label: str) -> TableGame:
    """Return the table of all coalitions, computing only the values that are missing in the file.

    Parameters
    ----------
    game
        The game, which trains a model for each coalition.
    path
        An ``.npz`` file for the values, from which an interrupted run resumes.
    n_jobs
        The number of workers.
    label
        The label of the progress bar.
    """
    values = np.full(2**game.n_players, np.nan)
    if path.exists():
        with np.load(path, allow_pickle=False) as kept:
            if "fingerprint" not in kept or str(kept["fingerprint"]) != game.fingerprint:
                raise ParameterError(f"{path} holds the values of another game. Delete it or choose another folder.")
            values = kept["values"]
    missing = np.flatnonzero(np.isnan(values))
    if len(missing) > 0:
        _train(game, values, missing, path, n_jobs=n_jobs, label=label)
    return TableGame(values, game.player_names)


def trained_table(
    name: str, folder: Path, *, n_jobs: int | None = None, datasets: Path | None = None
) -> tuple[TableGame, Path]:
    """Return the table of a random forest trained on every subset of a dataset's features, and the path of its file.

    Parameters
    ----------
    name
        One of `topshap_bench.datasets.NAMES`; ``"diabetes"`` and ``"wine"`` come with scikit-learn.
    folder
        The folder for the tables.
    n_jobs
        The number of workers.
    datasets
        The folder with the CSV files of the other datasets.
    """
    folder.mkdir(parents=True, exist_ok=True)
    X, y, task = load_dataset(name, folder=datasets)
    path = folder / f"{name}.npz"
    return complete_table(RetrainingGame.random_forest(X, y, task=task), path, n_jobs=n_jobs, label=name), path


def _train(game: RetrainingGame, values: Values, missing: Any, path: Path, *, n_jobs: int | None, label: str) -> None:
    """Compute the missing values, and save the table periodically."""
    blocks = [missing[start : start + BLOCK] for start in range(0, len(missing), BLOCK)]
    answers = in_order(game, (from_ids(block, game.n_players) for block in blocks), n_jobs)
    saved_at = time.monotonic()
    with tqdm(total=len(values), initial=len(values) - len(missing), desc=label, unit="forest") as bar:
        for block, answer in zip(blocks, answers, strict=True):
            values[block] = answer
            bar.update(len(block))
            if time.monotonic() - saved_at > _SECONDS_BETWEEN_SAVES:
                save_table(path, values, game)
                saved_at = time.monotonic()
    save_table(path, values, game)


def save_table(path: Path, values: Values, game: RetrainingGame) -> None:
    """Write the table to a file atomically; missing values are nan."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(
            file,
            values=values,
            player_names=np.array(game.player_names),
            fingerprint=np.array(game.fingerprint),
        )
    unfinished.replace(path)
