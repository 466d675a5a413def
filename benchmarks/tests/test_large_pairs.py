import numpy as np
import pytest
from typer.testing import CliRunner

from topshap.core.interactions import interactions_from_table
from topshap.games import PredictionGame
from topshap.reference.exact import value_table
from topshap_bench.cli import build
from topshap_bench.external import Answer
from topshap_bench.pairs import large
from topshap_bench.pairs.large import Setting, run_setting
from topshap_bench.pairs.tree_games import tree_game, tree_interactions

xgboost = pytest.importorskip("xgboost")


@pytest.mark.parametrize("row", [0, 1])
def test_interactions_of_trees_are_those_of_the_complete_game(row):
    rng = np.random.default_rng(row)
    X = rng.random((200, 7), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + (X[:, 2] > X[:, 3]) * X[:, 4]
    model = xgboost.XGBRegressor(n_estimators=20, max_depth=5, n_jobs=1).fit(X, y)
    game = PredictionGame(model.predict, X[row], X[10:13], imputer="marginal")
    expected = interactions_from_table(value_table(game))
    # Predictions are in single precision.
    np.testing.assert_allclose(tree_interactions(model, X[row], X[10:13]), expected, atol=1e-5 * np.abs(expected).max())


def test_the_game_of_a_row_has_one_player_per_column():
    game, exact = tree_game("cancer", 30, 0)
    assert game.n_players == 30
    assert exact.shape == (435,)
    assert np.abs(exact).max() > 0.0


def test_the_command_prints_precisions_and_errors():
    arguments = ["large-pairs", "--table", "cancer", "--budget", "100", "--rows", "1"]
    result = CliRunner().invoke(build(), arguments)
    assert result.exit_code == 0, result.output
    assert "p odd-gp" in result.output
    assert any(line.startswith("cancer") and " 100 " in line for line in result.output.splitlines())


def test_a_rival_with_a_larger_smallest_budget_estimates_zero(monkeypatch):
    monkeypatch.setattr(large, "estimate_pairs", lambda *_, **__: Answer(None, 0, 0))
    outcome = run_setting(Setting("cancer", 30, 100, "proxyshap", 5, 1))
    assert outcome.error == outcome.zero
    assert np.isnan(outcome.coverage)
