"""LossGame: the reduction of a model's loss, its losses and targets, and the errors of wrong calls."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import topshap
from topshap.games import LossGame, PredictionsGame
from topshap.games.imputers import IMPUTERS


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = X[:, 0] - 2.0 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=40)
    return X, y


def all_coalitions(n):
    return (np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1


def predict(X):
    return X[:, 0] - 2.0 * X[:, 1] * X[:, 2]


def test_the_value_is_the_reduction_of_the_mean_loss(numbers):
    X, y = numbers
    game = LossGame(predict, X, y, X[:7], loss="mse")
    coalitions = all_coalitions(4)
    predictions = PredictionsGame(predict, X, X[:7], imputer="marginal")(coalitions)
    losses = ((predictions - y) ** 2).mean(axis=1)
    np.testing.assert_allclose(game(coalitions), losses[0] - losses, atol=1e-12)
    assert game(np.zeros((1, 4), dtype=bool))[0] == 0.0
    assert game.output_name == "reduction of the mse"


def test_values_of_rows_average_to_the_value(numbers):
    X, y = numbers
    game, coalitions = LossGame(predict, X, y, X[:7], loss="mae"), all_coalitions(4)
    np.testing.assert_allclose(game.row_values(coalitions).mean(axis=1), game(coalitions))


def test_losses_are_those_of_predictions_for_some_of_the_rows(numbers):
    X, y = numbers
    game, coalitions, rows = LossGame(predict, X, y, X[:7], loss="mae"), all_coalitions(4), np.array([3, 5])
    predictions = game.predictions_of(rows)(coalitions)
    np.testing.assert_allclose(predictions, game.predictions(coalitions)[:, rows])
    np.testing.assert_allclose(game.losses_of(predictions[:, :1], np.full(16, 3)), game.row_losses(coalitions)[:, 3])
    np.testing.assert_allclose(game.residuals_of(predictions[:, 1:], np.full(16, 5)), y[5] - predictions[:, 1:])


def test_log_loss_takes_the_labels_of_a_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.array(["no", "yes", "perhaps"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])]
    model = LogisticRegression().fit(X, y)
    game = LossGame(model, X, y, X[:10])
    everything = model.predict_proba(X)[np.arange(60), [list(model.classes_).index(label) for label in y]]
    nothing = model.predict_proba(X[:10]).mean(axis=0)[[list(model.classes_).index(label) for label in y]]
    assert game(np.ones((1, 3), dtype=bool))[0] == pytest.approx(np.mean(np.log(everything) - np.log(nothing)))
    assert topshap.identify(game, k=1).players.tolist() == [0]


@pytest.mark.parametrize("columns", [1, 2])
def test_a_function_of_probabilities_has_targets_0_and_1(columns):
    def chances(X):
        chance = 1.0 / (1.0 + np.exp(-X[:, 0]))
        return chance if columns == 1 else np.stack([1.0 - chance, chance], axis=1)

    X = np.array([[2.0], [-1.0]])
    value = LossGame(chances, X, [1, 0], [[0.0]], loss="log-loss")(np.ones((1, 1), dtype=bool))[0]
    assert value == pytest.approx(np.log(2.0) - np.mean(np.log1p(np.exp([-2.0, -1.0]))))


def test_a_function_of_target_and_prediction_is_a_loss(numbers):
    X, y = numbers
    own = LossGame(predict, X, y, X[:7], loss=lambda y, prediction: (y - prediction) ** 2)
    np.testing.assert_allclose(own(all_coalitions(4)), LossGame(predict, X, y, X[:7])(all_coalitions(4)))


def test_several_outputs_are_compared_with_as_many_targets(numbers):
    X, y = numbers
    both = LossGame(lambda X: np.stack([predict(X), X[:, 3]], axis=1), X, np.stack([y, y], axis=1), X[:7])
    one, other = (LossGame(f, X, y, X[:7]) for f in (predict, lambda X: X[:, 3]))
    coalitions = all_coalitions(4)
    np.testing.assert_allclose(both(coalitions), (one(coalitions) + other(coalitions)) / 2.0)


@pytest.mark.parametrize("imputer", [name for name in IMPUTERS if name not in ("baseline", "missing")])
def test_imputers_give_the_loss_of_their_average_prediction(numbers, imputer):
    X, y = numbers
    options = {"imputer": imputer, "draws": 5}
    game = LossGame(predict, X[:6], y[:6], X[6:], **options)
    predictions = PredictionsGame(predict, X[:6], X[6:], **options)(all_coalitions(4))
    losses = ((predictions - y[:6]) ** 2).mean(axis=1)
    np.testing.assert_allclose(game(all_coalitions(4)), losses[0] - losses, atol=1e-12)


def test_frames_with_text_and_groups_are_accepted():
    frame = pd.DataFrame({"city": ["Graz", "Linz"] * 10, "old": [True, False] * 10, "size": np.arange(20.0)})
    y = np.where(frame["city"] == "Graz", 1.0, 0.0)

    def of_city(data):
        assert isinstance(data, pd.DataFrame)
        return (data["city"] == "Graz").to_numpy(dtype=float)

    game = LossGame(of_city, frame, y, frame, groups={"place": ["city", "old"]}, always=None)
    assert game.player_names == ("place", "size")
    np.testing.assert_allclose(game(all_coalitions(2)), [0.0, 0.25, 0.0, 0.25])
    assert LossGame(of_city, frame, y, frame, always=["old"]).player_names == ("city", "size")


def test_shapley_values_add_up_to_the_total_reduction(numbers):
    X, y = numbers
    model = LinearRegression().fit(X, y)
    game = LossGame(model, X, y, X)
    total = np.mean((y - model.predict(X).mean()) ** 2) - np.mean((y - model.predict(X)) ** 2)
    assert topshap.exact.shapley_values(game).sum() == pytest.approx(total)


def test_a_pickled_game_has_the_same_values_and_fingerprint(numbers):
    X, y = numbers
    game = LossGame(LinearRegression().fit(X, y), X, y, X[:5])
    copy = pickle.loads(pickle.dumps(game))
    np.testing.assert_array_equal(copy(all_coalitions(4)), game(all_coalitions(4)))
    assert copy.fingerprint == game.fingerprint


def test_the_fingerprint_depends_on_target_loss_and_data(numbers):
    X, y = numbers
    games = [
        LossGame(predict, X, y, X[:5]),
        LossGame(predict, X, y + 1.0, X[:5]),
        LossGame(predict, X, y, X[:5], loss="mae"),
        LossGame(predict, X, y, X[:6]),
        LossGame(predict, X, y, X[:5], fingerprint="mine"),
        LossGame(predict, X, y + 1.0, X[:5], fingerprint="mine"),
    ]
    assert all(first.fingerprint != second.fingerprint for first, second in combinations(games, 2))
    assert LossGame(predict, X, y, X[:5]).fingerprint == games[0].fingerprint


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (predict, {"loss": "hinge"}, "'loss' parameter of LossGame must be 'mse', 'mae' or 'log-loss'"),
        (predict, {"y": [1.0]}, "'y' parameter of LossGame must be one target for each of the 2 rows"),
        (predict, {"y": ["a", "b"]}, "'y' parameter of LossGame must be numbers for the losses 'mse' and 'mae'"),
        (predict, {"y": [1.0, np.nan]}, "must be finite numbers"),
        (predict, {"y": [[1.0, 2.0], [1.0, 2.0]]}, "one number per row and output of the model"),
        (lambda X: X[:, 0] / 10.0, {"y": [0, 3], "loss": "log-loss"}, "must be one of the positions of the model's"),
        (LinearRegression().fit(np.eye(4), np.ones(4)), {"loss": "log-loss"}, "for a model without predict_proba"),
        (predict, {"imputer": "nothing"}, "'imputer' parameter of LossGame must be 'mean-mode'"),
        (predict, {"background": np.ones((2, 3))}, "must"),
    ],
)
def test_wrong_calls_name_the_parameter(model, options, message):
    X = np.arange(8.0).reshape(2, 4)
    given = {"y": [0.0, 1.0], "background": X, **options}
    with pytest.raises(topshap.ParameterError, match=message):
        LossGame(model, X, **given)


def test_a_classifier_has_no_squared_error():
    model = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(topshap.ParameterError, match="'log-loss' or a function of"):
        LossGame(model, [[0.0], [1.0]], [0, 1], [[0.0]], loss="mse")
    with pytest.raises(topshap.ParameterError, match="or its method predict_proba"):
        LossGame(model.predict, [[0.0], [1.0]], [0, 1], [[0.0]], loss="log-loss")


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda y, prediction: np.mean(y - prediction), "returned an array of shape"),
        (lambda y, prediction: np.where(y > 0.5, np.inf, prediction), "must be a finite number"),
    ],
)
def test_a_loss_has_one_finite_number_per_row(loss, message):
    game = LossGame(lambda X: X[:, 0], [[0.0], [1.0]], [0.0, 1.0], [[0.0]], loss=loss)
    with pytest.raises(topshap.GameError, match=message):
        game(np.ones((1, 1), dtype=bool))


def test_the_log_loss_needs_probabilities():
    game = LossGame(lambda X: X[:, 0], [[0.0], [7.0]], [0, 1], [[0.0]], loss="log-loss")
    with pytest.raises(topshap.GameError, match="The log-loss needs probabilities"):
        game(np.ones((1, 1), dtype=bool))
