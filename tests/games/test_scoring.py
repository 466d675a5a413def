"""The base of games that train models: seeds, scorers, targets and constant models."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from topshap.core.errors import ParameterError
from topshap.games.scoring import check_estimator, check_scorer, check_target, constant_model, seeded


def test_every_unset_random_state_gets_the_seed():
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier())
    copy, deterministic = seeded(pipeline, 7)
    assert deterministic
    assert copy.get_params()["randomforestclassifier__random_state"] == 7
    assert pipeline.get_params()["randomforestclassifier__random_state"] is None


@pytest.mark.parametrize(
    ("estimator", "seed", "deterministic"),
    [
        (LinearRegression(), None, True),
        (RandomForestClassifier(), None, False),
        (RandomForestClassifier(random_state=3), None, True),
        (RandomForestClassifier(random_state=np.random.RandomState(3)), 7, False),
    ],
)
def test_an_estimator_is_deterministic_unless_its_random_state_is_unset_or_a_generator(estimator, seed, deterministic):
    assert seeded(estimator, seed)[1] is deterministic


def test_a_seed_of_the_estimator_is_kept():
    assert seeded(RandomForestClassifier(random_state=3), 7)[0].random_state == 3


def test_a_constant_model_ignores_the_features():
    rows = np.zeros((3, 1))
    classifier = constant_model(LogisticRegression()).fit(rows, ["a", "b", "b"])
    assert classifier.predict(rows[:1]).tolist() == ["b"]
    np.testing.assert_allclose(classifier.predict_proba(rows[:1]), [[1 / 3, 2 / 3]])
    assert constant_model(LinearRegression()).fit(rows, [1.0, 2.0, 6.0]).predict(rows[:1]).tolist() == [3.0]
    with pytest.raises(ParameterError, match="'estimator' parameter must be a classifier or a regressor"):
        constant_model(KMeans())


def test_a_scorer_is_a_name_a_function_or_the_estimators_own():
    def score(estimator, X, y):
        return 1.0

    fitted = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    assert check_scorer(fitted, score) is score
    assert check_scorer(fitted, None)(fitted, [[0.0], [1.0]], [0.0, 1.0]) == pytest.approx(1.0)
    assert check_scorer(fitted, "neg_mean_squared_error")(fitted, [[0.0]], [2.0]) == pytest.approx(-4.0)
    with pytest.raises(ParameterError, match="'scoring' parameter must be the name of a scikit-learn scorer"):
        check_scorer(fitted, "beauty")


def test_an_estimator_is_an_object_with_fit_and_parameters():
    estimator = LinearRegression()
    assert check_estimator(estimator) is estimator
    for wrong in (LinearRegression, "model", None, np.mean):
        with pytest.raises(ParameterError, match="'estimator' parameter must be a scikit-learn estimator"):
            check_estimator(wrong)


def test_a_target_has_one_element_per_row():
    assert check_target("y", ["a", "b"], 2).tolist() == ["a", "b"]
    for wrong in ([1.0], 3.0):
        with pytest.raises(ParameterError, match="'y' parameter must be one target for each of the 2 rows"):
            check_target("y", wrong, 2)
