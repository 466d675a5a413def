"""Imputers: the rows that replace absent features, and their weights."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.errors import ParameterError
from topshap.games.imputers import Imputer, ImputerOptions, background_for, make_imputer
from topshap.games.tables import as_table

BACKGROUND = np.array([[1.0, 5.0], [2.0, 5.0], [6.0, 8.0]])


def made(name, background=BACKGROUND, x=(1.0, 5.0), categorical=()):
    rows = background_for(name, background)
    return make_imputer(name, rows, rows.table.like(x), set(categorical), ImputerOptions())


def test_the_mean_replaces_numbers_and_the_most_frequent_value_categories():
    assert made("mean-mode").rows.data.tolist() == [[3.0, 6.0]]
    assert made("mean-mode", categorical=[1]).rows.data.tolist() == [[3.0, 5.0]]


def test_marginal_rows_have_equal_weights():
    imputer = made("marginal")
    assert imputer.rows.data is BACKGROUND
    assert imputer.weights(np.ones((2, 2), dtype=bool)) is None


def test_a_baseline_is_a_single_row():
    assert made("baseline", BACKGROUND[:1]).rows.n_rows == 1
    with pytest.raises(ParameterError, match=r"a single row for imputer='baseline'. Got 3 rows"):
        made("baseline")


@given(st.integers(0, 99))
def test_conditional_weights_are_a_distribution_that_decreases_with_the_distance(seed):
    rng = np.random.default_rng(seed)
    background, x = rng.normal(size=(9, 3)), rng.normal(size=3)
    coalitions = rng.random((5, 3)) < 0.5
    weights = made("conditional", background, x).weights(coalitions)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    for coalition, row in zip(coalitions, weights, strict=True):
        distance = (((background - x) / background.std(axis=0))[:, coalition] ** 2).sum(axis=1)
        assert (np.diff(row[np.argsort(distance, kind="stable")]) <= 1e-12).all()


def test_the_nearest_row_has_weight_at_any_distance():
    imputer = Imputer(as_table("rows", BACKGROUND), np.array([[1e8], [2e8], [3e8]]))
    assert imputer.weights(np.array([[True]])).tolist() == [[1.0, 0.0, 0.0]]


def test_categories_and_missing_values_are_one_deviation_apart():
    frame = pd.DataFrame({"kind": ["u", "v", None], "number": [1.0, np.nan, 3.0], "constant": [2.0, 2.0, 2.0]})
    distances = made("conditional", frame, ["u", 1.0, 3.0]).squared_distances
    assert distances.tolist() == [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [1.0, 4.0, 1.0]]
    distances = made("conditional", frame, ["u", None, 2.0]).squared_distances
    assert distances[:, 1].tolist() == [1.0, 0.0, 1.0]
    assert made("conditional", categorical=[0]).squared_distances[:, 0].tolist() == [0.0, 1.0, 1.0]


def test_an_unknown_imputer_is_refused():
    with pytest.raises(ParameterError, match=r"'conditional', 'gaussian' or 'gaussian-copula'. Got 'median'"):
        made("median")
