import numpy as np
import pytest

from topshap.algorithms.odd_gp.designs import all_pairs, draw_pairs
from topshap.algorithms.odd_gp.shared.least_squares import additive_fit
from topshap.algorithms.odd_gp.shared.single_players import single_player_estimate
from topshap.algorithms.odd_gp.small_budget import shapley_posterior, singles_and_complements


def test_all_pairs_give_the_exact_values(table_of_rows, models):
    game = table_of_rows(models["forest"], n=7)
    rows = all_pairs(7)
    gain = game.table[-1] - game.table[0]
    x = np.where(rows, 1.0, -1.0)
    odd = (game(rows) - game(~rows)) / 2.0 - x.sum(axis=1)[:, None] * gain / 14.0
    assert additive_fit(x, odd)[0] + gain[:, None] / 7.0 == pytest.approx(game.shapley_values, abs=1e-9)


def test_the_covariance_is_that_of_independent_residuals():
    rng = np.random.default_rng(0)
    x = np.where(draw_pairs(8, 60, 0.0, rng), 1.0, -1.0)
    values, covariance = additive_fit(x, rng.normal(size=(60, 4000)))
    # the variances of 4000 outputs have relative standard errors of 2%
    assert np.var(values, axis=0) * 60 / 52 == pytest.approx(np.diag(covariance), rel=0.1)


def test_single_players_are_compared_as_in_a_single_game(table_of_rows, models):
    game = table_of_rows(models["polynomial"], n=6)
    ends = np.array([[False] * 6, [True] * 6])
    coalitions = np.concatenate([ends, singles_and_complements(6, np.random.default_rng(0))[:8]])
    estimate = single_player_estimate(coalitions, game(coalitions))
    for output in range(3):
        values = game(coalitions)[:, output]
        expected, covariance = shapley_posterior(coalitions, values, float(values[1] - values[0]))
        assert estimate.values[output] == pytest.approx(expected)
        assert estimate.covariance_of(output) == pytest.approx(covariance)
