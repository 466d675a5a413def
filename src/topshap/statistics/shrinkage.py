"""Shrinkage of sample variances towards their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix


def shrunken_variances(variances: Matrix, counts: Matrix, prior_degrees: float) -> Matrix:
    """Return sample variances shrunk towards their mean, which counts as `prior_degrees` degrees of freedom.

    A sample variance of M values has d = M - 1 degrees of freedom. The shrunken variance is
    (prior_degrees * mean + d * variance) / (prior_degrees + d), with the mean weighted by d. For normal samples, and
    true variances with coefficient of variation c, the linear estimate with the smallest mean squared error has
    prior_degrees = 2 (1 + 1 / c**2).

    Examples
    --------
    >>> shrunken_variances(np.array([[0.0, 4.0]]), np.array([[2.0, 2.0]]), 3.0)
    array([[1.5, 2.5]])
    """
    degrees = counts - 1.0
    mean = np.sum(degrees * variances) / np.sum(degrees)
    shrunken: Matrix = (prior_degrees * mean + degrees * variances) / (prior_degrees + degrees)
    return shrunken
