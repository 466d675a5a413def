"""EnsembleGame and UnsupervisedGame."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
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

from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import EnsembleGame, RetrainingGame, UnsupervisedGame

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
def test_everybody_together_is_the_ensemble_of_classifiers(ensemble):
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
def test_everybody_together_is_the_ensemble_of_regressors(ensemble):
    ensemble.fit(XR[TRAIN], YR[TRAIN])
    game = EnsembleGame(ensemble, XR[TEST], YR[TEST])
    grand = np.ones((1, game.n_players), dtype=bool)
    assert game(grand)[0] == pytest.approx(ensemble.score(XR[TEST], YR[TEST]))
    assert game(~grand)[0] == pytest.approx(0.0)  # R^2 of the mean


def test_a_set_of_members_predicts_their_average():
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
        (GradientBoostingClassifier(n_estimators=2).fit(X, Y), "a forest, a bagging or an unweighted soft voting"),
        (VotingClassifier([("bayes", GaussianNB())]).fit(X, Y), "unweighted soft voting"),
        (RandomForestClassifier(), "a fitted ensemble or a list of fitted models"),
        (None, "a fitted ensemble or a list of fitted models"),
        ([GaussianNB().fit(X, Y), LinearRegression().fit(X, Y)], "Got GaussianNB and LinearRegression"),
        ([GaussianNB()], "fitted models that take X"),
    ],
)
def test_wrong_members_are_refused(members, message):
    with pytest.raises(ParameterError, match=message):
        EnsembleGame(members, X, Y)


def test_the_games_can_be_pickled():
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    for game in (EnsembleGame(forest, X, Y), UnsupervisedGame(X), RetrainingGame(GaussianNB(), X, Y, cv=2)):
        copy = pickle.loads(pickle.dumps(game))
        rows = np.random.default_rng(0).random((4, game.n_players)) < 0.5
        np.testing.assert_array_equal(copy(rows), game(rows))
        assert copy.fingerprint == game.fingerprint


def test_total_correlation_of_gaussians_is_in_closed_form():
    rng = np.random.default_rng(0)
    covariance = np.array([[1.0, 0.8, 0.3], [0.8, 2.0, 0.1], [0.3, 0.1, 0.5]])
    data = rng.multivariate_normal(np.zeros(3), covariance, size=300)
    game = UnsupervisedGame(data, shrinkage=0.0)
    correlations = np.corrcoef(data.T)
    for coalition, value in zip(from_ids(np.arange(8), 3), game(from_ids(np.arange(8), 3)), strict=True):
        part = correlations[np.ix_(coalition, coalition)]
        assert value == pytest.approx(-0.5 * np.log(np.linalg.det(part)) if coalition.any() else 0.0, abs=1e-12)


def test_total_correlation_of_categories_is_counted():
    rng = np.random.default_rng(0)
    a = rng.choice(["x", "y", "z"], size=400)
    frame = pd.DataFrame({"a": a, "copy": a, "other": rng.integers(0, 2, size=400)})
    game = UnsupervisedGame(frame, method="discrete")
    frequencies = frame["a"].value_counts(normalize=True).to_numpy()
    entropy = -(frequencies * np.log(frequencies)).sum()
    values = game(np.array([[True, True, False], [True, False, True], [False, False, True]]))
    assert values[0] == pytest.approx(entropy)
    assert values[1] == pytest.approx(0.0, abs=0.02)
    assert values[2] == pytest.approx(0.0, abs=1e-12)


@given(st.sampled_from(["gaussian", "discrete"]), st.integers(0, 50))
def test_more_columns_never_say_less(method, seed):
    rng = np.random.default_rng(seed)
    game = UnsupervisedGame(rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4)), method=method, bins=3)
    table = game(from_ids(np.arange(16), 4))
    for coalition in range(16):
        for player in range(4):
            assert table[coalition | 1 << player] >= table[coalition] - 1e-9


def test_what_has_no_correlations_is_refused():
    data = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ParameterError, match="Got the column 1: drop it"):
        UnsupervisedGame(np.stack([data[:, 0], np.ones(20)], axis=1))
    with pytest.raises(ParameterError, match=r"'shrinkage' .* must be larger"):
        UnsupervisedGame(data[:, [0, 0]], shrinkage=0.0)
    with pytest.raises(ParameterError, match=r"'shrinkage' .* a number in \[0, 1\]"):
        UnsupervisedGame(data, shrinkage=2.0)
    with pytest.raises(ParameterError, match=r"'method' .* must be 'gaussian' or 'discrete'"):
        UnsupervisedGame(data, method="guess")
