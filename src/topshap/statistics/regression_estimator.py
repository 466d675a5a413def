"""The regression estimator of survey sampling: the mean of a table from some of its rows and covariates of all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE = 1.0
"""The penalty on squared coefficients, for covariates in units of their standard deviation: one row's worth."""
ROWS_PER_COVARIATE = 3.0
"""Covariates are not used with fewer rows than this per coefficient."""


class RegressionMean(NamedTuple):
    """An estimated mean, and how it was corrected."""

    mean: float
    residuals: NDArray[np.float64]
    """The leave-one-out residual of each row. The variance of the estimate is about the sum of their squares over m
    squared, times the share of rows that are not in the sample."""
    coefficients: NDArray[np.float64]
    """The coefficients of the covariates, 0 if the mean is not corrected."""


def regression_mean(
    values: NDArray[np.float64], covariates: NDArray[np.float64], means: NDArray[np.float64]
) -> RegressionMean:
    """Estimate the mean of a number over all rows of a table from a sample of rows.

    The number is regressed on covariates that are known for all rows. The mean of the sample is then corrected by the
    difference between the covariates' means in the table and in the sample (Cochran, 1977, chapter 7). It is not
    corrected if the regression does not predict left-out rows better than the mean does.

    Parameters
    ----------
    values
        The number in each row of the sample, shape (m,).
    covariates
        The covariates of these rows in units of their standard deviation, shape (m, p).
    means
        The means of the covariates over all rows, shape (p,).

    Examples
    --------
    >>> x = np.arange(12.0)
    >>> found = regression_mean(5.0 + 2.0 * x, x[:, None] / x.std(), np.array([10.0]) / x.std())
    >>> round(found.mean, 1), bool(np.abs(found.residuals).max() < 2.0)
    (24.3, True)
    """
    m, p = covariates.shape
    plain = float(values.mean())
    deviations = values - plain
    left_out = deviations * (m / max(m - 1, 1))
    if p == 0 or m < ROWS_PER_COVARIATE * (p + 1):
        return RegressionMean(plain, left_out, np.zeros(p))
    centre = covariates.mean(axis=0)
    centred = covariates - centre
    solved = np.linalg.solve(centred.T @ centred + RIDGE * np.eye(p), centred.T)
    coefficients = solved @ deviations
    leverages = 1.0 / m + np.einsum("mp,pm->m", centred, solved)
    residuals = (deviations - centred @ coefficients) / np.maximum(1.0 - leverages, 1e-9)
    if not residuals @ residuals < left_out @ left_out:
        return RegressionMean(plain, left_out, np.zeros(p))
    return RegressionMean(plain + float((means - centre) @ coefficients), residuals, coefficients)
