"""RetrainingGame: scores of models trained on a part of the columns."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import OneClassSVM

import topshap
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import RetrainingGame

X, Y = make_classification(120, n_features=5, n_informative=3, n_redundant=0, random_state=0)
NAMES = ["a", "b", "c", "d", "e"]
EVERYBODY = from_ids(np.arange(32), 5)


def test_values_equal_cross_validation_by_hand():
    game = RetrainingGame(GaussianNB(), X, Y, cv=KFold(3, shuffle=True, random_state=1))
    splitter = KFold(3, shuffle=True, random_state=1)
    constant = cross_val_score(DummyClassifier(), X, Y, cv=splitter).mean()
    for coalition, value in zip(EVERYBODY, game(EVERYBODY), strict=True):
        score = cross_val_score(GaussianNB(), X[:, coalition], Y, cv=splitter).mean() if coalition.any() else constant
        assert value == pytest.approx(score - constant, abs=1e-12)


def test_a_scorer_and_a_test_set_may_be_given():
    X_train, X_test, y_train, y_test = train_test_split(X, Y, random_state=0)
    game = RetrainingGame(GaussianNB(), X_train, y_train, test=(X_test, y_test), scoring="neg_log_loss")
    probabilities = GaussianNB().fit(X_train, y_train).predict_proba(X_test)
    prior = np.tile(np.bincount(y_train) / len(y_train), (len(y_test), 1))
    expected = log_loss(y_test, prior) - log_loss(y_test, probabilities)
    assert game(np.ones((1, 5), dtype=bool))[0] == pytest.approx(expected)


def arrow_table(data):
    return pa.table({name: data[:, j] for j, name in enumerate(NAMES)})


@pytest.mark.parametrize(
    "make", [np.asarray, pd.DataFrame, pl.DataFrame, arrow_table, sparse.csr_matrix, sparse.csc_array]
)
def test_every_kind_of_table_gives_the_same_values(make):
    table = make(X)
    game = RetrainingGame(LogisticRegression(), table, Y, cv=2)
    assert game(EVERYBODY[::3]) == pytest.approx(RetrainingGame(LogisticRegression(), X, Y, cv=2)(EVERYBODY[::3]))


def test_estimators_get_the_columns_of_the_coalition_as_a_frame():
    seen = []

    class Watching(GaussianNB):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    frame = pd.DataFrame(X, columns=NAMES)
    RetrainingGame(Watching(), frame, Y, cv=2)(np.array([[True, False, True, False, False]]))
    assert [list(each.columns) for each in seen] == [["a", "c"]] * 2


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_estimators_get_the_users_kind_of_frame(make):
    seen = []

    class Watching(GaussianNB):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    frame = make({name: X[:, j] for j, name in enumerate(NAMES)})
    RetrainingGame(Watching(), frame, Y, cv=2)(np.array([[True, False, True, False, False]]))
    for each in seen:
        assert type(each) is type(frame)
        assert getattr(each, "column_names", each.columns) == ["a", "c"]


def test_groups_of_columns_are_players_and_some_columns_are_always_included():
    whole = RetrainingGame(GaussianNB(), X, Y, cv=2)
    game = RetrainingGame(GaussianNB(), X, Y, cv=2, groups={"pair": [1, 2]}, always=[0], feature_names=NAMES)
    assert game.player_names == ("pair", "d", "e")
    rows = game(np.array([[False, False, False], [True, False, True]]))
    np.testing.assert_array_equal(rows, whole(np.array([[1, 0, 0, 0, 0], [1, 1, 1, 0, 1]], dtype=bool)))


def test_values_do_not_depend_on_the_number_of_jobs():
    alone = RetrainingGame(RandomForestClassifier(3), X, Y, cv=2)
    several = topshap.Oracle(alone, n_jobs=2)
    np.testing.assert_array_equal(alone(EVERYBODY[:8]), several(EVERYBODY[:8]))
    assert alone.fingerprint == several.fingerprint
    bayes = topshap.Oracle(RetrainingGame(GaussianNB(), X, Y, cv=2))
    expected = bayes(EVERYBODY[:8])
    with joblib.parallel_config(backend="threading", n_jobs=2):
        np.testing.assert_array_equal(bayes(EVERYBODY[:8]), expected)


def test_a_coalition_has_the_same_value_every_time_by_default():
    game = RetrainingGame(RandomForestClassifier(3), X, Y, cv=0.3)
    assert game.deterministic
    np.testing.assert_array_equal(game(EVERYBODY[5:9]), game(EVERYBODY[5:9]))
    assert not RetrainingGame(RandomForestClassifier(3), X, Y, cv=0.3, random_state=None).deterministic
    assert RetrainingGame(RandomForestClassifier(3, random_state=1), X, Y, cv=2, random_state=None).deterministic
    assert RetrainingGame(GaussianNB(), X, Y, cv=2, random_state=None).deterministic
    moving = RandomForestClassifier(3, random_state=np.random.RandomState(0))
    assert not RetrainingGame(moving, X, Y, cv=2).deterministic


def test_the_seed_of_the_estimator_is_kept():
    own = RetrainingGame(RandomForestClassifier(3, random_state=7), X, Y, cv=2, random_state=0)
    other = RetrainingGame(RandomForestClassifier(3, random_state=7), X, Y, cv=2, random_state=1)
    np.testing.assert_array_equal(own(EVERYBODY[20:]), other(EVERYBODY[20:]))


@pytest.mark.parametrize(
    ("load", "task", "forest"),
    [(load_wine, "classification", RandomForestClassifier), (load_diabetes, "regression", RandomForestRegressor)],
)
def test_the_papers_setting_is_a_forest_of_20_trees_on_a_test_split(load, task, forest):
    X, y = load(return_X_y=True, as_frame=True)
    game = RetrainingGame.random_forest(X, y, task=task, random_state=3)
    coalition = np.arange(X.shape[1]) % 2 == 0
    stratify = y if task == "classification" else None
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=3, stratify=stratify)
    score = (
        forest(20, random_state=3)
        .fit(X_train.loc[:, coalition].to_numpy(), y_train)
        .score(X_test.loc[:, coalition].to_numpy(), y_test)
    )
    constant = y_train.mode()[0] if task == "classification" else y_train.mean()
    nothing = (
        (y_test == constant).mean()
        if task == "classification"
        else 1 - ((y_test - constant) ** 2).mean() / y_test.var(ddof=0)
    )
    assert game(coalition[None, :])[0] == pytest.approx(score - nothing)
    assert game.player_names == tuple(X.columns)


def test_the_papers_setting_takes_text_and_missing_values():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", None], size=200)
    frame = pd.DataFrame(
        {"colour": colour, "noise": np.where(rng.random(200) < 0.3, np.nan, 1.0), "other": rng.random(200)}
    )
    game = RetrainingGame.random_forest(frame, colour == "red", task="classification")
    assert topshap.identify(game, k=1).names == ("colour",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": GaussianNB}, "'estimator' .* must be a scikit-learn estimator"),
        ({"estimator": OneClassSVM(), "scoring": lambda m, X, y: 0.0}, "'estimator' .* a classifier or a regressor"),
        ({"y": Y[:-1]}, "'y' .* one target for each of the 120 rows. Got an array of shape"),
        ({"X": X[:, 0]}, "'X' .* must be a table"),
        ({"scoring": "beauty"}, "'scoring' .* the name of a scikit-learn scorer"),
        ({"cv": 1}, "'cv' .* int of at least 2"),
        ({"cv": 1.5}, "'cv' .* number between 0 and 1"),
        ({"cv": "many"}, "'cv' .* an int, a fraction of the rows, a splitter"),
        ({"cv": 3, "test": (X, Y)}, "'cv' .* None if 'test' is given"),
        ({"test": X}, "'test' .* a pair"),
        ({"test": (X[:, :2], Y)}, "'test' .* a table with the columns of X"),
        ({"test": (X, Y[:3])}, "'test' .* one target for each"),
        ({"feature_names": ["a"]}, "'player_names' .* one name for each of the 5"),
        ({"random_state": "seed"}, "'random_state' .* int of at least 0"),
    ],
)
def test_errors_say_what_to_do(options, message):
    arguments = {"estimator": GaussianNB(), "X": X, "y": Y} | options
    with pytest.raises(ParameterError, match=message):
        RetrainingGame(**arguments)


def test_the_error_of_a_failing_fit_names_the_features():
    class Picky(GaussianNB):
        def fit(self, X, y):
            if X.shape[1] == 2:
                raise ValueError("not two")
            return super().fit(X, y)

    game = RetrainingGame(Picky(), X, Y, cv=2, feature_names=NAMES)
    with pytest.raises(ValueError, match="not two") as raised:
        game(np.array([[False, True, False, False, True]]))
    assert raised.value.__notes__ == ["The error occurred while scoring a model with {b, e}."]


def test_the_game_can_be_pickled():
    game = RetrainingGame(GaussianNB(), X, Y, cv=2)
    copy = pickle.loads(pickle.dumps(game))
    rows = np.random.default_rng(0).random((4, game.n_players)) < 0.5
    np.testing.assert_array_equal(copy(rows), game(rows))
    assert copy.fingerprint == game.fingerprint
