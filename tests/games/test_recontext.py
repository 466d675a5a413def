"""The game that fits a model again on the features that are known."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from topshap.core.errors import ParameterError
from topshap.games import RecontextGame
from topshap.reference import exact

IRIS = load_iris()
X, Y = IRIS.data, IRIS.target
NAMED = IRIS.target_names[Y]
ALL = np.array([[bool(number >> i & 1) for i in range(4)] for number in range(16)])


def test_a_value_is_the_prediction_of_a_model_fitted_on_the_present_features():
    game = RecontextGame(GaussianNB(), X, NAMED, X[70], output="virginica")
    for present in ALL[1:]:
        model = GaussianNB().fit(X[:, present], NAMED)
        assert game(present[None])[0] == model.predict_proba(X[70:71, present])[0, 2]
    assert game(ALL[:1])[0] == pytest.approx(1 / 3)
    assert game.output_name == "predict_proba of class 'virginica'"
    assert game.player_values == tuple(X[70])


def test_a_regressor_without_features_predicts_the_mean():
    game = RecontextGame(LinearRegression(), X[:, :3], X[:, 3], X[0, :3])
    assert game(np.zeros((1, 3), dtype=bool))[0] == pytest.approx(X[:, 3].mean())


def test_the_predicted_class_is_explained_by_default():
    game = RecontextGame(KNeighborsClassifier(), X, NAMED, X[120])
    predicted = KNeighborsClassifier().fit(X, NAMED).predict(X[120:121]).tolist()[0]
    assert game.output_name == f"predict_proba of class {predicted!r}"


def test_a_feature_that_does_not_help_has_no_value():
    constant = np.column_stack([X[:, :3], np.ones(150)])
    game = RecontextGame(LinearRegression(), constant, X[:, 3], constant[0])
    assert exact.shapley_values(game)[3] == pytest.approx(0.0, abs=1e-9)


def test_the_estimator_is_not_changed_and_its_seed_is_set():
    forest = RandomForestRegressor(3)
    game = RecontextGame(forest, X[:, :3], X[:, 3], X[0, :3], random_state=5)
    assert not hasattr(forest, "estimators_")
    assert game.deterministic
    np.testing.assert_array_equal(game(ALL[:8, :3]), game(ALL[:8, :3]))
    assert not RecontextGame(forest, X[:, :3], X[:, 3], X[0, :3], random_state=None).deterministic


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_type_and_groups_are_one_player(library):
    seen = []

    class Recording(LinearRegression):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    frame = library({name: X[:, j] for j, name in enumerate("abc")})
    row = {"c": X[0, 2], "a": X[0, 0], "b": X[0, 1]}
    game = RecontextGame(Recording(), frame, X[:, 3], row, groups={"ab": ["a", "b"]})
    plain = RecontextGame(LinearRegression(), X[:, :3], X[:, 3], X[0, :3], groups={"ab": [0, 1]})
    np.testing.assert_allclose(game(ALL[:4, :2]), plain(ALL[:4, :2]))
    assert game.player_names == ("ab", "c")
    assert {type(data) for data in seen} == {library}


def test_log_odds_are_those_of_the_probability():
    plain = RecontextGame(GaussianNB(), X, Y, X[70], output=1)(ALL)
    linked = RecontextGame(GaussianNB(), X, Y, X[70], output=1, link="logit")(ALL)
    np.testing.assert_allclose(linked, np.log(plain / (1 - plain)))


def test_games_can_be_pickled_and_fingerprints_depend_on_everything():
    def made(row=0, **options):
        return RecontextGame(GaussianNB(), X, Y, X[row], **{"output": 1, **options})

    game = made()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(game))(ALL), game(ALL))
    others = [made(1), made(output=2), made(link="logit"), made(groups={"g": [0, 1]}), made(fingerprint="mine")]
    named = [made(1, fingerprint="mine"), made(output=2, fingerprint="mine"), made(link="logit", fingerprint="mine")]
    assert len({each.fingerprint for each in [game, *others, *named]}) == 9
    assert made().fingerprint == game.fingerprint


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((LinearRegression(), X, Y, X[0]), {"output": 1}, "'output' .* must be None for a regressor. Got 1"),
        ((GaussianNB(), X, NAMED, X[0]), {"output": "rose"}, "one of the classes, 'setosa', .* Got 'rose'"),
        ((LinearSVC(), X, Y, X[0]), {}, "'estimator' .* a classifier with predict_proba"),
        ((LinearRegression, X, Y, X[0]), {}, "'estimator' .* a scikit-learn estimator"),
        ((LinearRegression(), X, Y[:9], X[0]), {}, "'y' .* one target for each of the 150 rows"),
        ((LinearRegression(), X, Y, X[0, :2]), {}, "'x' .* one row with the 4 columns"),
        ((LinearRegression(), X, 5.0 + Y, X[0]), {"link": "logit"}, "'link' .* must be 'identity' for this model"),
        ((LinearRegression(), X, Y, X[0]), {"random_state": -1}, "'random_state'"),
    ],
)
def test_errors_say_what_to_do(arguments, options, message):
    with pytest.raises(ParameterError, match=message):
        RecontextGame(*arguments, **options)


class Number(float):
    """The only prediction: shapiq 1.4 expects a number, and later versions an array."""

    def __getitem__(self, index):
        return self


def test_values_are_those_of_the_imputer_of_shapiq_for_in_context_models():
    shapiq = pytest.importorskip("shapiq.imputer", reason="shapiq is in the extra 'shapiq'")
    target = X[:, 3]
    theirs = shapiq.TabPFNImputer(
        LinearRegression(),
        X[:, :3],
        target,
        empty_prediction=float(target.mean()),
        predict_function=lambda model, rows: Number(model.predict(rows)[0]),
    )
    theirs.fit(X[:1, :3])
    game = RecontextGame(LinearRegression(), X[:, :3], target, X[0, :3])
    np.testing.assert_allclose(game(ALL[:8, :3]), theirs.value_function(ALL[:8, :3]))
