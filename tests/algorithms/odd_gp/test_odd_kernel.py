"""The closed forms against sums over all coalitions."""

import numpy as np
import pytest

from topshap.algorithms.odd_gp import integrals as shapley_integrals
from topshap.algorithms.odd_gp.integrals import odd_product_functional, pair_functional, pair_prior, shapley_weights
from topshap.algorithms.odd_gp.odd_kernel import OddKernel
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table


def all_signs(n):
    return 2.0 * from_ids(np.arange(2**n), n) - 1.0


def shapley_operator(n):
    """The matrix that turns a table of values into Shapley values."""
    return np.array([shapley_from_table(unit) for unit in np.eye(2**n)]).T


def full_covariance(kernel, *, residual=True):
    x = all_signs(kernel.n_players)
    covariance = kernel.covariance(x, x)
    if residual:
        covariance += np.diag(kernel.residual(x)) - np.fliplr(np.diag(kernel.residual(x)))
    return covariance


@pytest.fixture(params=[1, 2, 3, 5, 8, 10])
def kernel(request):
    rng = np.random.default_rng(request.param)
    return OddKernel(
        relevance=rng.uniform(0.01, 1.0, request.param),
        smooth=1.3,
        linear=0.7,
        residual_level=0.2,
        residual_slope=0.4,
    )


def test_the_smooth_part_holds_all_odd_orders_and_no_even_one(kernel):
    n = kernel.n_players
    x = all_signs(n)
    rho = np.tanh(kernel.relevance)
    plus, minus = np.prod(1 + rho * x * x[:1], axis=1), np.prod(1 - rho * x * x[:1], axis=1)
    odd = (plus - minus) / 2
    expected = kernel.smooth * odd / odd[0] + kernel.linear * (x @ x[0])
    assert kernel.covariance(x, x[:1])[:, 0] == pytest.approx(expected, abs=1e-12)


def test_the_functional_is_the_shapley_value_of_the_covariance(kernel):
    x = all_signs(kernel.n_players)
    shapley = shapley_operator(kernel.n_players)
    for residual in (True, False):
        expected = shapley @ full_covariance(kernel, residual=residual)
        assert pytest.approx(expected, abs=1e-8) == kernel.functional(x, residual=residual).T


def test_the_prior_is_the_covariance_of_the_shapley_values(kernel):
    shapley = shapley_operator(kernel.n_players)
    assert kernel.prior == pytest.approx(shapley @ full_covariance(kernel) @ shapley.T, abs=1e-8)
    smooth = shapley @ full_covariance(kernel, residual=False) @ shapley.T
    assert kernel.prior_without_residual == pytest.approx(smooth, abs=1e-8)


def test_quadrature_is_exact_where_relevances_are_large():
    n = 9
    x, rho = all_signs(n), np.full(n, np.tanh(3.0))
    shapley = shapley_operator(n)
    for row in (0, 77, 300):
        factors = rho * x[row] * x
        function = (np.prod(1 + factors, axis=1) - np.prod(1 - factors, axis=1)) / 2
        expected = shapley @ function
        assert odd_product_functional(x[row : row + 1], rho)[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("total", [0.01, 1.0, 5.0, 20.0])
def test_fewer_nodes_are_used_only_where_they_are_enough(total, monkeypatch):
    rng = np.random.default_rng(0)
    rho = np.minimum(rng.dirichlet(np.ones(44)) * total, 0.99)
    x = np.where(rng.random((5, 44)) < 0.5, -1.0, 1.0)
    x[0] = 1.0
    fewer = odd_product_functional(x, rho)
    monkeypatch.setattr(shapley_integrals, "nodes_needed", lambda _rho: 22)  # exact for 44 players
    assert fewer == pytest.approx(odd_product_functional(x, rho), rel=1e-11, abs=1e-13)


def test_a_single_pair_counts_with_its_exact_weight():
    n = 6
    x = all_signs(n)
    shapley = shapley_operator(n)
    for row in (0, 5, 21, 63):
        table = np.zeros(2**n)
        table[row], table[2**n - 1 - row] = 1.0, -1.0
        assert pair_functional(x[row : row + 1])[0] == pytest.approx(shapley @ table, abs=1e-12)


def test_the_pair_prior_adds_up_all_pairs():
    n = 7
    variances = np.random.default_rng(0).random(n + 1)
    variances = (variances + variances[::-1]) / 2
    x = all_signs(n)[: 2 ** (n - 1)]
    rows = pair_functional(x)
    expected = (rows * variances[(x > 0).sum(axis=1)][:, None]).T @ rows
    assert pair_prior(variances) == pytest.approx(expected, abs=1e-12)


def test_the_weights_of_a_large_game_are_finite_and_symmetric():
    weights = shapley_weights(2000)
    assert np.isfinite(weights).all()
    assert weights[1] == pytest.approx(1 / 2000)
    assert weights[1:] == pytest.approx(weights[1:][::-1])
