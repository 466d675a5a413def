"""100,000 training points: time and peak memory of a run."""

from __future__ import annotations

from time import process_time

import numpy as np
from sklearn.linear_model import LogisticRegression

import topshap
from topshap.games import DataGame
from topshap_bench.tables.large import peak_memory

COLUMNS, CLASSES, TESTS = 20, 2, 300


def large_run(n_points: int = 100_000, budget: int = 500) -> str:
    """Find the most harmful of many synthetic points, and return a line with the cost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_points + TESTS, COLUMNS))
    y = (X @ rng.normal(size=COLUMNS) + rng.normal(size=len(X)) > 0).astype(int)
    wrong = rng.choice(n_points, size=n_points // 10, replace=False)
    labels = y[:n_points].copy()
    labels[wrong] ^= 1
    model = LogisticRegression(C=0.1, max_iter=60, tol=1e-3)
    timed = _Timed(DataGame(model, X[:n_points], labels, X[n_points:], y[n_points:]))
    start, before = process_time(), peak_memory()
    top = topshap.identify(timed, k=len(wrong), budget=budget, rank_by="lowest", random_state=0)
    found = np.isin(top.players, wrong).mean()
    seconds = process_time() - start
    return (
        f"{n_points} points, {top.evaluations} retrainings by {top.algorithm}: {seconds:.0f} s CPU, of which "
        f"{timed.seconds:.0f} s for the models and {timed.of_prior:.0f} s for the prior; peak memory "
        f"{peak_memory():.2f} GB ({before:.2f} GB before); {100 * found:.0f}% of the wrong labels among the lowest 10%"
    )


class _Timed:
    """A game that measures the CPU time of its values and of its prior."""

    def __init__(self, game: DataGame) -> None:
        self._game, self.n_players = game, game.n_players
        self.seconds = self.of_prior = 0.0
        self.player_features = game.player_features

    @property
    def prior(self) -> object:
        start = process_time()
        prior: object = self._game.prior
        self.of_prior += process_time() - start
        return prior

    def __call__(self, coalitions: object) -> object:
        start = process_time()
        values: object = self._game(coalitions)  # type: ignore[arg-type]  # checked by the game
        self.seconds += process_time() - start
        return values
