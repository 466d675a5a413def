import numpy as np
import pytest

from topshap.algorithms.odd_gp.odd_kernel import OddKernel
from topshap.algorithms.odd_gp.posterior import OddPosterior
from topshap.core.coalitions import from_ids
from topshap.core.tables import shapley_from_table


def posterior(m=20, n=6, *, noise=False, seed=0):
    rng = np.random.default_rng(seed)
    ids = np.concatenate([[2**n - 1], rng.choice(np.arange(1, 2 ** (n - 1)), m - 1, replace=False)])
    x = 2.0 * from_ids(ids, n) - 1.0
    kernel = OddKernel(rng.uniform(0.05, 0.4, n), smooth=0.5, linear=2.0, residual_level=0.05, residual_slope=0.2)
    return OddPosterior(kernel, x, rng.normal(size=m), noise=noise)


def test_the_values_add_up_to_the_gain():
    model = posterior()
    assert model.shapley_values.sum() == pytest.approx(2.0 * model.g[0], rel=1e-9)
    assert model.covariance.sum(axis=0) == pytest.approx(np.zeros(6), abs=1e-8)


def test_the_posterior_is_exact_with_all_pairs():
    n = 6
    model = posterior(m=2 ** (n - 1), n=n)
    table = np.zeros(2**n)
    ids = ((model.x > 0) @ (1 << np.arange(n))).astype(int)
    table[ids], table[2**n - 1 - ids] = model.g, -model.g
    assert model.shapley_values == pytest.approx(shapley_from_table(table), abs=1e-9)
    assert model.covariance == pytest.approx(np.zeros((n, n)), abs=1e-8)


def test_leave_one_out_agrees_with_fits_without_each_pair():
    model = posterior()
    left_out = np.array([0, 7, 19])
    for t, residual, deviation in zip(left_out, *model.leave_one_out(left_out), strict=True):
        others = np.arange(20) != t
        rest = OddPosterior(model.kernel, model.x[others], model.g[others])
        assert residual == pytest.approx(model.g[t] - rest.predict(model.x[t : t + 1])[0], abs=1e-9)
        cross = model.kernel.covariance(rest.x, model.x[t : t + 1])[:, 0]
        own = model.kernel.covariance(model.x[t : t + 1], model.x[t : t + 1])[0, 0]
        variance = own + model.kernel.residual(model.x[t : t + 1])[0] - cross @ rest.solve(cross)
        assert deviation == pytest.approx(np.sqrt(variance), rel=1e-7)


def test_with_noise_the_values_are_those_of_the_predicted_game():
    model = posterior(noise=True)
    grid = 2.0 * from_ids(np.arange(2**6), 6) - 1.0
    assert model.shapley_values == pytest.approx(shapley_from_table(model.predict(grid)), abs=1e-9)


def test_a_nearly_singular_covariance_does_not_break_the_fit():
    rng = np.random.default_rng(0)
    x = np.where(rng.random((400, 60)) < 0.5, -1.0, 1.0)
    x[0] = 1.0
    kernel = OddKernel(np.full(60, 0.02), smooth=1e-12, linear=1e3, residual_level=1e-14)
    weights = rng.normal(size=60)
    model = OddPosterior(kernel, x, x @ weights)
    assert model.shapley_values == pytest.approx(2.0 * weights, rel=1e-6)
