"""Games of XGBoost models on tables with many columns, whose Shapley values and interactions are known exactly.

Absent features are replaced by those of background rows. For one background row, a leaf of a tree is reached if the
features of a set A are present and those of a set B absent; other features either do not matter or rule the leaf out.
With a features in A and b in B, the multilinear extension of that game is t^a (1 - t)^b on the diagonal. The Shapley
value of a player is the integral of its derivative in the direction of the player:

    Beta(a, b + 1) for a player in A, -Beta(a + 1, b) for a player in B.

The interaction of two players is the integral of its second derivative in their directions:

    Beta(a - 1, b + 1) for two players in A, Beta(a + 1, b - 1) for two in B, -Beta(a, b) for one in each.

The values and interactions of a model are the sums over leaves, times their values, averaged over background rows.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import beta
from sklearn.datasets import load_breast_cancer, load_digits, make_classification, make_friedman1

from topshap.core.extras import import_extra
from topshap.games import PredictionGame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Values

    SinglePrecision = NDArray[np.float32]

BACKGROUND = 5
"""The number of rows that replace absent features."""
ROWS = 1000
"""The number of rows of a generated table."""


def _friedman(n: int) -> tuple[Matrix, Values, bool]:
    return *make_friedman1(ROWS, n_features=n, noise=1.0, random_state=n), False


def _classification(n: int) -> tuple[Matrix, Values, bool]:
    options = {"n_informative": 12, "n_redundant": 6, "n_clusters_per_class": 4}
    return *make_classification(ROWS, n_features=n, random_state=n, **options), True


def _cancer(_: int) -> tuple[Matrix, Values, bool]:
    return *load_breast_cancer(return_X_y=True), True


def _digits(_: int) -> tuple[Matrix, Values, bool]:
    X, y = load_digits(return_X_y=True)
    return X, y % 2, True


TABLES: Mapping[str, tuple[Callable[[int], tuple[Matrix, Values, bool]], tuple[int, ...]]] = {
    "cancer": (_cancer, (30,)),
    "classification": (_classification, (30, 60, 120)),
    "digits": (_digits, (64,)),
    "friedman": (_friedman, (30, 60, 120)),
}
"""Tables with their numbers of columns; True for classes, whose log odds are explained."""


class TreeGame(NamedTuple):
    """A game and the exact interactions of its pairs of players."""

    game: PredictionGame
    exact: Values


@lru_cache(maxsize=4)
def tree_game(table: str, n: int, row: int) -> TreeGame:
    """Return the game of a row of a table with n columns, as explained for one of `TABLES`."""
    game, of_row = _game_of_row(table, n, row)
    return TreeGame(game, tree_interactions(*of_row))


def tree_game_of_players(table: str, n: int, row: int) -> tuple[PredictionGame, Values]:
    """Return the game of a row of a table with n columns, and its exact Shapley values."""
    game, of_row = _game_of_row(table, n, row)
    return game, tree_shapley_values(*of_row)


def _game_of_row(table: str, n: int, row: int) -> tuple[PredictionGame, tuple[Any, Matrix, Matrix]]:
    """Return the game of a row, and its model, the row and the background rows."""
    model, X = _fitted(table, n)
    background = X[np.random.default_rng(0).permutation(len(X))[:BACKGROUND]]
    game = PredictionGame(lambda Z: model.predict(Z, output_margin=True), X[row], background, imputer="marginal")
    return game, (model, X[row], background)


@lru_cache(maxsize=2)
def _fitted(table: str, n: int) -> tuple[Any, Matrix]:
    xgboost = import_extra("xgboost", package="topshap-bench", extra="trees", needed_by="this game")
    X, y, classes = TABLES[table][0](n)
    X = X.astype(np.float32)
    kind = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
    model = kind(n_estimators=100, max_depth=4, learning_rate=0.1, n_jobs=1, random_state=0)
    return model.fit(X, y), X


def tree_interactions(model: Any, row: Matrix, background: Matrix) -> Values:
    """Return the exact interactions of all pairs of features of an XGBoost model with one output.

    Parameters
    ----------
    model
        A fitted model of numeric features without missing values.
    row
        The explained row.
    background
        The rows that replace absent features.
    """
    n = len(row)
    total = np.zeros((n, n))
    for value, present, absent in _leaves_of_model(model, row, background):
        _add_leaf(total, value, sorted(present), sorted(absent))
    return np.asarray(total[np.triu_indices(n, 1)])


def tree_shapley_values(model: Any, row: Matrix, background: Matrix) -> Values:
    """Return the exact Shapley values of all features of an XGBoost model; see `tree_interactions`."""
    total = np.zeros(len(row))
    for value, present, absent in _leaves_of_model(model, row, background):
        a, b = len(present), len(absent)
        if a:
            total[list(present)] += value * beta(a, b + 1)
        if b:
            total[list(absent)] -= value * beta(a + 1, b)
    return total


def _leaves_of_model(
    model: Any, row: Matrix, background: Matrix
) -> Iterator[tuple[float, frozenset[int], frozenset[int]]]:
    """Yield the leaves of all trees for every background row, with values divided by the number of these rows."""
    trees = [json.loads(text) for text in model.get_booster().get_dump(dump_format="json")]
    explained = row.astype(np.float32)
    for other in background.astype(np.float32):
        for tree in trees:
            for value, present, absent in _leaves(tree, explained, other, frozenset(), frozenset()):
                yield value / len(background), present, absent


def _leaves(
    node: dict[str, Any], row: SinglePrecision, other: SinglePrecision, present: frozenset[int], absent: frozenset[int]
) -> Iterator[tuple[float, frozenset[int], frozenset[int]]]:
    """Yield the value of every leaf that some coalition reaches, with the features that must be present and absent."""
    if "leaf" in node:
        yield node["leaf"], present, absent
        return
    feature, threshold = int(node["split"].removeprefix("f")), np.float32(node["split_condition"])
    for child in node["children"]:
        below = child["nodeid"] == node["yes"]
        with_row = feature not in absent and (row[feature] < threshold) == below
        with_other = feature not in present and (other[feature] < threshold) == below
        if with_row or with_other:
            more = frozenset() if with_row and with_other else {feature}
            yield from _leaves(
                child, row, other, present | more if with_row else present, absent | more if with_other else absent
            )


def _add_leaf(total: Matrix, value: float, present: list[int], absent: list[int]) -> None:
    """Add the interactions of a leaf to a symmetric matrix; its diagonal is not used."""
    a, b = len(present), len(absent)
    if a >= 2:
        total[np.ix_(present, present)] += value * beta(a - 1, b + 1)
    if b >= 2:
        total[np.ix_(absent, absent)] += value * beta(a + 1, b - 1)
    if a >= 1 and b >= 1:
        total[np.ix_(present, absent)] -= value * beta(a, b)
        total[np.ix_(absent, present)] -= value * beta(a, b)
