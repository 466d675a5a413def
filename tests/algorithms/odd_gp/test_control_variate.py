from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest

import topshap
from topshap.algorithms.odd_gp.control_variate import correct, largest_jump, residual_mean_squares
from topshap.algorithms.odd_gp.designs import all_pairs
from topshap.algorithms.odd_gp.odd_kernel import OddKernel
from topshap.algorithms.odd_gp.posterior import OddPosterior
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table
from topshap.statistics.contrasts import Contrasts

N = 7


def odd_game(seed, roughness):
    """The odd part of a smooth game with rough values on all pairs, and its Shapley values."""
    rng = np.random.default_rng(seed)
    coalitions = from_ids(np.arange(2**N), N)
    smooth = coalitions @ rng.normal(size=N) + 0.5 * coalitions[:, 0] * coalitions[:, 1] * coalitions[:, 2]
    table = smooth + roughness * rng.standard_t(4, size=2**N)
    ids = np.concatenate([[2**N - 1], np.arange(1, 2 ** (N - 1))])
    return (table[ids] - table[2**N - 1 - ids]) / 2.0, shapley_from_table(table)


def x_of_all_pairs():
    return np.concatenate([np.ones((1, N)), 2.0 * all_pairs(N) - 1.0])


def draw_and_correct(g, chance, rng):
    """Draw pairs with these chances, fit a model with fixed parameters to them and correct it."""
    x = x_of_all_pairs()
    drawn = np.flatnonzero(rng.random(len(x)) < chance)
    kernel = OddKernel(np.full(N, 0.2), smooth=0.3, linear=1.0, residual_level=0.05)
    posterior = OddPosterior(kernel, x[drawn], g[drawn])
    return correct(SimpleNamespace(posterior=posterior, scale=1.0), x[drawn], g[drawn], chance[drawn], epsilon=0.0)


def chances_by_pair(rng):
    return np.concatenate([[1.0], rng.uniform(0.3, 0.9, 2 ** (N - 1) - 1)])


@pytest.mark.parametrize("roughness", [0.0, 0.3])
def test_the_corrected_values_are_unbiased(roughness):
    """The mean over 1500 designs is the exact value within 4.5 standard errors."""
    g, exact = odd_game(0, roughness)
    rng = np.random.default_rng(1)
    chance = chances_by_pair(rng)
    found = np.array([draw_and_correct(g, chance, rng).estimates for _ in range(1500)])
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - exact) < 4.5 * error + 1e-9).all()


def difference(i, j):
    return Contrasts(np.array([i]), np.array([j]), np.ones(1), -np.ones(1))


def bound_of_one(found, i, j, level, unseen_level):
    """Return the lower bound of one difference, which has the whole level."""
    return found.border(difference(i, j)).lower_bounds(0.0, level, unseen_level)[0]


def test_bounds_of_differences_fail_about_as_often_as_their_level():
    """Lower bounds at 5% over 40 games and 20 draws: wrong in 0.5% to 7% of the cases."""
    rng = np.random.default_rng(2)
    wrong = []
    for seed in range(40):
        g, exact = odd_game(seed, 0.2)
        gaps = exact[:, None] - exact
        chance = chances_by_pair(rng)
        for _ in range(20):
            found = draw_and_correct(g, chance, rng)
            wrong += [bound_of_one(found, i, j, 0.05, 0.05) > gaps[i, j] for i, j in permutations(range(N), 2)]
    assert 0.005 < np.mean(wrong) < 0.07


def test_values_are_exact_once_all_pairs_are_drawn():
    g, exact = odd_game(3, 0.3)
    found = draw_and_correct(g, np.ones(len(g)), np.random.default_rng(0))
    assert found.estimates == pytest.approx(exact, abs=1e-9)
    assert found.differences.variances == pytest.approx(np.zeros((N, N)), abs=1e-12)


def test_values_add_up_to_the_gain_and_the_covariance_matches_the_variances():
    g, _ = odd_game(4, 0.3)
    rng = np.random.default_rng(0)
    found = draw_and_correct(g, chances_by_pair(rng), rng)
    assert found.estimates.sum() == pytest.approx(2.0 * g[0], rel=1e-12)
    covariance = found.covariance()
    own = np.diag(covariance)
    np.testing.assert_allclose(own[:, None] + own - 2.0 * covariance, found.differences.variances, atol=1e-12)


