import numpy as np
import pytest

from topshap.algorithms.odd_gp.even_kernel import EvenKernel
from topshap.core.coalitions import from_ids

N = 6


def kernel_and_grid():
    rng = np.random.default_rng(0)
    relevance = rng.uniform(0.05, 0.5, N)
    kernel = EvenKernel(relevance, smooth=0.7, constant=2.0, residual_level=0.1, residual_slope=0.5)
    return kernel, 2.0 * from_ids(np.arange(2**N), N) - 1.0


def test_the_even_kernel_is_the_even_part_of_the_product_kernel():
    kernel, x = kernel_and_grid()

    def product(y):
        return np.prod(np.cosh(kernel.relevance) + np.sinh(kernel.relevance) * x[:, None] * y, axis=2)

    expected = 2.0 + 0.7 * (product(x) + product(-x)) / 2.0 / np.cosh(kernel.relevance.sum())
    assert kernel.covariance(x, x) == pytest.approx(expected, rel=1e-9)
    assert kernel.covariance(-x, x) == pytest.approx(expected, rel=1e-9)
    assert np.linalg.eigvalsh(expected).min() > -1e-9


def test_the_residual_variance_grows_towards_the_empty_and_the_grand_coalition():
    kernel, x = kernel_and_grid()
    variances = kernel.residual(x)
    assert variances[0b000111] == pytest.approx(0.1)
    assert variances[0b000001] == variances[0b111110] == pytest.approx(0.1 * np.sqrt(36.0 / 20.0))


def test_strong_relevances_do_not_overflow():
    x = np.ones((1, 500))
    kernel = EvenKernel(np.full(500, 3.0), smooth=1.0, constant=0.0, residual_level=0.0)
    assert kernel.covariance(x, x)[0, 0] == pytest.approx(1.0)
