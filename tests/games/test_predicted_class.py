"""PredictedClass: the output of the class that a model predicts for a row."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from topshap.core.errors import ParameterError
from topshap.games.outputs import Prediction, TorchPredict, prediction_of
from topshap.games.predicted_class import PredictedClass, explained_output

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
TWO = Y < 2
SPREAD = [0, 60, 120]


class Scores:
    """A model with probabilities and without classes or a method predict."""

    def predict_proba(self, rows):
        return np.eye(3)[rows[:, 0].astype(int) % 3]


class Moved:
    """A classifier whose predict does not follow its highest probability."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, rows):
        return np.tile([0.6, 0.4], (len(rows), 1))

    def predict(self, rows):
        return np.full((len(rows), 1), "yes", dtype=object)


@pytest.mark.parametrize("model", [LogisticRegression(max_iter=999).fit(X, NAMES), SVC().fit(X, NAMES)])
def test_the_class_of_each_row_is_that_of_predict(model):
    output = PredictedClass(model)
    assert [model.classes_[i] for i in output.positions(X)] == model.predict(X).tolist()
    for row in SPREAD:
        scores = getattr(model, "predict_proba", getattr(model, "decision_function", None))(X[row : row + 1])
        prediction = output.for_row(X[row : row + 1])
        assert prediction(X[row : row + 1])[0] == scores.max()
        assert prediction.output_name.endswith(f"of class {str(NAMES[row])!r}")


def test_predict_decides_not_the_highest_probability():
    output = explained_output(Moved(), None, X[:1])
    assert output.for_row(X[:1]).output_name == "predict_proba of class 'yes'"
    assert output.for_row(X[:1])(X[:2]).tolist() == [0.4, 0.4]


def test_a_model_without_class_names_has_the_position_of_its_highest_probability():
    output = explained_output(Scores(), None, X[:1])
    assert isinstance(output, PredictedClass)
    assert output.positions(X[:3]).tolist() == [5 % 3, 4 % 3, 4 % 3]
    assert output.for_row(X[:1]).output_name == "predict_proba of class 2"


def test_the_decision_function_of_the_first_of_two_classes_is_negative():
    model = SVC().fit(X[TWO], NAMES[TWO])
    scores = model.decision_function(X[TWO])
    np.testing.assert_array_equal(prediction_of(model, "versicolor")(X[TWO]), scores)
    np.testing.assert_array_equal(prediction_of(model, "setosa")(X[TWO]), -scores)
    output = PredictedClass(model)
    assert output.for_row(X[:1])(X[:1])[0] == -scores[0] > 0.0


def test_a_function_with_one_output_is_explained_as_it_is():
    model = GradientBoostingClassifier(n_estimators=2).fit(X[TWO], NAMES[TWO])
    for function in (model.decision_function, LinearRegression().fit(X, Y).predict, lambda rows: rows[:, 0]):
        assert isinstance(explained_output(function, None, X[:1]), Prediction)
    assert explained_output(model, "setosa", X[:1]).output_name == "predict_proba of class 'setosa'"


def test_an_unfitted_classifier_is_refused():
    with pytest.raises(ParameterError, match="a method of a fitted model: call fit first"):
        explained_output(LogisticRegression(), None, X[:1])


class Module:
    """What makes a torch module one, for a prediction that is replaced: torch itself is tested in test_heavy.py."""

    def __init__(self, n_outputs):
        self.weights = np.arange(4.0 * n_outputs).reshape(4, n_outputs) - 3.0

    def parameters(self):
        return iter(())

    def forward(self, rows):
        return rows @ self.weights


def test_a_torch_module_is_explained_by_its_highest_output(monkeypatch):
    monkeypatch.setattr(TorchPredict, "__call__", lambda self, data: self.module.forward(data))
    output = explained_output(Module(3), None, X[:1])
    assert output.output_name == "the highest output of the module"
    highest = output.positions(X[:5])
    assert highest.tolist() == Module(3).forward(X[:5]).argmax(axis=1).tolist()
    prediction = output.for_row(X[:1])
    assert prediction.output_name == f"output {highest[0]} of the module"
    assert prediction(X[:1])[0] == Module(3).forward(X[:1]).max()
    assert explained_output(Module(1), None, X[:1]).output_name == "output 0 of the module"
