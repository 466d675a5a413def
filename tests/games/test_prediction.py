"""PredictionGame: values equal those of a plain loop for every kind of table, and errors say what to do."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import topshap
from topshap.core.coalitions import from_ids
from topshap.core.errors import GameError, ParameterError
from topshap.games import PredictionGame

RNG = np.random.default_rng(0)


def everybody(n):
    return from_ids(np.arange(2**n), n)


def nonlinear(rows):
    return np.sin(rows[:, 0]) * rows[:, 1] + rows[:, 2] ** 2 - rows[:, 3] * rows[:, 0]


@pytest.mark.parametrize("imputer", ["mean-mode", "marginal", "conditional"])
def test_values_equal_a_plain_loop(imputer):
    background, x = RNG.normal(size=(17, 4)), RNG.normal(size=4)
    game = PredictionGame(nonlinear, x, background, imputer=imputer, batch_bytes=3000)
    expected = []
    for coalition in everybody(4):
        weights = np.ones(len(background))
        if imputer == "conditional" and coalition.any():
            deviations = (background - x) / background.std(axis=0)
            squared = np.array([np.mean([d[j] ** 2 for j in range(4) if coalition[j]]) for d in deviations])
            weights = np.exp(-squared / (2 * 0.1**2))
        rows = [background.mean(axis=0)] if imputer == "mean-mode" else background
        weights = weights[:1] if imputer == "mean-mode" else weights
        total = 0.0
        for row, weight in zip(rows, weights, strict=True):
            mixed = np.array([x[j] if coalition[j] else row[j] for j in range(4)])
            total += weight * nonlinear(mixed[None, :])[0]
        expected.append(total / weights.sum())
    np.testing.assert_allclose(game(everybody(4)), expected, atol=1e-9)


def test_a_baseline_replaces_absent_features_by_its_single_row():
    game = PredictionGame(nonlinear, [1.0, 2.0, 3.0, 4.0], [[0.0, 1.0, 0.0, 1.0]], imputer="baseline")
    assert game(np.zeros((1, 4), dtype=bool)) == nonlinear(np.array([[0.0, 1.0, 0.0, 1.0]]))
    with pytest.raises(ParameterError, match=r"'background' .* must be a single row .* Got 2 rows"):
        PredictionGame(nonlinear, [1.0] * 4, np.zeros((2, 4)), imputer="baseline")


MIXED = {
    "number": [1.5, 2.5, None, 4.0],
    "whole": [1, 2, 3, 5],
    "text": ["x", "y", "y", None],
    "flag": [True, False, True, True],
    "kind": ["u", "v", "u", "u"],
}


def pandas_mixed():
    frame = pd.DataFrame(MIXED).astype({"kind": "category"})
    frame["maybe"] = pd.array([1, None, 2, 3], dtype="Int64")
    return frame


def polars_mixed():
    frame = pl.DataFrame(MIXED).with_columns(pl.col("kind").cast(pl.Enum(["u", "v", "w"])))
    return frame.with_columns(maybe=pl.Series([1, None, 2, 3]))


@pytest.mark.parametrize("make", [pandas_mixed, polars_mixed])
@pytest.mark.parametrize("imputer", ["mean-mode", "marginal", "conditional"])
def test_a_model_gets_the_columns_and_dtypes_of_the_background(make, imputer):
    background = make()
    seen = []

    def predict(frame):
        seen.append(frame)
        number = np.array([np.nan if v is None else v for v in frame["number"].to_list()], dtype=float)
        return np.nan_to_num(number, nan=-1.0) + np.array([v == "y" for v in frame["text"].to_list()])

    game = PredictionGame(predict, background[1:2], background, imputer=imputer)
    values = game(everybody(6))
    for frame in seen:
        assert type(frame) is type(background)
        assert list(frame.columns) == list(background.columns)
        assert list(frame.dtypes) == list(background.dtypes)
    assert values[-1] == pytest.approx(2.5 + 1.0)  # x itself
    if imputer == "mean-mode":
        first = seen[-1][0:1] if make is polars_mixed else seen[-1].iloc[[0]]
        typical = [first[name].to_list()[0] for name in background.columns]
        assert typical == [pytest.approx(8 / 3), 3, "y", True, "u", 2]
        assert values[0] == pytest.approx(8 / 3 + 1.0)


def test_a_pipeline_with_categories_and_missing_values_is_explained():
    number = np.where(RNG.random(60) < 0.2, np.nan, RNG.normal(size=60))
    kind = pd.Categorical(RNG.choice(["u", "v"], size=60))
    frame = pd.DataFrame({"number": number, "kind": kind, "whole": RNG.integers(0, 9, size=60)})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"),
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2),
    ).fit(frame, frame["kind"] == "v")
    rare = frame["kind"].value_counts().index[-1]
    x = frame[(frame["kind"] == rare) & frame["number"].isna()].iloc[0]
    game = PredictionGame(model.predict_proba, x, frame, output=rare == "v")
    assert topshap.identify(game, k=1).names == ("kind",)


@pytest.mark.parametrize("form", ["array", "series", "dict", "frame"])
def test_x_may_have_any_form_and_named_values_any_order(form):
    background = pd.DataFrame(RNG.normal(size=(5, 3)), columns=["a", "b", "c"])
    row = background.iloc[2]
    x = {
        "array": row.to_numpy(),
        "series": row[["c", "a", "b"]],
        "dict": {"b": row["b"], "a": row["a"], "c": row["c"]},
        "frame": background.iloc[[2]][["b", "c", "a"]],
    }[form]
    game = PredictionGame(lambda frame: frame["a"] - 2.0 * frame["b"], x, background)
    assert game(np.ones((1, 3), dtype=bool))[0] == pytest.approx(row["a"] - 2.0 * row["b"])
    assert game.player_names == ("a", "b", "c")


def test_equal_rows_are_predicted_once_and_batches_are_bounded():
    calls = []

    def predict(rows):
        calls.append(rows)
        return rows.sum(axis=1)

    background = RNG.integers(0, 2, size=(50, 6)).astype(float)
    game = PredictionGame(predict, np.ones(6), background, imputer="marginal", batch_bytes=8000)
    calls.clear()
    values = game(everybody(6))
    assert max(rows.nbytes for rows in calls) <= 8000
    for rows in calls:
        assert len(np.unique(rows, axis=0)) == len(rows)
    expected = [np.where(coalition, 1.0, background).sum(axis=1).mean() for coalition in everybody(6)]
    np.testing.assert_allclose(values, expected)


@given(st.integers(1, 3000), st.integers(0, 99))
def test_values_do_not_depend_on_the_batch_size(batch_bytes, seed):
    rng = np.random.default_rng(seed)
    background, x = rng.integers(0, 3, size=(4, 4)).astype(float), rng.normal(size=4)
    coalitions = rng.random((9, 4)) < 0.5
    small = PredictionGame(nonlinear, x, background, imputer="marginal", batch_bytes=batch_bytes)
    large = PredictionGame(nonlinear, x, background, imputer="marginal")
    np.testing.assert_array_equal(small(coalitions), large(coalitions))


def test_columns_of_a_group_are_replaced_together_and_some_columns_never():
    background, x = RNG.normal(size=(5, 4)), RNG.normal(size=4)
    whole = PredictionGame(nonlinear, x, background)
    game = PredictionGame(nonlinear, x, background, groups={"pair": [1, 3]}, always=[0])
    assert game.player_names == ("pair", "2")
    expected = whole(np.array([[1, 0, 0, 0], [1, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool))
    np.testing.assert_array_equal(game(everybody(2)), expected)


def test_groups_and_categories_are_given_by_name():
    background = pd.DataFrame({"a": [1, 1, 2], "red": [0, 1, 0], "blue": [1, 0, 1], "b": [1.0, 2.0, 3.0]})
    game = PredictionGame(
        lambda frame: frame["a"] * 10.0 + frame["red"],
        background.iloc[1],
        background,
        groups={"colour": ["red", "blue"]},
        categorical=["a"],
    )
    assert game.player_names == ("a", "colour", "b")
    assert game(np.zeros((1, 3), dtype=bool))[0] == 10.0  # the most frequent value of a, and the rounded mean of red


def test_classes_are_selected_by_name_or_position():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = LogisticRegression(max_iter=1000).fit(X, names[y])
    grand = np.ones((1, 4), dtype=bool)
    by_name = PredictionGame(model.predict_proba, X[60], X, output="versicolor")(grand)
    by_position = PredictionGame(model.predict_proba, X[60], X, output=1)(grand)
    np.testing.assert_array_equal(by_name, by_position)
    np.testing.assert_array_equal(by_name, model.predict_proba(X[60:61])[:, 1])
    with pytest.raises(
        ParameterError, match=r"one of the model's classes, 'setosa', 'versicolor', 'virginica'. Got 'rose'"
    ):
        PredictionGame(model.predict_proba, X[0], X, output="rose")
    with pytest.raises(ParameterError, match=r"one of the model's classes.* Got None"):
        PredictionGame(model.predict_proba, X[0], X)
    with pytest.raises(ParameterError, match=r"one of the model's classes.* Got 3"):
        PredictionGame(model.predict_proba, X[0], X, output=3)
    with pytest.raises(GameError, match="use predict_proba"):
        PredictionGame(model.predict, X[0], X)


def test_classes_that_are_numbers_are_selected_by_name():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y + 1)
    value = PredictionGame(model.predict_proba, X[0], X, output=1)(np.ones((1, 4), dtype=bool))
    np.testing.assert_array_equal(value, model.predict_proba(X[:1])[:, 0])


def frame_of_two():
    return pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["u", "v"])})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": {"a": 1.0}}, "'x' .* must be one row with the same columns as the background. Got a row without .*'b'"),
        ({"x": {"a": 1.0, "b": "u", "c": 2}}, "Got a row with .*'c'"),
        ({"x": frame_of_two()}, "same columns as the background. Got 2 rows"),
        ({"x": [1.0, "u", 3.0]}, "one row with the 2 columns of the background. Got an array of shape"),
        ({"x": {"a": 1.0, "b": "w"}}, "a row of known categories; those of column 'b' are .*'u', 'v'.* Got 'w'"),
        ({"x": {"a": "high", "b": "u"}}, "column 'a' has float64. Got 'high'"),
        ({"background": frame_of_two().iloc[:0]}, "'background' .* at least one row"),
        ({"background": [1.0, 2.0]}, "'background' .* must be a table"),
        ({"imputer": "median"}, "'imputer' .* must be 'mean-mode', 'baseline', .* or 'gaussian-copula'"),
        ({"groups": {"g": ["a", "z"]}}, r"'groups' .* existing columns only \('a', 'b'\). Got 'z'"),
        ({"groups": {"g": ["a"], "h": ["a", "b"]}}, "disjoint groups; 'a' is in two"),
        ({"groups": {"g": []}}, "without empty groups; 'g' is empty"),
        ({"groups": ["a"]}, "'groups' .* must be a dict"),
        ({"groups": {"b": ["a"]}}, "'b' is repeated"),
        ({"always": ["a", "b"]}, "'always' .* must leave at least one player"),
        ({"groups": {"g": ["a", "b"]}, "always": ["a"]}, "the whole group 'g', which this column"),
        ({"always": ["z"]}, "'always' .* existing columns only"),
        ({"categorical": ["z"]}, "'categorical' .* existing columns only"),
        ({"output": "yes"}, "'output' .* position of an output, since the outputs"),
        ({"output": 2}, "'output' .* must be None for a model with one output. Got 2"),
        ({"batch_bytes": 0}, "'batch_bytes' .* int of at least 1"),
        ({"predict": 3}, "'predict' .* function from rows to numbers.*Explainer takes a model"),
        ({"predict": lambda frame: 1 / 0}, "function that takes rows like x. It raised ZeroDivisionError"),
        ({"predict": lambda frame: [1.0]}, "one number per row, 2 here. Got 1"),
        ({"predict": RandomForestClassifier().predict}, "a method of a fitted model: call fit first"),
    ],
)
def test_errors_say_what_to_do(options, message):
    background = options.pop("background", frame_of_two())
    predict = options.pop("predict", lambda frame: frame["a"])
    x = options.pop("x", {"a": 1.0, "b": "u"})
    with pytest.raises(ParameterError, match=message):
        PredictionGame(predict, x, background, **options)


def test_the_game_can_be_pickled():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    game = PredictionGame(model.predict_proba, X[0], X, output=0, imputer="marginal")
    copy = pickle.loads(pickle.dumps(game))
    np.testing.assert_array_equal(copy(everybody(4)), game(everybody(4)))
    assert copy.fingerprint == game.fingerprint
