"""The imputer "missing": absent features are missing values, or a value of the user's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import topshap
from topshap.core.errors import ParameterError
from topshap.games import PredictionGame, PredictionsGame

ALL = np.array([[bool(number >> i & 1) for i in range(3)] for number in range(8)])
ROWS = np.arange(12.0).reshape(4, 3)


def count_missing(X):
    return np.isnan(np.asarray(X, dtype=float)).sum(axis=1)


def test_absent_features_are_missing_and_a_coalition_is_one_prediction():
    sizes = []

    def predict(X):
        sizes.append(len(X))
        return count_missing(X)

    game = PredictionGame(predict, ROWS[0], ROWS, imputer="missing")
    sizes.clear()
    np.testing.assert_array_equal(game(ALL), 3 - ALL.sum(axis=1))
    assert sum(sizes) == 8


@pytest.mark.parametrize("data", [ROWS.astype(int), ROWS.astype(object), ROWS > 3, ROWS.astype(np.float32)])
def test_arrays_of_any_dtype_can_have_missing_values(data):
    np.testing.assert_array_equal(
        PredictionGame(count_missing, data[0], data, imputer="missing")(ALL), 3 - ALL.sum(axis=1)
    )


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_have_missing_values_in_columns_of_any_dtype(library):
    frame = library({"age": [1, 2, 3], "job": ["a", "b", "a"], "size": [1.0, 2.0, 3.0]})
    seen = []

    def predict(X):
        seen.append(X)
        columns = [X[name].is_null() if library is pl.DataFrame else X[name].isna() for name in X.columns]
        return 3 - np.sum(np.asarray(columns), axis=0)

    game = PredictionGame(predict, {"age": 1, "job": "b", "size": 2.0}, frame, imputer="missing")
    np.testing.assert_array_equal(game(ALL), ALL.sum(axis=1))
    assert type(seen[-1]) is library


def test_categories_can_be_missing():
    frame = pd.DataFrame({"job": pd.Categorical(["a", "b", "a"]), "size": [1, 2, 3]})
    game = PredictionGame(lambda X: X.notna().sum(axis=1), frame.iloc[0], frame, imputer="missing")
    assert game(np.array([[False, False], [True, False]])).tolist() == [0.0, 1.0]


def test_a_value_of_the_user_stands_for_missing():
    game = PredictionGame(lambda X: X.sum(axis=1), ROWS[0], ROWS, imputer="missing", missing_value=-1.0)
    assert game(ALL[[0, 7]]).tolist() == [-3.0, 3.0]
    frame = pd.DataFrame({"job": pd.Categorical(["a", "b", "a"])})
    with pytest.raises(ParameterError, match=r"'missing_value' parameter .* must be a value that all columns can hold"):
        PredictionGame(len, frame.iloc[0], frame, imputer="missing", missing_value="c")


def test_a_feature_that_is_missing_in_the_row_is_a_known_dummy():
    game = PredictionGame(count_missing, [1.0, np.nan, 2.0], ROWS, imputer="missing")
    assert game.dummies.tolist() == [False, True, False]


def test_a_missing_value_is_refused_with_another_imputer():
    with pytest.raises(ParameterError, match=r"None with imputer='marginal'; use imputer='missing'"):
        PredictionGame(count_missing, ROWS[0], ROWS, imputer="marginal", missing_value=0.0)


def test_a_model_that_does_not_accept_missing_values_is_refused_at_once():
    model = LinearRegression().fit(ROWS, ROWS[:, 0])
    with pytest.raises(ParameterError, match="Input X contains NaN"):
        topshap.Explainer(model, ROWS, imputer="missing")


def test_a_boosted_model_is_explained_row_by_row_and_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    model = HistGradientBoostingRegressor(max_iter=20).fit(X, np.nan_to_num(X) @ [3.0, 1.0, 0.0])
    explainer = topshap.Explainer(model, X, imputer="missing", random_state=0)
    rows = X[~np.isnan(X).any(axis=1)][:8]
    tops = explainer.explain_many(rows, k=1, share=True)
    for top, row in zip(tops, rows, strict=True):
        expected = explainer.explain(row, k=1).estimates
        np.testing.assert_allclose(top.estimates, expected, atol=1e-9)
        np.testing.assert_allclose(top.empty, model.predict(np.full((1, 3), np.nan)))
    many = PredictionsGame(model.predict, rows, X, imputer="missing")
    assert many.n_replacing == 1
