"""The regression estimator: smaller errors with good covariates, and no harm with bad ones."""

import numpy as np
import pytest

from topshap.statistics.regression_estimator import regression_mean


def errors_of(signal, seeds=200, rows=60):
    plain, corrected, predicted = [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1000, 3))
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        values = signal * (x[:, 0] - x[:, 1]) + rng.normal(size=1000)
        sample = rng.permutation(1000)[:rows]
        found = regression_mean(values[sample], x[sample], np.zeros(3))
        plain.append(values[sample].mean() - values.mean())
        corrected.append(found.mean - values.mean())
        predicted.append(np.sum(found.residuals**2) / rows**2 * (1.0 - rows / 1000))
    return (np.sqrt(np.mean(np.square(each))) for each in (plain, corrected, np.sqrt(predicted)))


def test_covariates_that_predict_make_the_mean_more_accurate():
    plain, corrected, predicted = errors_of(3.0)
    assert corrected < 0.4 * plain
    assert predicted == pytest.approx(corrected, rel=0.2)


def test_covariates_that_do_not_predict_do_little_harm():
    plain, corrected, predicted = errors_of(0.0)
    assert corrected < 1.1 * plain
    assert predicted == pytest.approx(corrected, rel=0.2)


def test_few_rows_are_not_regressed():
    found = regression_mean(np.array([1.0, 2.0, 6.0]), np.eye(3), np.zeros(3))
    assert found.mean == 3.0
    np.testing.assert_array_equal(found.coefficients, 0.0)
    np.testing.assert_allclose(found.residuals, [-3.0, -1.5, 4.5])
