"""knn_shapley: the closed form agrees with all coalitions."""

import sys

import numpy as np
import pytest

from topshap.core.errors import ParameterError
from topshap.games import TableGame, knn_shapley


def by_enumeration(X, y, X_test, y_test, n_neighbors):
    """Return exact Shapley values of the utility, from the values of all sets of points."""
    n = len(X)
    values = np.zeros(2**n)
    for number in range(2**n):
        points = [i for i in range(n) if number >> i & 1]
        for x, label in zip(X_test, y_test, strict=True):
            nearest = sorted(points, key=lambda i: (np.sum((X[i] - x) ** 2), i))[:n_neighbors]
            values[number] += sum(y[i] == label for i in nearest) / n_neighbors / len(X_test)
    return TableGame(values).shapley_values()


@pytest.mark.parametrize("n_neighbors", [1, 3, 7, 9])
def test_the_closed_form_is_the_shapley_value(n_neighbors):
    rng = np.random.default_rng(n_neighbors)
    X, y, X_test, y_test = rng.normal(size=(7, 2)), rng.integers(3, size=7), rng.normal(size=(4, 2)), [0, 1, 2, 1]
    expected = by_enumeration(X, y, X_test, y_test, n_neighbors)
    np.testing.assert_allclose(knn_shapley(X, y, X_test, y_test, n_neighbors=n_neighbors), expected, atol=1e-12)


def test_many_test_points_are_computed_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(20, 2)), rng.integers(2, size=20), rng.normal(size=(9, 2)), rng.integers(2, size=9)
    whole = knn_shapley(*data)
    monkeypatch.setattr(sys.modules["topshap.games.knn_shapley"], "BLOCK_BYTES", 20 * 8 * 2)
    np.testing.assert_allclose(knn_shapley(*data), whole)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (([[0.0]], [0], [[0.0, 1.0]], [0]), "'X_test' parameter of knn_shapley .* 1 columns of X"),
        (([["a"]], [0], [[0.0]], [0]), "'X' parameter of knn_shapley must be an array of numbers"),
        (([[np.nan]], [0], [[0.0]], [0]), "'X' parameter of knn_shapley must be an array of finite"),
        (([[0.0]], [0, 1], [[0.0]], [0]), "'y' parameter of knn_shapley must be one label for each of the 1 rows"),
    ],
)
def test_wrong_data_is_refused(data, message):
    with pytest.raises(ParameterError, match=message):
        knn_shapley(*data)
