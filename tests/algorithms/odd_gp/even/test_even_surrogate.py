import numpy as np
import pytest

from topshap.algorithms.odd_gp.even.afterwards import interactions_afterwards
from topshap.algorithms.odd_gp.even.logits import enumerated_interactions, sampled_interactions, stacked_interactions
from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
from topshap.algorithms.odd_gp.even.spread import spread_of_jumps, total_interactions
from topshap.algorithms.odd_gp.even.surrogate import EvenSurrogate
from topshap.algorithms.odd_gp.even.weights import interaction_weights
from topshap.algorithms.odd_gp.logit_gp import LogitGP
from topshap.algorithms.odd_gp.logit_warp import candidate_warps
from topshap.algorithms.odd_gp.pairs import ComplementPairs
from topshap.algorithms.odd_gp.posterior import LeaveOneOut
from topshap.core.tables import shapley_from_table


def learned(pairs, **options):
    surrogate = EvenSurrogate(np.random.default_rng(0), **options)
    surrogate.learn(pairs.x, pairs.odd, pairs.even, iterations=15)
    return surrogate


def rms(errors):
    return float(np.sqrt(np.mean(errors**2)))


def test_interactions_are_exact_once_all_complement_pairs_are_known(smooth_game):
    game = smooth_game()
    surrogate = learned(game.pairs(127))
    found = surrogate.interactions()
    assert found.estimates == pytest.approx(game.interactions, abs=1e-10)
    assert found.std_errors == pytest.approx(0.0, abs=1e-6)
    assert surrogate.shapley_values() == pytest.approx(shapley_from_table(game.values), abs=1e-10)


def test_most_intervals_cover_the_exact_interactions(smooth_game):
    held = []
    for seed in range(12):
        game = smooth_game(seed=seed)
        found = learned(game.pairs(40, seed)).interactions()
        held.append(np.mean(np.abs(found.estimates - game.interactions) <= 1.96 * found.std_errors))
    assert np.mean(held) > 0.9  # the standard error over games is about 0.02


def test_standard_errors_are_those_of_the_covariance(smooth_game):
    game = smooth_game()
    found = learned(game.pairs(40)).interactions()
    assert found.std_errors == pytest.approx(np.sqrt(np.diag(found.covariance)))


def test_surrogates_on_logit_values_reduce_the_error_of_saturated_games(smooth_game):
    alone, stacked = [], []
    for seed in range(6):
        game = smooth_game(seed=seed, steepness=3.0)
        pairs = game.pairs(40, seed)
        surrogate = learned(pairs)
        alone.append(rms(surrogate.interactions().estimates - game.interactions))
        found = stacked_interactions(surrogate, pairs, np.random.default_rng(0))
        stacked.append(rms(found.estimates - game.interactions))
    assert np.mean(stacked) < 0.8 * np.mean(alone)


def test_sampled_interactions_of_a_logit_surrogate_have_the_stated_spread(smooth_game):
    game = smooth_game(n=14, steepness=3.0)
    pairs = game.pairs(100)
    surrogate = learned(pairs)
    warp = candidate_warps(game.values)[0]
    process = LogitGP(warp, pairs.x, pairs.values, pairs.complement_values, rows=np.arange(100))
    exact = enumerated_interactions(process, pairs, 0.01)
    found, spread = sampled_interactions(process, surrogate, pairs, 0.01, np.random.default_rng(1))
    assert rms((found - exact) / np.sqrt(spread.variances)) < 1.5
    assert rms(found - exact) < 0.5 * rms(surrogate.interactions().estimates - exact)


def test_complement_pairs_beyond_the_learned_ones_correct_the_estimate(smooth_game):
    game = smooth_game(n=10)
    pairs = game.pairs(400)
    few = learned(game.pairs(60)).interactions()
    corrected = learned(pairs, max_pairs=60).interactions()
    assert rms(corrected.estimates - game.interactions) < 0.8 * rms(few.estimates - game.interactions)
    assert np.median(corrected.std_errors) < np.median(few.std_errors)


def test_corrected_interactions_are_exact_once_all_complement_pairs_are_known(smooth_game):
    game = smooth_game(n=8)
    found = learned(game.pairs(127), max_pairs=60).interactions()
    assert found.estimates == pytest.approx(game.interactions, abs=1e-10)


def test_totals_over_all_complement_pairs_are_exact(smooth_game):
    game = smooth_game(n=6)
    pairs = game.pairs(31)
    every = PlayerPairs.of(6)
    estimates, spread = total_interactions(pairs.x, pairs.even, np.ones(32), every, np.arange(15))
    assert estimates == pytest.approx(game.interactions, abs=1e-12)
    assert spread.variances == pytest.approx(0.0, abs=1e-12)


def test_outliers_add_a_spread_of_jumps():
    rng = np.random.default_rng(0)
    x, every = np.where(rng.random((30, 6)) < 0.5, -1.0, 1.0), PlayerPairs.of(6)
    residuals = np.full(29, 0.1)
    rows = np.arange(1, 30)
    assert spread_of_jumps(x, LeaveOneOut(rows, residuals, residuals), every, np.arange(15)) is None
    residuals[3] = 2.0
    spread = spread_of_jumps(x, LeaveOneOut(rows, residuals, residuals), every, np.arange(15))
    assert spread.variances == pytest.approx(np.diag(spread.covariance))
    weights = interaction_weights(x[rows[3:4]], every)[0]
    assert spread.variances / weights**2 == pytest.approx(spread.variances[0] / weights[0] ** 2)


def test_a_perfect_fit_is_not_certainty(smooth_game):
    game = smooth_game()
    pairs = game.pairs(30)
    surrogate = EvenSurrogate(np.random.default_rng(0))
    surrogate.learn(pairs.x, pairs.odd, pairs.x[:, 0] * pairs.x[:, 1], iterations=25)
    found = surrogate.interactions()
    assert found.estimates[0] == pytest.approx(4.0, abs=0.1)
    assert (found.std_errors > 0).all()


def test_a_constant_even_part_has_no_interactions(smooth_game):
    pairs = smooth_game().pairs(30)
    surrogate = EvenSurrogate(np.random.default_rng(0))
    surrogate.learn(pairs.x, pairs.x @ np.arange(8.0), np.full(31, 2.0), iterations=5)
    assert surrogate.interactions().estimates == pytest.approx(0.0, abs=1e-12)


def test_noise_is_not_part_of_the_game(smooth_game):
    game = smooth_game()
    pairs = game.pairs(100)
    e = pairs.even + np.random.default_rng(1).normal(0, 0.2, 101)
    errors = []
    for noise in (False, True):
        surrogate = EvenSurrogate(np.random.default_rng(0), noise=noise)
        surrogate.learn(pairs.x, pairs.odd, e, iterations=15)
        errors.append(rms(surrogate.interactions().estimates - game.interactions))
    assert errors[1] < errors[0]


def test_interactions_after_a_race_are_close_to_those_of_a_joint_fit(smooth_game):
    game = smooth_game()
    pairs = game.pairs(60)
    estimate = interactions_afterwards(pairs, np.full(8, 0.3), noise=False, max_pairs=6000)
    found = estimate()
    assert rms(found.estimates - game.interactions) < 0.1 * np.ptp(game.interactions)
    assert estimate().estimates == pytest.approx(found.estimates, abs=0.0)


def test_there_are_no_interactions_of_too_many_players():
    pairs = ComplementPairs(np.ones((3, 300)), np.zeros(3), np.zeros(3))
    assert interactions_afterwards(pairs, np.ones(300), noise=False, max_pairs=6000) is None
