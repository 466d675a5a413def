"""Models of real tables with known Shapley values: rows to explain, a background, a predict function and the truth.

The truth is TreeExplainer on the raw output of tree models with marginal imputation, and complete enumeration
otherwise. TreeExplainer's probability output is not used: it is not the Shapley value of the probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from topshap.core.extras import import_extra
from topshap.games import PredictionGame
from topshap.games.active_players import ActivePlayers
from topshap.reference.exact import shapley_values
from topshap_bench.selection import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Rows = NDArray[np.float64]
    Predict = Callable[[Rows], NDArray[Any]]

TRAINING_ROWS = 4000
"""The largest number of training rows, which is enough for models that are not trivial."""


ENUMERATED = 11
"""Up to this number of players the truth of tree models is found by enumeration as well, which rounds less."""


class Table(NamedTuple):
    """A table of numbers, its target, and the columns of each player."""

    X: Rows
    y: NDArray[Any]
    groups: Mapping[str, list[int]] | None = None
    codes: Sequence[int] = ()
    """The columns of categories, as their positions in sorted order."""


@dataclass(frozen=True, eq=False)
class SetUp:
    """A model, rows to explain and a background."""

    name: str
    predict: Predict
    X: Rows
    """The rows to explain."""
    background: Rows
    """The rows that replace absent features; a single one for mean/mode imputation."""
    imputer: str
    groups: Mapping[str, list[int]] | None
    trees: Any
    """A tree model whose raw output is explained, None if the truth is found by enumeration."""
    tuned: bool
    """Whether constants of topshap were chosen while looking at this table with this kind of background, many rows or
    one, and any model."""
    y: NDArray[Any] | None = None
    """The target of the rows to explain, in the units of the predictions."""

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self.X.shape[1] if self.groups is None else len(self.groups)

    def truth(self, rows: int) -> Rows:
        """Return the Shapley values of the first rows, shape (rows, players)."""
        if self.trees is None or self.n_players <= ENUMERATED:
            games = [
                PredictionGame(self.predict, x, self.background, imputer="marginal", groups=self.groups)
                for x in self.X[:rows]
            ]
            return np.array([_values_of_active(game) for game in games])
        shap = import_extra("shap", extra="shap", needed_by="the truth of tree models")
        explainer = shap.TreeExplainer(self.trees, self.background, feature_perturbation="interventional")
        values = np.asarray(explainer.shap_values(self.X[:rows], check_additivity=False))
        return values[..., 1] if values.ndim == 3 else values


def _values_of_active(game: PredictionGame) -> NDArray[np.float64]:
    """Return the Shapley values, 0 for players that are known to contribute nothing; these are not enumerated."""
    values = np.zeros(game.n_players)
    playing = np.flatnonzero(~game.dummies)
    if len(playing) > 0:
        values[playing] = shapley_values(ActivePlayers(game, playing))
    return values


class Recipe(NamedTuple):
    """How a set-up is made."""

    table: str
    model: str
    background: int = 100
    """The number of background rows; 1 stands for the mean or mode of each player's columns."""
    tuned: bool = False


RECIPES: Mapping[str, Recipe] = {
    "adult-xgb": Recipe("adult", "xgb", tuned=True),
    "german-rf": Recipe("german-credit", "rf", 50, tuned=True),
    "cancer-xgb": Recipe("breast-cancer", "xgb", tuned=True),
    "adult-mlp-mean": Recipe("adult-one-hot", "mlp", 1, tuned=True),
    "bank-lgb": Recipe("bank-marketing", "lgb", 50, tuned=True),
    "bike-mlp": Recipe("bike", "mlp", 50, tuned=True),
    "bike-xgb": Recipe("bike", "xgb", 50, tuned=True),
    "diabetes-rf": Recipe("diabetes", "rf", 100, tuned=True),
    "diabetes-mlp": Recipe("diabetes", "mlp", 100, tuned=True),
    "wine-rf": Recipe("wine", "rf", 50, tuned=True),
    "digits-xgb": Recipe("digits", "xgb", 50),
    "bank-mlp-groups": Recipe("bank-one-hot", "mlp", 20, tuned=True),
    "adult-xgb-mean": Recipe("adult", "xgb-probability", 1, tuned=True),
    "titanic-lgb": Recipe("titanic", "lgb", 100),
    "bike-mlp-mean": Recipe("bike", "mlp", 1, tuned=True),
    "german-mlp-mean": Recipe("german-credit", "mlp", 1),
    "bank-xgb-mean": Recipe("bank-marketing", "xgb-probability", 1),
    "titanic-lgb-mean": Recipe("titanic", "lgb", 1),
}
"""The set-ups by name."""


