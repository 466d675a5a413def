"""Models with given predictions: scikit-learn scores them like any other model."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import get_scorer

from topshap.games.fixed_predictions import FixedClassifier, FixedRegressor

PROBABILITIES = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
ROWS = np.zeros((3, 1))


def test_a_classifier_predicts_the_most_probable_class():
    model = FixedClassifier(PROBABILITIES, np.array(["no", "yes"]))
    assert is_classifier(model)
    assert model.predict(ROWS).tolist() == ["no", "no", "yes"]
    assert get_scorer("accuracy")(model, ROWS, ["no", "yes", "yes"]) == pytest.approx(2 / 3)
    assert get_scorer("roc_auc")(model, ROWS, ["no", "no", "yes"]) == 1.0
    assert model.fit(ROWS, ["no", "no", "yes"]) is model


def test_a_regressor_predicts_the_given_numbers():
    model = FixedRegressor(np.array([1.0, 2.0, 3.0]))
    assert is_regressor(model)
    assert get_scorer("neg_mean_absolute_error")(model, ROWS, [1.0, 2.0, 6.0]) == pytest.approx(-1.0)
    assert clone(model).fit(ROWS, [0.0] * 3).predict(ROWS).tolist() == [1.0, 2.0, 3.0]