def test_estimates_are_unbiased_if_the_model_is_fitted_to_some_of_the_pairs():
    g, exact = odd_game(5, 0.1)
    rng = np.random.default_rng(0)
    x = np.concatenate([np.ones((1, N)), 2.0 * all_pairs(N) - 1.0])
    kernel = OddKernel(np.full(N, 0.2), smooth=0.3, linear=1.0, residual_level=0.05)
    found = []
    for _ in range(1500):
        order = np.concatenate([[0], 1 + rng.permutation(len(x) - 1)])
        drawn = order[rng.random(len(x)) < np.where(order == 0, 1.0, 0.6)]
        posterior = OddPosterior(kernel, x[drawn[:20]], g[drawn[:20]])
        chance = np.where(drawn == 0, 1.0, 0.6)
        surrogate = SimpleNamespace(posterior=posterior, scale=1.0)
        found.append(correct(surrogate, x[drawn], g[drawn], chance, epsilon=0.0).estimates)
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - exact) < 4.5 * error).all()


def test_a_perfect_fit_allows_for_one_more_residual():
    sizes = np.array([1, 1, 2, 3])
    assert residual_mean_squares(np.zeros(4), sizes, 6, unseen=5.0).min() > 0.0
    rough = residual_mean_squares(np.array([1.0, -1.0, 2.0, 0.0]), sizes, 6, unseen=5.0)
    assert rough[1] == rough[5] == pytest.approx((2.0 + 8.0 * 1.5) / (2.0 + 8.0))


def test_bounds_of_an_additive_game_allow_for_unseen_jumps():
    """Bounds are lower with fewer pairs, and at a lower level for jumps that were missed."""
    rng = np.random.default_rng(0)
    x = x_of_all_pairs()
    strength = np.arange(N) / 10.0
    g = x @ strength / 2.0
    chance = np.concatenate([[1.0], np.full(len(x) - 1, 0.5)])
    few, many = (draw_and_correct(g, share, rng) for share in (chance, np.maximum(0.9, chance)))
    strict, lax = ([bound_of_one(found, N - 1, 0, 0.4, level) for found in (few, many)] for level in (1e-6, 0.9))
    assert strict[0] < strict[1] < strength[-1] - strength[0]
    assert strict[0] < lax[0]
    assert few.jump == pytest.approx(1.5 * np.abs(strength).mean(), rel=0.05)


def test_a_jump_may_be_as_large_as_those_seen():
    assert largest_jump(np.array([0.0] * 99 + [7.0]), np.array([1.0, 0.9]), epsilon=0.0) == pytest.approx(7.0)
    assert largest_jump(np.zeros(100), np.array([1.0, 0.9]), 0.0) == pytest.approx(1.5 * 0.95)  # of a contribution
    assert largest_jump(np.zeros(100), np.array([0.1, -0.1]), 0.0) == pytest.approx(0.2)  # a usual difference
    assert largest_jump(np.empty(0), np.array([0.0]), 0.0) == 0.0


def test_a_jump_may_be_a_multiple_of_epsilon():
    estimates, small = np.array([0.1, 0.0]), np.full(100, 0.01)
    assert largest_jump(small, estimates, epsilon=0.1) == pytest.approx(12.5 * 0.1)
    assert largest_jump(np.zeros(100), estimates, epsilon=0.1) == pytest.approx(25.0 * 0.1)  # residuals say nothing


def test_the_largest_residual_counts_if_tails_are_heavy():
    residuals = np.array([0.0] * 90 + [1.0] * 9 + [5.0])
    assert largest_jump(residuals, np.zeros(2), 0.0) == 5.0
    normal = np.random.default_rng(0).normal(size=1000)
    assert largest_jump(normal, np.zeros(2), 0.0) == pytest.approx(3.0**0.5, rel=0.1)


def test_variances_are_never_negative(tmp_path):
    weights = np.array([1.0, 0.0, -1.0, 1.0, 0.0, -1.0])

    def game(rows):
        return rows @ weights + 0.2 * rows[:, 0] * rows[:, -1]

    options = {"budget": 20, "epsilon": 0.1, "delta": 0.5, "algorithm": "odd-gp@k", "random_state": 0}
    top = topshap.identify(game, 6, k=3, **options)
    assert (np.diag(top.covariance) >= 0.0).all()
    np.testing.assert_allclose(top.std_errors**2, np.diag(top.covariance))
    top.save(tmp_path / "top.json")
    assert topshap.load(tmp_path / "top.json").std_errors.tobytes() == top.std_errors.tobytes()