def make(name: str, folder: Path | None = None, *, rows: int = 2000, seed: int = 0) -> SetUp:
    """Train the model of a set-up; at most `rows` rows are to be explained."""
    recipe = RECIPES[name]
    table = _table(recipe.table, folder)
    regression = recipe.table in ("diabetes", "bike")
    X_train, X_test, y_train, y_test = train_test_split(
        table.X, table.y, test_size=0.5, random_state=seed, stratify=None if regression else table.y
    )
    X_train, y_train = X_train[:TRAINING_ROWS], y_train[:TRAINING_ROWS]
    predict, trees = MODELS[recipe.model](X_train, y_train, seed, regression=regression)
    if recipe.background == 1:
        background = _typical(X_train, table)
        trees = None
    else:
        background = X_train[np.random.default_rng(seed).permutation(len(X_train))[: recipe.background]]
    imputer = "mean-mode" if recipe.background == 1 else "marginal"
    if regression and recipe.model == "mlp":
        y_test = (y_test - y_train.mean()) / y_train.std()
    X, y = X_test[:rows], y_test[:rows]
    return SetUp(name, predict, X, background, imputer, table.groups, trees, recipe.tuned, y)


def _table(name: str, folder: Path | None) -> Table:
    """Return a table of numbers without missing values."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return Table(X, (y == 3).astype(np.int64))
    if name == "breast-cancer":
        return Table(*load_breast_cancer(return_X_y=True))
    if name.endswith("-one-hot"):
        table = _table({"adult-one-hot": "adult", "bank-one-hot": "bank-marketing"}[name], folder)
        return _one_hot(table)
    loaded = load({"bike": "bike-sharing"}.get(name, name), folder)
    X = np.where(np.isnan(loaded.X), np.nanmedian(loaded.X, axis=0), loaded.X)
    if name == "bike":  # without the row number, the date and the two parts of the target
        X = X[:, 2:13]
    y = (loaded.y == 1).astype(np.int64) if name == "wine" else loaded.y
    return Table(X, y, codes=CODES.get(name, ()))


CODES = {"adult": (1, 3, 5, 6, 7, 8, 9, 13), "bank-marketing": (1, 2, 3, 4, 6, 7, 8, 10, 15)}
"""The columns of categories."""


def _one_hot(table: Table, players: int = 14) -> Table:
    """Return a table with several columns for each category, grouped into at most `players` players."""
    parts, groups, start = [], {}, 0
    for j in range(min(players, table.X.shape[1])):
        column = table.X[:, j]
        part = (column[:, None] == np.unique(column)).astype(np.float64) if j in table.codes else column[:, None]
        parts.append(part)
        groups[f"player {j}"] = list(range(start, start + part.shape[1]))
        start += part.shape[1]
    return Table(np.concatenate(parts, axis=1), table.y, groups)


def _typical(X: Rows, table: Table) -> Rows:
    """Return the row of the imputer ``"mean-mode"``: rounded means of integers, and the most frequent categories."""
    row = np.where((np.round(X) == X).all(axis=0), np.round(X.mean(axis=0)), X.mean(axis=0))
    for column in table.codes:
        values, counts = np.unique(X[:, column], return_counts=True)
        row[column] = values[np.argmax(counts)]
    for columns in (table.groups or {}).values():
        if len(columns) > 1:
            row[columns] = np.eye(len(columns))[np.argmax(X[:, columns].sum(axis=0))]
    return row[None, :]


def _xgboost(X: Rows, y: Any, seed: int, *, regression: bool) -> tuple[Predict, Any]:
    xgboost = import_extra("xgboost", package="topshap-bench", extra="trees", needed_by="this set-up")
    kind = xgboost.XGBRegressor if regression else xgboost.XGBClassifier
    model = kind(n_estimators=100, max_depth=5, learning_rate=0.1, random_state=seed, n_jobs=1).fit(X, y)
    booster = model.get_booster()
    return lambda rows: booster.inplace_predict(rows, predict_type="margin"), model


def _probability_of_xgboost(X: Rows, y: Any, seed: int, *, regression: bool) -> tuple[Predict, Any]:
    _, model = _xgboost(X, y, seed, regression=regression)
    return lambda rows: model.predict_proba(rows)[:, 1], None


def _lightgbm(X: Rows, y: Any, seed: int, *, regression: bool) -> tuple[Predict, Any]:
    lightgbm = import_extra("lightgbm", package="topshap-bench", extra="trees", needed_by="this set-up")
    kind = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
    model = kind(n_estimators=100, num_leaves=31, random_state=seed, n_jobs=1, verbose=-1).fit(X, y)
    return lambda rows: model.booster_.predict(rows, raw_score=True, num_threads=1), model.booster_


def _forest(X: Rows, y: Any, seed: int, *, regression: bool) -> tuple[Predict, Any]:
    kind = RandomForestRegressor if regression else RandomForestClassifier
    model = kind(n_estimators=50, max_depth=8, random_state=seed, n_jobs=1).fit(X, y)
    return (model.predict if regression else lambda rows: model.predict_proba(rows)[:, 1]), model


def _network(X: Rows, y: Any, seed: int, *, regression: bool) -> tuple[Predict, Any]:
    y = (y - y.mean()) / y.std() if regression else y
    kind = MLPRegressor if regression else MLPClassifier
    model = make_pipeline(
        StandardScaler(), kind(hidden_layer_sizes=(32, 32), early_stopping=True, random_state=seed)
    ).fit(X, y)
    return (model.predict if regression else lambda rows: model.predict_proba(rows)[:, 1]), None


MODELS: Mapping[str, Callable[..., tuple[Predict, Any]]] = {
    "xgb": _xgboost,
    "xgb-probability": _probability_of_xgboost,
    "lgb": _lightgbm,
    "rf": _forest,
    "mlp": _network,
}
