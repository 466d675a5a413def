"""NumberedRows: coalitions with the number of the row that they are evaluated for."""

from functools import partial

import numpy as np
import pytest

from topshap.games import PredictionsGame
from topshap.games.backgrounds import as_background
from topshap.games.numbered_rows import NumberedRows


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(21, 4))


def of(X, predict, **options):
    def game_of(rows):
        return PredictionsGame(predict, X[rows], X[:3], imputer="marginal", **options)

    return NumberedRows([game_of], game_of(np.arange(len(X))))


def first_two(X):
    return X[:, :2] * X[:, 2:3]


def test_values_are_those_of_the_game_of_all_rows(table):
    rng = np.random.default_rng(1)
    coalitions, rows = rng.random((200, 4)) < 0.5, rng.integers(0, 21, 200)
    whole = PredictionsGame(first_two, table, table[:3], output="all", imputer="marginal")(coalitions).reshape(
        200, 21, 2
    )
    game = of(table, first_two, output="all")
    assert (game.n_players, game.n_outputs, len(game.player_names)) == (9, 2, 9)
    np.testing.assert_allclose(game(game.asked(coalitions, rows)), whole[np.arange(200), rows])


def test_parts_of_the_background_have_values_of_their_own(table):
    background = as_background(table[:5])
    parts = background.parts(3)

    def game_of(rows, background=background):
        return PredictionsGame(first_two, table[rows], background, output=0, imputer="marginal")

    whole = game_of(np.arange(21))
    game = NumberedRows([partial(game_of, background=part) for _, part in parts], whole)
    coalitions = np.random.default_rng(1).random((21, 4)) < 0.5
    each = [game(game.asked(coalitions, np.arange(21) * 3 + part)) for part in range(3)]
    together = np.average(each, axis=0, weights=[weight for weight, _ in parts])
    np.testing.assert_allclose(together, np.diag(whole(coalitions)))
    assert game.fingerprint != NumberedRows([game_of], whole).fingerprint


def test_one_output_is_one_number_per_coalition(table):
    game = of(table, lambda X: X[:, 0])
    asked = game.asked(np.ones((2, 4), dtype=bool), np.array([20, 7]))
    assert game.n_outputs is None
    np.testing.assert_allclose(game(asked), table[[20, 7], 0])


def test_rows_with_the_same_coalition_are_evaluated_together():
    predicted = []

    def predict(X):
        predicted.append(len(X))
        return X[:, 0] + X[:, 1]

    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 20, axis=0)
    game = of(X, predict)
    predicted.clear()
    game(game.asked(np.tile([True, False], (40, 1)), np.arange(40)))
    assert sum(predicted) == 2  # two kinds of rows, and one kind of background rows


def test_fingerprints_depend_on_the_rows(table):
    first, same, other = (
        of(table, first_two, output="all"),
        of(table, first_two, output="all"),
        of(table[1:], first_two, output=0),
    )
    assert first.fingerprint == same.fingerprint != other.fingerprint
