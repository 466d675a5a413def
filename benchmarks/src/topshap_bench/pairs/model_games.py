"""Complete games of small models: probabilities and predictions for rows of scikit-learn's tables.

None of them was used to choose a constant of odd-gp.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from topshap.games import PredictionGame, TableGame
from topshap.reference.exact import value_table
from topshap_bench.sources import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

ROWS = 2
"""The number of rows that are explained for each table and model."""
BACKGROUND = 10
"""The number of rows that replace absent features."""
COLUMNS = 13
"""The largest number of columns; all coalitions are evaluated."""

TABLES: Mapping[str, tuple[Callable[..., Any], bool]] = {
    "diabetes": (load_diabetes, False),
    "wine": (load_wine, True),
    "cancer": (load_breast_cancer, True),
}
"""Tables, and whether the target is a class."""


def _model(kind: str, *, classes: bool) -> Any:
    if kind == "mlp":
        network = MLPClassifier if classes else MLPRegressor
        return make_pipeline(StandardScaler(), network(hidden_layer_sizes=(32, 32), max_iter=400, random_state=0))
    if kind == "boosting":
        boosting = GradientBoostingClassifier if classes else GradientBoostingRegressor
        return boosting(n_estimators=60, max_depth=4, random_state=0)
    forest = RandomForestClassifier if classes else RandomForestRegressor
    return forest(n_estimators=25, random_state=0)


def model_games(folder: Path, kinds: tuple[str, ...] = ("mlp", "boosting", "forest")) -> list[Source]:
    """Return the games of all tables and models; missing ones are computed and saved in the folder."""
    sources = []
    for name, (load, classes) in TABLES.items():
        for kind in kinds:
            (folder / kind).mkdir(parents=True, exist_ok=True)
            paths = [folder / kind / f"{name}-{row}.npz" for row in range(ROWS)]
            if not all(path.exists() for path in paths):
                X, y = load(return_X_y=True)
                _save(_model(kind, classes=classes), X[:, :COLUMNS], y, paths, classes=classes)
            sources += [Source(f"model-{kind}", path.stem, path.resolve()) for path in paths]
    return sources


def _save(model: Any, X: Any, y: Any, paths: list[Path], *, classes: bool) -> None:
    """Fit a model, and save the complete games of some rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a network that is not converged is a game as well
        model.fit(X, y)
    drawn = np.random.default_rng(0).permutation(len(X))
    for path, row in zip(paths, drawn, strict=False):
        background = X[drawn[-BACKGROUND:]]
        if classes:
            output = int(model.predict_proba(X[[row]])[0].argmax())
            game = PredictionGame(model.predict_proba, X[row], background, imputer="marginal", output=output)
        else:
            game = PredictionGame(model.predict, X[row], background, imputer="marginal")
        TableGame(value_table(game)).save(path)
