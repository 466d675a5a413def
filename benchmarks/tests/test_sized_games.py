"""Games of many players: their exact Shapley values add up, and those of trees are those of the complete game."""

import numpy as np
import pytest

from topshap.games import PredictionGame
from topshap.reference.exact import shapley_values
from topshap_bench import sized_games
from topshap_bench.pairs.tree_games import tree_shapley_values
from topshap_bench.sources import sized


@pytest.mark.parametrize("source", sized([30]), ids=str)
def test_the_values_of_a_game_add_up_to_that_of_all_players(source):
    if source.family.startswith("tree"):
        pytest.importorskip("xgboost")
    game, exact, _ = source.open()
    assert game.n_players == 30
    empty, everybody = game(np.array([[False] * 30, [True] * 30]))
    assert np.isclose(exact.sum(), everybody - empty, rtol=1e-5)
    assert np.ptp(exact) > 0.0


def test_names_differ_and_every_size_has_every_kind():
    sources = sized()
    assert len(set(sources)) == len(sources)
    assert {source.family for source in sources} == {
        f"{kind}-{n}" for kind in sized_games.NAMES for n in sized_games.PLAYERS
    }


def test_shapley_values_of_trees_are_those_of_the_complete_game():
    xgboost = pytest.importorskip("xgboost")
    X = np.random.default_rng(0).random((200, 7), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + (X[:, 2] > X[:, 3]) * X[:, 4]
    model = xgboost.XGBRegressor(n_estimators=20, max_depth=5, n_jobs=1).fit(X, y)
    game = PredictionGame(model.predict, X[0], X[10:13], imputer="marginal")
    expected = shapley_values(game)
    np.testing.assert_allclose(tree_shapley_values(model, X[0], X[10:13]), expected, atol=1e-5)  # single precision
