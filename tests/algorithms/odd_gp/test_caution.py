"""Cautious covariances: never narrower, wider where a relevance may be too small, and the coverage they give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.algorithms.odd_gp.caution import LEAST_RELEVANCE, cautious_covariance, upper_mean_square
from topshap.algorithms.odd_gp.odd_kernel import OddKernel
from topshap.algorithms.odd_gp.posterior import OddPosterior
from topshap.core.coalitions import from_ids
from topshap.games import TableGame

N = 8
EVEN, ONE_LOW = np.full(N, 0.3), np.concatenate([[1e-3], np.full(N - 1, 0.3)])


def posterior_of(relevance, seed=0, *, count=40, noise=0.1):
    """Return the posterior of a smooth random function with noise, given some pairs."""
    rng = np.random.default_rng(seed)
    x = np.where(
        from_ids(np.concatenate([[2**N - 1], rng.permutation(np.arange(1, 2 ** (N - 1)))[: count - 1]]), N), 1.0, -1.0
    )
    g = np.tanh(x @ rng.normal(size=N)) + noise * rng.normal(size=count)
    return OddPosterior(
        OddKernel(relevance, smooth=1.0, linear=0.1, residual_level=0.01), x, g / np.sqrt(np.mean(g**2))
    )


@given(seed=st.integers(0, 10**6), low=st.floats(1e-6, 1.0))
def test_the_cautious_covariance_is_valid_and_never_narrower(seed, low):
    posterior = posterior_of(np.concatenate([[low], EVEN[1:]]), seed)
    found = cautious_covariance(posterior)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    assert np.linalg.eigvalsh(found).min() > -1e-9
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-3 * np.trace(found))
    assert np.trace(found) >= np.trace(posterior.covariance)


def test_only_misfit_counts_if_no_relevance_is_small():
    posterior = posterior_of(EVEN)
    _, residuals, deviations = posterior.left_out
    misfit = max(1.0, upper_mean_square(residuals / deviations))
    np.testing.assert_allclose(cautious_covariance(posterior), misfit * posterior.covariance)


def test_a_relevance_that_may_be_too_small_widens_the_intervals():
    low = posterior_of(ONE_LOW)
    raised = OddPosterior(
        OddKernel(np.maximum(ONE_LOW, LEAST_RELEVANCE * ONE_LOW.mean()), smooth=1.0, linear=0.1, residual_level=0.01),
        low.x,
        low.g,
    )
    _, residuals, deviations = low.left_out
    usual = upper_mean_square(residuals / deviations) * np.trace(low.covariance)
    change = raised.shapley_values - low.shapley_values
    assert change @ change > 0.0
    assert np.trace(cautious_covariance(low)) > usual


def test_the_mean_square_is_less_certain_with_heavy_tails():
    rng = np.random.default_rng(0)
    normal, heavy = rng.normal(size=100), rng.standard_t(3.0, size=100)
    normal, heavy = (each / np.sqrt(np.mean(each**2)) for each in (normal, heavy))
    assert 1.0 < upper_mean_square(normal) < upper_mean_square(heavy)


@pytest.mark.filterwarnings("ignore::topshap.RareContributionsWarning")
def test_intervals_cover_the_values_of_games_with_two_majorities():
    """A coalition wins with a majority of two kinds of votes, or of one of them.

    The coverage is 0.97 with a standard error of 0.012, and 0.90 without caution.
    """
    everyone, covered = from_ids(np.arange(2**10), 10), []
    for number in range(20):
        rng = np.random.default_rng(number)
        votes = rng.integers(1, 20, (2, 10))
        won = everyone @ votes.T >= votes.sum(axis=1) * rng.uniform(0.35, 0.65, 2)
        game = TableGame((won.all(axis=1) if number % 2 else won.any(axis=1)).astype(float))
        low, high = topshap.identify(game, k=4, budget=200, random_state=number).interval().T
        covered.append(np.mean((low <= game.shapley_values()) & (game.shapley_values() <= high)))
    assert np.mean(covered) > 0.93
