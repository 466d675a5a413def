"""Backgrounds: rows with and without weights."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import topshap
from topshap.core.errors import ParameterError
from topshap.games import PredictionGame, PredictionsGame
from topshap.games.backgrounds import as_background

ROWS = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 1.0], [6.0, 8.0, 2.0]])
REPEATED = ROWS[[0, 1, 1, 2, 2, 2]]
WEIGHTED = SimpleNamespace(data=ROWS, weights=np.array([1, 2, 3]))
ALL = np.array([[bool(number >> i & 1) for i in range(3)] for number in range(8)])


def product(X):
    return X[:, 0] * X[:, 1] + X[:, 2] ** 2


@pytest.mark.parametrize("imputer", ["marginal", "conditional", "mean-mode"])
def test_a_weight_counts_as_that_number_of_equal_rows(imputer):
    x = [1.5, 5.0, 3.0]
    game = PredictionGame(product, x, WEIGHTED, imputer=imputer)
    if imputer == "conditional":  # the standard deviations are those of the rows without weights
        same = PredictionGame(product, x, SimpleNamespace(data=ROWS, weights=[2, 4, 6]), imputer=imputer)
        assert (game(ALL) != PredictionGame(product, x, ROWS, imputer=imputer)(ALL)).any()
    else:
        same = PredictionGame(product, x, REPEATED, imputer=imputer)
    np.testing.assert_allclose(game(ALL), same(ALL))
    many = PredictionsGame(product, [x, [2.0, 8.0, 1.0]], WEIGHTED, imputer=imputer)
    np.testing.assert_allclose(many(ALL)[:, 0], game(ALL))


def test_the_most_frequent_category_has_the_largest_weight():
    game = PredictionGame(product, [0.0, 0.0, 0.0], WEIGHTED, categorical=[0])
    assert game(ALL[:1]) == 6.0 * 6.5 + (8 / 6) ** 2


def test_equal_weights_are_those_of_a_plain_background():
    same = SimpleNamespace(data=ROWS, weights=np.ones(3))
    game = PredictionGame(product, [0.0, 5.0, 1.0], same, imputer="marginal")
    np.testing.assert_allclose(game(ALL), PredictionGame(product, [0.0, 5.0, 1.0], ROWS, imputer="marginal")(ALL))


def test_known_dummies_do_not_depend_on_weights():
    same = SimpleNamespace(data=ROWS[:2], weights=[1, 3])
    assert PredictionGame(product, [0.0, 5.0, 1.0], same, imputer="marginal").dummies.tolist() == [False, True, False]


def test_rows_with_weight_0_are_left_out():
    assert as_background(SimpleNamespace(data=ROWS, weights=[1, 0, 1])).table.data.tolist() == ROWS[[0, 2]].tolist()


def test_the_fingerprint_depends_on_the_weights():
    games = [
        PredictionGame(np.ravel, [1.0], rows, imputer="marginal")
        for rows in (ROWS[:, :1], *(SimpleNamespace(data=ROWS[:, :1], weights=w) for w in ([1, 2, 3], [1, 1, 3])))
    ]
    assert len({game.fingerprint for game in games}) == 3


def test_a_frame_with_columns_called_data_and_weights_is_a_plain_background():
    frame = pd.DataFrame({"data": [1.0, 2.0], "weights": [3.0, 4.0]})
    assert as_background(frame).weights is None


@pytest.mark.parametrize("weights", [[1, 2], [1, -1, 3], [0, 0, 0], [1, np.nan, 2]])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(ParameterError, match="one number for each of its 3 rows"):
        as_background(SimpleNamespace(data=ROWS, weights=weights))


def test_weighted_rows_must_be_numbers():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(ParameterError, match="an array of numbers if weighted"):
        as_background(SimpleNamespace(data=frame, weights=[1, 2]))


@pytest.mark.parametrize("imputer", ["gaussian", "gaussian-copula"])
def test_a_weighted_summary_is_refused_where_a_covariance_is_estimated(imputer):
    with pytest.raises(ParameterError, match=r"understates the covariance. Got 3 weighted rows"):
        PredictionGame(product, ROWS[0], WEIGHTED, imputer=imputer)


def test_the_summary_of_shap_is_accepted_and_gives_its_values():
    shap = pytest.importorskip("shap", reason="shap is in the extra 'shap'")
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["a", "b", "c"])
    summary = shap.kmeans(frame, 7)
    explainer = topshap.Explainer(product, summary, random_state=0, max_background=5)
    top = explainer.explain(frame.iloc[0], k=1)
    theirs = shap.KernelExplainer(product, summary).shap_values(frame.iloc[0].to_numpy(), silent=True)
    np.testing.assert_allclose(top.estimates, theirs, atol=1e-8)
    assert set(top.player_names) == {"a", "b", "c"}
