"""Training sets of real data with some wrong labels, as games of their points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from topshap.core.errors import ParameterError
from topshap.games import DataGame
from topshap_bench.datasets import load_dataset

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

VALIDATION = 300
"""The number of rows that models are scored on by the game."""
HELD_OUT = 490
"""The number of rows that points are removed for; no valuation sees them."""
FLIPPED = 0.1
"""The fraction of labels that are wrong."""

MODELS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(C=0.1, max_iter=60, tol=1e-3),
    "bayes": lambda: GaussianNB(var_smoothing=1e-2),
}
DATASETS = ("digits", "adult", "bank-marketing")


class Task(NamedTuple):
    """A training set with wrong labels, its game, and held-out rows."""

    game: DataGame
    """The game, with its nearest-neighbour prior and the features of its points."""
    X: NDArray[Any]
    y: NDArray[Any]
    model: Any
    wrong: NDArray[np.intp]
    """The points with a wrong label."""
    X_out: NDArray[Any]
    y_out: NDArray[Any]

    def accuracy_without(self, removed: NDArray[np.intp]) -> float:
        """Return the accuracy on held-out rows of a model trained without some points.

        If all points of the other classes are removed, the only class is predicted.
        """
        kept = np.delete(np.arange(len(self.y)), removed)
        classes = np.unique(self.y[kept])
        if len(classes) == 1:
            return float(np.mean(self.y_out == classes[0]))
        return float(self.model.fit(self.X[kept], self.y[kept]).score(self.X_out, self.y_out))


def make_task(
    dataset: str, model: str, n_points: int, seed: int, *, folder: str | os.PathLike[str] | None = None
) -> Task:
    """Return a task of `n_points` random rows; a wrong label is a random other class.

    Examples
    --------
    >>> task = make_task("digits", "bayes", 100, 0)
    >>> task.game.n_players, len(task.wrong)
    (100, 10)
    """
    X, y = _load(dataset, folder)
    needed = n_points + VALIDATION + HELD_OUT
    if len(X) < needed:
        raise ParameterError(f"{dataset} has {len(X)} rows; {n_points} points need {needed}.")
    rng = np.random.default_rng([seed, n_points])
    rows = rng.permutation(len(X))[:needed]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows]
    train, validation, out = np.split(np.arange(needed), [n_points, n_points + VALIDATION])
    wrong = rng.choice(n_points, size=int(FLIPPED * n_points), replace=False)
    labels, n_classes = y[train].copy(), len(np.unique(y))
    labels[wrong] = (labels[wrong] + rng.integers(1, n_classes, size=len(wrong))) % n_classes
    estimator = MODELS[model]()
    game = DataGame(estimator, X[train], labels, X[validation], y[validation], prior="knn")
    return Task(game, X[train], labels, estimator, wrong, X[out], y[out])


def _load(dataset: str, folder: str | os.PathLike[str] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows, with one column per category, and the classes 0, 1, ..."""
    if dataset == "digits":
        X, y = load_digits(return_X_y=True)
        return X, y
    import pandas as pd  # noqa: PLC0415 - only for tables

    frame, target, _ = load_dataset(dataset, folder=folder)
    return pd.get_dummies(frame).to_numpy(np.float64), np.unique(target, return_inverse=True)[1]
