"""DataGame: scores of models trained on a part of the rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import topshap
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import DataGame

X, Y = make_classification(120, n_features=5, n_informative=3, n_redundant=0, random_state=0)


def test_the_value_of_a_coalition_is_the_score_of_a_model_trained_on_its_points():
    game = DataGame(KNeighborsClassifier(1), X[:6], Y[:6], X[6:], Y[6:])
    for coalition, value in zip(from_ids(np.arange(64), 6), game(from_ids(np.arange(64), 6)), strict=True):
        rows = np.flatnonzero(coalition)
        if len(rows) == 0:
            predicted = np.full(len(Y) - 6, np.bincount(Y[:6]).argmax())
        elif len(set(Y[rows])) == 1:
            predicted = np.full(len(Y) - 6, Y[rows[0]])
        else:
            predicted = KNeighborsClassifier(1).fit(X[rows], Y[rows]).predict(X[6:])
        assert value == pytest.approx(accuracy_score(Y[6:], predicted))


def test_points_with_wrong_labels_have_the_lowest_values():
    rng = np.random.default_rng(1)
    points = np.repeat([-2.0, 2.0], 4)[:, None] + rng.normal(size=(8, 1))
    labels = np.repeat([0, 1], 4)
    wrong = [1, 6]
    labels[wrong] ^= 1
    test = np.repeat([-2.0, 2.0], 50)[:, None] + rng.normal(size=(100, 1))
    game = DataGame(KNeighborsClassifier(1), points, labels, test, np.repeat([0, 1], 50))
    top = topshap.identify(game, k=6)
    assert set(wrong) == set(range(8)) - set(top.players)


def test_groups_of_points_may_be_players():
    game = DataGame(
        LinearRegression(),
        X[:9],
        Y[:9].astype(float),
        X,
        Y,
        groups={"one": [0, 1, 2], "two": [3, 4, 5]},
        always=[6, 7, 8],
    )
    assert game.player_names == ("one", "two")
    expected = LinearRegression().fit(X[3:9], Y[3:9]).score(X, Y)
    assert game(np.array([[False, True]]))[0] == pytest.approx(expected)


def test_too_few_points_for_a_model_is_an_error_or_a_constant():
    few = np.array([[True, True, False, False, False, False]])
    with pytest.raises(ValueError, match="Expected n_neighbors"):
        DataGame(KNeighborsClassifier(3), X[:6], [0, 1] * 3, X, Y)(few)
    assert DataGame(KNeighborsClassifier(3), X[:6], [0, 1] * 3, X, Y, min_points=3)(few)[0] == (Y == 0).mean()
    with pytest.raises(ParameterError, match=r"'X_test' .* a table with the columns of X"):
        DataGame(KNeighborsClassifier(3), X[:6], [0, 1] * 3, X[:, :2], Y)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_every_kind_of_frame_gives_the_same_values(make):
    frame = make({f"column {j}": X[:, j] for j in range(5)})
    rows = np.random.default_rng(0).random((9, 8)) < 0.6
    expected = DataGame(GaussianNB(), X[:8], Y[:8], X[8:], Y[8:])(rows)
    np.testing.assert_array_equal(DataGame(GaussianNB(), frame[:8], Y[:8], frame[8:], Y[8:])(rows), expected)


def test_points_may_have_names():
    game = DataGame(GaussianNB(), X[:3], [0, 1, 1], X, Y, point_names=["a", "b", "c"], groups={"both": ["b", "c"]})
    assert game.player_names == ("a", "both")
    with pytest.raises(ParameterError, match=r"'player_names' .* one name for each of the 3"):
        DataGame(GaussianNB(), X[:3], [0, 1, 1], X, Y, point_names=["a"])
