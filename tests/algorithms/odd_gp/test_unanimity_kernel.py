"""The covariances of sums of unanimity games against sums over all coalitions."""

import numpy as np
import pytest

from topshap.algorithms.odd_gp.unanimity_kernel import UnanimityKernel
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table


def all_signs(n):
    return 2.0 * from_ids(np.arange(2**n), n) - 1.0


def kernel_of(n, **changes):
    relevance = np.random.default_rng(n).exponential(size=n)
    values = {"smooth": 1.3, "linear": 0.2, "residual_level": 0.1, "residual_slope": 0.3}
    return UnanimityKernel(relevance=relevance, **(values | changes))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_the_functional_is_the_shapley_value_of_the_covariance(n):
    kernel, x = kernel_of(n), all_signs(n)
    covariance = kernel.covariance(x, x) + np.diag(kernel.residual(x)) - np.fliplr(np.diag(kernel.residual(x)))
    shapley = np.array([shapley_from_table(unit) for unit in np.eye(2**n)]).T
    assert pytest.approx(shapley @ covariance, abs=1e-6) == kernel.functional(x).T


def test_the_covariance_is_that_of_random_sums_of_unanimity_games():
    """A player is in a set with probability 1 - exp(-r a_i), with r from the standard exponential distribution."""
    rng = np.random.default_rng(0)
    kernel, n = kernel_of(4, linear=0.0, smooth=1.0), 4
    x = all_signs(n)
    inside = x > 0
    sets = rng.random((200_000, n)) < -np.expm1(-np.outer(rng.exponential(size=200_000), kernel.relevance))
    unanimous = (sets[:, None, :] <= inside).all(axis=2).astype(float)  # of each set (rows) and coalition (columns)
    g = (unanimous - unanimous[:, ::-1]) / 2.0
    second_moment = g.T @ g / len(g)
    assert kernel.covariance(x, x) == pytest.approx(second_moment / second_moment[-1, -1], abs=0.02)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_variances_are_the_diagonal_of_the_covariance(n):
    kernel, x = kernel_of(n), all_signs(n)
    assert kernel.variances(x) == pytest.approx(np.diag(kernel.covariance(x, x)))
    assert kernel.rows_among(x)(0) == pytest.approx(kernel.covariance(x, x)[0])
    assert kernel.variances(x[-1:])[0] == pytest.approx(kernel.smooth + n * kernel.linear)


@pytest.mark.parametrize("n", [30, 120, 500])
def test_the_shapley_values_of_many_players_add_up_to_the_grand_coalition(n):
    rng = np.random.default_rng(0)
    x = np.where(rng.random((20, n)) < rng.random((20, 1)), 1.0, -1.0)
    kernel = kernel_of(n, residual_level=0.0)
    total = 2.0 * kernel.covariance(x, np.ones((1, n)))[:, 0]
    assert kernel.functional(x).sum(axis=1) == pytest.approx(total, abs=1e-5)
