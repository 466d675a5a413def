"""Exact Shapley values of training points for a nearest-neighbour classifier, in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_int, front_door, refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Values

BLOCK_BYTES = 2**25
"""The memory of the distances that are computed together."""


@front_door
def knn_shapley(X: Any, y: Any, X_test: Any, y_test: Any, *, n_neighbors: int = 5) -> Values:
    """Return the Shapley value of each training point for a nearest-neighbour classifier (Jia et al. 2019).

    The value of a set of points is the mean, over the test points, of the fraction of the `n_neighbors` nearest points
    in the set that have the right label; missing neighbours count as wrong. The Shapley values of this game have a
    closed form, which takes O(N log N) operations per test point and no training. They are a cheap prior for the values
    of points for other models.

    Parameters
    ----------
    X, y
        The training points, an array of numbers, and their labels. Euclidean distances are used, so scale the columns.
    X_test, y_test
        The test points.
    n_neighbors
        The number of neighbours.

    Examples
    --------
    The last point has the wrong label.

    >>> knn_shapley([[0.0], [0.2], [0.9], [1.0], [0.05]], [0, 0, 1, 1, 1], [[0.06], [0.95]], [0, 1], n_neighbors=1)
    array([ 0.16...,  0.125...,  0.20...,  0.20..., -0.20...])
    """
    points, tests = _numbers("X", X), _numbers("X_test", X_test)
    if points.shape[1] != tests.shape[1]:
        refuse("X_test", got=f"{tests.shape[1]} columns", must_be=f"an array with the {points.shape[1]} columns of X")
    labels, right = _labels("y", y, len(points)), _labels("y_test", y_test, len(tests))
    n_neighbors = check_int("n_neighbors", n_neighbors, low=1)
    total, squares = np.zeros(len(points)), np.sum(points**2, axis=1)
    rows = max(1, BLOCK_BYTES // (8 * len(points)))
    for start in range(0, len(tests), rows):
        block = slice(start, start + rows)
        order = np.argsort(squares - 2.0 * tests[block] @ points.T, axis=1, kind="stable")
        matches = labels[order] == right[block, None]
        np.add.at(total, order, _of_neighbours(matches, n_neighbors))
    return total / len(tests)


def _of_neighbours(matches: NDArray[np.bool_], n_neighbors: int) -> Matrix:
    """Return the values of points for each test point, given whether the labels match, nearest point first.

    The furthest point has the value min(K, N) / (K N) if it matches. Each other point differs from the next one by
    (match_i - match_(i+1)) / K * min(K, i) / i.
    """
    n = matches.shape[1]
    position = np.arange(1, n)
    steps = (matches[:, :-1].astype(np.float64) - matches[:, 1:]) * (np.minimum(n_neighbors, position) / position)
    last = matches[:, -1:] * (min(n_neighbors, n) / n)
    values = np.concatenate([steps, last], axis=1)
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1] / n_neighbors


def _numbers(name: str, data: Any) -> Matrix:
    try:
        array = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        refuse(name, got=f"a {type(data).__name__}", must_be="an array of numbers with two dimensions")
    if array.ndim != 2 or len(array) == 0 or not np.isfinite(array).all():
        must_be = "an array of finite numbers with two dimensions and at least one row"
        refuse(name, got=f"an array of shape {array.shape}", must_be=must_be)
    return array


def _labels(name: str, labels: Any, n_rows: int) -> NDArray[Any]:
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) != n_rows:
        refuse(name, got=f"an array of shape {array.shape}", must_be=f"one label for each of the {n_rows} rows")
    return array
