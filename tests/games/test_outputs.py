"""Prediction: one number per row for every kind of model."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from topshap.core.errors import GameError, ParameterError
from topshap.games import PredictionGame
from topshap.games.outputs import Prediction, as_array, prediction_of
from topshap.games.prediction import option_names
from topshap.games.tables import as_table

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
TWO = Y < 2


def columns(n):
    def predict(rows):
        return np.tile(np.arange(float(n)), (len(rows), 1))

    return predict


@pytest.mark.parametrize(
    ("model", "output", "name"),
    [
        (LogisticRegression().fit(X[TWO], NAMES[TWO]), None, "predict_proba of class 'versicolor'"),
        (LogisticRegression().fit(X[TWO], Y[TWO]), 0, "predict_proba of class 0"),
        (LogisticRegression(max_iter=999).fit(X, NAMES), "setosa", "predict_proba of class 'setosa'"),
        (SVC().fit(X[TWO], NAMES[TWO]), None, "decision_function"),
        (SVC().fit(X[TWO], NAMES[TWO]), "versicolor", "decision_function of class 'versicolor'"),
        (SVC().fit(X, NAMES), "virginica", "decision_function of class 'virginica'"),
        (LinearRegression().fit(X, Y), None, "predict"),
        (LinearRegression().fit(X, np.stack([Y, Y], axis=1)), 1, "predict"),
        (columns(1), None, "predict"),
        (columns(2), 1, "predict, output 1"),
    ],
)
def test_the_output_of_a_model_has_a_name(model, output, name):
    prediction = prediction_of(model, output)
    assert prediction.output_name == name
    assert prediction(X[:5]).shape == (5,)


def test_the_output_of_a_class_is_its_column_of_the_model():
    model = LogisticRegression(max_iter=999).fit(X, NAMES)
    np.testing.assert_array_equal(prediction_of(model, "virginica")(X), model.predict_proba(X)[:, 2])
    svc = SVC().fit(X, NAMES)
    np.testing.assert_array_equal(prediction_of(svc, "virginica")(X), svc.decision_function(X)[:, 2])


@pytest.mark.parametrize(
    ("model", "output", "message"),
    [
        (LogisticRegression(max_iter=999).fit(X, NAMES), None, "one of the model's classes, 'setosa', 'versicolor'"),
        (LogisticRegression(max_iter=999).fit(X, NAMES), "rose", "one of the model's classes"),
        (SVC().fit(X[TWO], NAMES[TWO]), "rose", "one of the model's classes"),
        ("model", None, "'model_or_predict' parameter must be a fitted model or a function"),
        (columns(2), "yes", "the position of an output, since the outputs have no names"),
        (columns(2), -1, "the position of an output"),
        (columns(2), True, "the position of an output"),
    ],
)
def test_an_unknown_output_is_refused(model, output, message):
    with pytest.raises(ParameterError, match=message):
        prediction_of(model, output)


@pytest.mark.parametrize(
    ("n", "output", "message"),
    [(3, None, "position of one of the 3 outputs"), (3, 3, "position of one of the 3"), (1, 1, "one output. Got 1")],
)
def test_an_output_is_checked_against_the_prediction(n, output, message):
    with pytest.raises(ParameterError, match=message):
        Prediction(columns(n), output)(X[:2])


def test_predictions_must_be_numbers():
    with pytest.raises(GameError, match="The model must predict numbers"):
        Prediction(lambda rows: ["good"] * len(rows))(X[:2])


def test_a_column_of_numbers_is_one_number_per_row():
    for predict in (lambda rows: rows[:, :1], lambda rows: rows[:, 0].tolist()):
        assert Prediction(predict)(X[:3]).tolist() == X[:3, 0].tolist()


def test_a_model_can_be_tested_before_a_run():
    table, rows = as_table("X", X), np.zeros((2, 4), dtype=np.intp)
    with pytest.raises(ParameterError, match=r"one number per row, 2 here. Got 3"):
        Prediction(lambda rows: [1.0, 2.0, 3.0]).try_on(table, rows)
    with pytest.raises(ParameterError, match="a method of a fitted model"):
        Prediction(LinearRegression().predict).try_on(table, rows)


def test_a_tensor_becomes_an_array():
    class Tensor:
        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return np.array([1.0, 2.0])

    assert as_array(Tensor()).tolist() == [1.0, 2.0]


def test_a_game_takes_a_prediction_object():
    model = LogisticRegression(max_iter=999).fit(X, NAMES)
    prediction = prediction_of(model, "virginica")
    game = PredictionGame(prediction, X[0], X)
    same = PredictionGame(model.predict_proba, X[0], X, output="virginica")
    everybody = np.ones((1, 4), dtype=bool)
    np.testing.assert_array_equal(game(everybody), same(everybody))
    assert game.fingerprint == same.fingerprint
    with pytest.raises(
        ParameterError, match="'output' parameter of PredictionGame must be None if 'predict' is a Prediction"
    ):
        PredictionGame(prediction, X[0], X, output="setosa")


def test_option_names_lists_the_options_of_a_game():
    options = {"imputer": "marginal", "groups": None, "always": None, "categorical": None, "feature_names": None}
    options |= {"link": "identity", "missing_value": None}
    assert set(option_names()) == {*options, "draws", "batch_bytes"}
    PredictionGame(columns(1), X[0], X, **options, draws=100, batch_bytes=1000)
