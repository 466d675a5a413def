"""Properties of estimates over many seeded runs: no bias, correct standard errors, convergence.

Every bound is given in standard errors of the runs themselves. With R runs the mean of the estimates is known to one
R**-0.5 of their deviation, and their deviation to one (2 R)**-0.5 of itself. All seeds are fixed, so that
every test is deterministic.

The means of independent rounds are unbiased: cmcs, independent, same-length, identical, approshapley along complete
permutations, and stratified-svarm once no stratum is missing. The adaptive algorithms need not be, since the players
they sample depend on earlier samples; kernelshap is only consistent.
"""

import math

import numpy as np
import pytest

import topshap
from topshap.algorithms import make

STANDARD_ERRORS = 4

UNBIASED_ROUNDS = ["cmcs", "independent", "same-length", "identical", "approshapley"]


def runs_of(game, algorithm, budget, runs, k=2):
    options = {"k": k, "budget": budget, "algorithm": algorithm, "counting": "calls"}
    return [topshap.identify(game, random_state=seed, **options) for seed in range(runs)]


def estimates_of(tops):
    return np.array([top.estimates for top in tops])


def assert_mean_is(estimates, exact):
    error = estimates.std(axis=0, ddof=1) / math.sqrt(len(estimates))
    np.testing.assert_array_less(np.abs(estimates.mean(axis=0) - exact), STANDARD_ERRORS * error)


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("algorithm", UNBIASED_ROUNDS)
def test_rounds_are_unbiased(play, random_game, algorithm, n):
    """At least 2000 rounds: the mean is known to 0.022 deviations of one sample or better, the bound is 0.09."""
    game = random_game(n, seed=n)
    estimates = []
    for seed in range(100):
        played = play(make(algorithm), game, seed=seed)
        while played.standing.counts.min() < 20:
            played.answer()
        estimates.append(played.standing.estimates.copy())
    assert_mean_is(np.array(estimates), game.shapley_values())


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("algorithm", [*UNBIASED_ROUNDS, "stratified-svarm"])
def test_estimates_for_a_budget_are_unbiased(random_game, algorithm, n):
    """300 runs: the mean is known to 0.058 deviations of one run's estimate, the bound is 0.23.

    The empty and the grand coalition are free, so that the number of rounds that a budget allows depends
    slightly on the draws. The bias of this is of the order of one over the number of rounds, too small to be seen here.
    """
    game = random_game(n, seed=10 + n)
    budgets = {"cmcs": 2 + 20 * (n + 1), "approshapley": 2 + 20 * (n - 1), "stratified-svarm": 252}
    tops = runs_of(game, algorithm, budgets.get(algorithm, 2 + 10 * 2 * n), 300)
    assert all(top.stopped == "budget" for top in tops)
    assert_mean_is(estimates_of(tops), game.shapley_values())


@pytest.mark.parametrize(("algorithm", "budget"), [("cmcs", 2 + 60 * 7), ("approshapley", 2 + 60 * 5)])
def test_standard_errors_are_the_deviations_of_the_estimates(smooth_game, algorithm, budget):
    """With 400 runs a deviation is known to 3.5%; the bound is 15%."""
    tops = runs_of(smooth_game(6, seed=1), algorithm, budget, 400)
    claimed = np.sqrt(np.mean([top.std_errors**2 for top in tops], axis=0))
    np.testing.assert_allclose(claimed, estimates_of(tops).std(axis=0, ddof=1), rtol=0.15)


@pytest.mark.parametrize(("algorithm", "budget"), [("cmcs", 2 + 60 * 7), ("approshapley", 2 + 60 * 5)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_have_their_nominal_coverage(smooth_game, algorithm, budget, level):
    """With 400 runs the coverage at 0.95 is known to 0.011 for each player; 60 samples cost about 0.01 more."""
    game = smooth_game(6, seed=1)
    intervals = np.array([top.interval(level) for top in runs_of(game, algorithm, budget, 400)])
    exact = game.shapley_values()
    covered = ((intervals[:, :, 0] <= exact) & (exact <= intervals[:, :, 1])).mean(axis=0)
    error = math.sqrt(level * (1 - level) / 400)
    assert np.all(np.abs(covered - level) < STANDARD_ERRORS * error + 0.01)
    assert abs(covered.mean() - level) < 0.03


def test_the_covariance_of_cmcs_gives_the_deviations_of_differences(smooth_game):
    """With 400 runs a deviation is known to 3.5%; the bound is 15%. Independence would be wrong by far more."""
    tops = runs_of(smooth_game(6, seed=1), "cmcs", 2 + 60 * 7, 400)
    estimates, covariance = estimates_of(tops), np.mean([top.covariance for top in tops], axis=0)
    variances = np.diag(covariance)
    pairs = np.triu_indices(6, k=1)
    claimed = np.sqrt((variances[:, None] + variances - 2 * covariance)[pairs])
    observed = (estimates[:, pairs[1]] - estimates[:, pairs[0]]).std(axis=0, ddof=1)
    np.testing.assert_allclose(claimed, observed, rtol=0.15)
    if_independent = np.sqrt((variances[:, None] + variances)[pairs])
    assert np.abs(if_independent / observed - 1).max() > 0.3


def test_the_errors_of_stratified_svarm_are_not_much_too_small(smooth_game):
    """The variance within a stratum is estimated by that of all values of its size."""
    tops = runs_of(smooth_game(6, seed=1), "stratified-svarm", 402, 400)
    claimed = np.sqrt(np.mean([top.std_errors**2 for top in tops], axis=0))
    ratio = claimed / estimates_of(tops).std(axis=0, ddof=1)
    assert np.all((ratio > 0.85) & (ratio < 2.5))


@pytest.mark.parametrize("n", [6, 7])
def test_kernelshap_converges_to_the_exact_values(random_game, n):
    game = random_game(n, seed=n)
    errors = []
    for share in (0.3, 0.6, 0.9, 1.0):
        estimates = estimates_of(runs_of(game, "kernelshap", round(share * 2**n), 80))
        errors.append(math.sqrt(np.mean((estimates - game.shapley_values()) ** 2)))
    assert errors[0] > 1.3 * errors[1]
    assert errors[1] > 1.3 * errors[2]
    assert errors[3] < 1e-9


@pytest.mark.parametrize("algorithm", ["cmcs", "approshapley", "stratified-svarm"])
def test_the_error_falls_with_the_root_of_the_budget(random_game, algorithm):
    """Sixteen times the budget, a quarter of the error; with 60 runs of 6 players it is known to about 8%."""
    game = random_game(6, seed=3)
    few, many = (
        estimates_of(runs_of(game, algorithm, 2 + budget, 60)) - game.shapley_values() for budget in (210, 3360)
    )
    assert math.sqrt(np.mean(few**2)) / math.sqrt(np.mean(many**2)) == pytest.approx(4.0, rel=0.3)
