"""EnsembleGame: scores of the averages of models."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from topshap.core.errors import ParameterError
from topshap.games import EnsembleGame

X, Y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[Y]
XR, YR = load_diabetes(return_X_y=True)
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(4, max_depth=2, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=2), 4, max_features=0.5, random_state=0),
        VotingClassifier([("tree", DecisionTreeClassifier(max_depth=1)), ("bayes", GaussianNB())], voting="soft"),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_the_grand_coalition_has_the_score_of_the_ensemble_of_classifiers(ensemble):
    ensemble.fit(X[TRAIN], LABELS[TRAIN])
    n = len(ensemble.estimators_)
    accuracy = EnsembleGame(ensemble, X[TEST], LABELS[TEST])
    loss = EnsembleGame(ensemble, X[TEST], LABELS[TEST], scoring="neg_log_loss")
    grand = np.ones((1, n), dtype=bool)
    assert accuracy(grand)[0] == pytest.approx(ensemble.score(X[TEST], LABELS[TEST]))
    assert loss(grand)[0] == pytest.approx(-log_loss(LABELS[TEST], ensemble.predict_proba(X[TEST])))


@pytest.mark.parametrize(
    "ensemble",
    [
        ExtraTreesRegressor(4, random_state=0),
        BaggingRegressor(DecisionTreeRegressor(max_depth=2), 4, max_features=0.5, random_state=0),
        VotingRegressor([("tree", DecisionTreeRegressor(max_depth=1)), ("line", LinearRegression())]),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_the_grand_coalition_has_the_score_of_the_ensemble_of_regressors(ensemble):
    ensemble.fit(XR[TRAIN], YR[TRAIN])
    game = EnsembleGame(ensemble, XR[TEST], YR[TEST])
    grand = np.ones((1, game.n_players), dtype=bool)
    assert game(grand)[0] == pytest.approx(ensemble.score(XR[TEST], YR[TEST]))
    assert game(~grand)[0] == pytest.approx(0.0)  # R^2 of the mean


def test_a_coalition_of_members_predicts_their_average():
    members = {
        "tree": DecisionTreeClassifier(max_depth=1),
        "bayes": GaussianNB(),
        "line": LogisticRegression(max_iter=999),
    }
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for model in members.values():
        model.fit(frame[TRAIN], LABELS[TRAIN])
    game = EnsembleGame(members, frame[TEST], LABELS[TEST])
    assert game.player_names == ("tree", "bayes", "line")
    average = (members["tree"].predict_proba(frame[TEST]) + members["line"].predict_proba(frame[TEST])) / 2
    expected = (np.unique(LABELS)[average.argmax(axis=1)] == LABELS[TEST]).mean()
    assert game(np.array([[True, False, True]]))[0] == expected
    always = EnsembleGame(members, frame[TEST], LABELS[TEST], always=["line"])
    assert always(np.array([[True, False]]))[0] == expected


def test_members_that_have_not_seen_every_class_are_aligned():
    one = GaussianNB().fit(X[Y != 0], LABELS[Y != 0])
    other = GaussianNB().fit(X[Y != 2], LABELS[Y != 2])
    game = EnsembleGame([one, other], X, LABELS)
    assert game.player_names == ("GaussianNB", "GaussianNB (2)")
    alone = game(np.array([[True, False], [False, True]]))
    np.testing.assert_allclose(alone, [one.score(X, LABELS), other.score(X, LABELS)])


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "at least one fitted model"),
        (
            GradientBoostingClassifier(n_estimators=2).fit(X, Y),
            "a forest, a bagging ensemble, an unweighted soft voting",
        ),
        (VotingClassifier([("bayes", GaussianNB())]).fit(X, Y), "unweighted soft voting"),
        (RandomForestClassifier(), "a fitted ensemble or a list of fitted models"),
        (None, "a fitted ensemble or a list of fitted models"),
        ([GaussianNB().fit(X, Y), LinearRegression().fit(X, Y)], "Got GaussianNB and LinearRegression"),
        ([GaussianNB()], "fitted models that can predict X"),
    ],
)
def test_invalid_members_are_refused(members, message):
    with pytest.raises(ParameterError, match=message):
        EnsembleGame(members, X, Y)


def test_the_game_can_be_pickled():
    game = EnsembleGame(RandomForestClassifier(3, random_state=0).fit(X, Y), X, Y)
    copy = pickle.loads(pickle.dumps(game))
    rows = np.random.default_rng(0).random((4, game.n_players)) < 0.5
    np.testing.assert_array_equal(copy(rows), game(rows))
    assert copy.fingerprint == game.fingerprint
