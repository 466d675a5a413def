"""DataGame: priors, features of points, and models that learn incrementally."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

import topshap
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.games import DataGame, knn_shapley

X, Y = make_classification(120, n_features=5, n_informative=3, n_redundant=0, random_state=0)
TRAIN, TEST = (X[:40], Y[:40]), (X[40:], Y[40:])


def test_the_nearest_neighbour_prior_uses_columns_of_the_same_variance():
    game = DataGame(GaussianNB(), 1000.0 * TRAIN[0], TRAIN[1], 1000.0 * TEST[0], TEST[1], prior="knn")
    mean, deviation = TRAIN[0].mean(axis=0), TRAIN[0].std(axis=0)
    expected = knn_shapley((TRAIN[0] - mean) / deviation, TRAIN[1], (TEST[0] - mean) / deviation, TEST[1])
    np.testing.assert_allclose(game.prior, expected, atol=1e-12)


def test_groups_have_the_sum_of_the_priors_and_the_mean_of_the_features_of_their_points():
    options = {"prior": "knn"}
    single = DataGame(GaussianNB(), *TRAIN, *TEST, **options)
    grouped = DataGame(GaussianNB(), *TRAIN, *TEST, groups={"first": range(10)}, always=[39], **options)
    assert grouped.n_players == len(grouped.prior) == len(grouped.player_features) == 30
    assert grouped.prior[0] == pytest.approx(single.prior[:10].sum())
    np.testing.assert_allclose(grouped.player_features[0], single.player_features[:10].mean(axis=0))


def test_categories_and_missing_numbers_have_features():
    frame = pd.DataFrame({"size": [1.0, np.nan, 3.0], "colour": ["red", "blue", "red"]})
    game = DataGame(KNeighborsClassifier(1), frame, [0, 1, 1], frame, [0, 1, 1], prior="knn")
    np.testing.assert_allclose(game.player_features[:, :3], [[-1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert np.isfinite(game.prior).all()


def test_small_games_have_no_side_information_unless_it_is_asked_for():
    game = DataGame(GaussianNB(), *TRAIN, *TEST)
    assert game.prior is None
    assert game.player_features is None
    assert topshap.identify(game, k=2, budget=100, random_state=0).algorithm == "odd-gp"


def test_large_games_of_classifiers_have_a_prior_and_features():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(2001, 2)), rng.integers(2, size=2001)
    game = DataGame(GaussianNB(), points, labels, points[:20], labels[:20])
    assert game.prior.shape == (2001,)
    assert game.player_features.shape == (2001, 4)
    regression = DataGame(LinearRegression(), points, labels, points[:20], labels[:20])
    assert regression.prior is None
    assert regression.player_features.shape == (2001, 3)


def test_harmful_points_are_found_with_a_tenth_as_many_retrainings_as_points():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2300, 4))
    labels = (points[:, 0] + points[:, 1] > 0).astype(int)
    wrong = rng.choice(2100, size=100, replace=False)
    noisy = labels[:2100].copy()
    noisy[wrong] ^= 1
    game = DataGame(GaussianNB(), points[:2100], noisy, points[2100:], labels[2100:])
    top = topshap.identify(game, k=100, budget=210, rank_by="lowest", random_state=0)
    assert top.algorithm == "player-gp"
    assert np.isin(top.players, wrong).mean() > 0.4  # 0.05 by chance


@pytest.mark.parametrize("estimator", [BernoulliNB(), MultinomialNB()])
def test_counting_models_that_learn_incrementally_have_the_same_values(estimator):
    counts = (X > 0).astype(int)
    data = counts[:6], Y[:6], counts[6:], Y[6:]
    incremental = DataGame(estimator, *data, incremental=True)
    coalitions = from_ids(np.arange(64), 6)
    np.testing.assert_allclose(incremental(coalitions), DataGame(estimator, *data)(coalitions))
    assert incremental.deterministic


def test_a_permutation_sweep_learns_every_point_once(monkeypatch):
    learned = []
    original = BernoulliNB.partial_fit

    def counting(self, X, y, **more):
        learned.append(len(X))
        return original(self, X, y, **more)

    monkeypatch.setattr(BernoulliNB, "partial_fit", counting)
    game = DataGame(BernoulliNB(), *TRAIN, *TEST, incremental=True)
    first = next(size for size in range(1, 41) if len(set(TRAIN[1][:size])) == 2)
    game(np.tri(40, dtype=bool))
    assert learned == [first] + [1] * (40 - first)


def test_models_that_depend_on_the_order_of_points_are_not_deterministic():
    assert not DataGame(SGDClassifier(), *TRAIN, *TEST, incremental=True).deterministic
    assert not DataGame(GaussianNB(), *TRAIN, *TEST, incremental=True).deterministic
    assert DataGame(SGDClassifier(), *TRAIN, *TEST).deterministic


def test_a_pickled_game_has_the_same_values_fingerprint_and_side_information():
    counts = (X > 0).astype(int)
    game = DataGame(BernoulliNB(), counts[:40], Y[:40], counts[40:], Y[40:], prior="knn", incremental=True)
    copy = pickle.loads(pickle.dumps(game))
    coalitions = np.tri(40, dtype=bool)
    np.testing.assert_array_equal(copy(coalitions), game(coalitions))
    np.testing.assert_array_equal(copy.prior, game.prior)
    np.testing.assert_array_equal(copy.player_features, game.player_features)
    assert copy.fingerprint == game.fingerprint is not None


def test_the_fingerprint_depends_on_what_the_values_depend_on():
    plain = DataGame(GaussianNB(), *TRAIN, *TEST).fingerprint
    assert DataGame(GaussianNB(), *TRAIN, *TEST, incremental=True).fingerprint != plain
    assert DataGame(GaussianNB(), *TRAIN, *TEST, prior="knn").fingerprint == plain  # stores keep their values


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (GaussianNB(), {"prior": "nearest"}, "'prior' parameter of DataGame must be 'auto' or 'knn'"),
        (GaussianNB(), {"prior": [1.0]}, "'prior' parameter of DataGame must be one number for each of 40 players"),
        (LinearRegression(), {"prior": "knn"}, "'prior' parameter of DataGame must be .* for a regressor"),
        (KNeighborsClassifier(), {"incremental": True}, "'incremental' parameter .* without partial_fit"),
        (GaussianNB(), {"incremental": "yes"}, "'incremental' parameter of DataGame must be a bool"),
    ],
)
def test_wrong_options_are_refused(estimator, options, message):
    with pytest.raises(ParameterError, match=message):
        DataGame(estimator, *TRAIN, *TEST, **options)
