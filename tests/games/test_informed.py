"""InformedGame: the game itself, with side information."""

import pickle

import numpy as np
import pytest

import topshap
from topshap.core.errors import ParameterError
from topshap.games import AdditiveGame, InformedGame, UnanimityGame


def test_everything_but_the_side_information_is_that_of_the_game():
    game = UnanimityGame([[0], [1, 2]], [1.0, 2.0], n_players=4)
    informed = pickle.loads(pickle.dumps(InformedGame(game, prior=[1.0, 0.5, 0.5, 0.0])))
    coalitions = np.array([[True, False, False, False], [False, True, True, True]])
    np.testing.assert_array_equal(informed(coalitions), game(coalitions))
    assert (informed.n_players, informed.fingerprint) == (4, game.fingerprint)
    assert informed.prior == [1.0, 0.5, 0.5, 0.0]
    assert informed.player_features is None
    assert not hasattr(informed, "something")


def test_a_game_without_side_information_is_refused():
    with pytest.raises(ParameterError, match="'prior' parameter of InformedGame must be given"):
        InformedGame(AdditiveGame([1.0, 2.0]))
    with pytest.raises(ParameterError, match="'game' parameter of InformedGame must be a function"):
        InformedGame(3, prior=[1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": [1.0, 2.0]}, "'prior' .* 2"),
        ({"prior": [1.0, np.nan, 2.0]}, "'prior' .* finite"),
        ({"player_features": np.zeros((2, 4))}, "'player_features' .* 3 players"),
    ],
)
def test_side_information_of_the_wrong_form_is_refused_when_it_is_used(options, message):
    game = InformedGame(AdditiveGame([1.0, 2.0, 3.0]), **options)
    with pytest.raises(ParameterError, match=message):
        topshap.identify(game, k=1, budget=6)
