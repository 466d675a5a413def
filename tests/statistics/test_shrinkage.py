"""Shrinkage of sample variances, compared with the true variances."""

import numpy as np
import pytest

from topshap.statistics.shrinkage import shrunken_variances


def test_the_stated_weight_minimises_the_squared_error():
    """The true variances are inverse gamma with shape 5, whose squared coefficient of variation is 1/3."""
    rng = np.random.default_rng(0)
    true = 1.0 / rng.gamma(5.0, size=(200, 200))
    samples = rng.normal(size=(4, 200, 200)) * np.sqrt(true)
    measured = samples.var(axis=0, ddof=1)
    counts = np.full_like(measured, 4.0)

    def error(prior_degrees):
        return np.mean((shrunken_variances(measured, counts, prior_degrees) - true) ** 2)

    stated = error(2.0 * (1.0 + 3.0))
    assert stated < min(error(2.0), error(24.0), error(1e9))
    assert stated < 0.5 * np.mean((measured - true) ** 2)


def test_the_mean_loses_its_weight_with_more_samples():
    variances = np.array([[1.0, 3.0]])
    far = [float(shrunken_variances(variances, np.full((1, 2), m), 5.0)[0, 0] - 1.0) for m in (2.0, 20.0, 2000.0)]
    assert far == pytest.approx([5 / 6, 5 / 24, 5 / 2004])


def test_variances_of_more_samples_have_more_weight_in_the_mean():
    shrunken = shrunken_variances(np.array([[0.0, 6.0]]), np.array([[2.0, 3.0]]), 1e12)
    np.testing.assert_allclose(shrunken, 4.0)
