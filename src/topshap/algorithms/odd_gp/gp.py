"""A Gaussian process conditioned on observed pairs, with leave-one-out residuals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Matrix, Players, Values

BLOCK = 512
"""The number of rows of a covariance computed together: few enough that intermediate results stay in the cache."""

INVERTED_UP_TO = 3
"""The factor is inverted to get elements of the inverse if it has up to this many rows per element; a sixth of the
multiplications of as many solutions as it has rows."""


class Kernel(Protocol):
    """The prior covariance of one part of a game."""

    def covariance(self, x: Matrix, y: Matrix) -> Matrix:
        """Return the covariance between the rows of x and of y, without the residual."""

    def rows_among(self, x: Matrix) -> Callable[[int], Values]:
        """Return a function that gives the covariance of row i of x with all rows of x, without the residual."""

    def variances(self, x: Matrix) -> Values:
        """Return the variance of each pair, without the residual."""

    def residual(self, x: Matrix) -> Values:
        """Return the residual variance of each pair."""


K = TypeVar("K", bound=Kernel)


class ConditionedGP(Generic[K]):
    """A Gaussian process on the odd or the even part of a game, conditioned on observed pairs.

    Parameters
    ----------
    kernel
        The prior covariance.
    x
        The observed pairs as signs, one row per pair.
    observed
        The value of the odd or even part in each pair.
    """

    def __init__(self, kernel: K, x: Matrix, observed: Values) -> None:
        self.kernel, self.x, self.observed = kernel, x, observed
        self.factor: Matrix = _cholesky(kernel, x)

    def solve(self, right: Matrix | Values) -> Matrix:
        """Return K^-1 times `right`, where K is the covariance of the observations."""
        solved, _ = linalg.lapack.dpotrs(self.factor, right, lower=1)
        return np.asarray(solved)

    @cached_property
    def weights(self) -> Values:
        """K^-1 times the observed values: the weight of each observation in a prediction."""
        return self.solve(self.observed)

    def leave_one_out(self, rows: Players) -> tuple[Values, Values]:
        """Return the leave-one-out residuals of some observations, and their standard deviations."""
        precision = _inverse_diagonal(self.factor, rows)
        return self.weights[rows] / precision, 1.0 / np.sqrt(precision)


class FunctionalGP(ConditionedGP[K], ABC):
    """A conditioned Gaussian process whose covariances with the values that are estimated are known.

    These are linear functionals of the game: the Shapley values, or interactions.
    """

    @abstractmethod
    def functional_of(self, x: Matrix) -> Matrix:
        """Return the prior covariance of any pairs (rows) with the functionals (columns)."""

    @cached_property
    def functional(self) -> Matrix:
        """The prior covariance of the observations (rows) with the functionals (columns)."""
        return self.functional_of(self.x)

    @cached_property
    def solved_functional(self) -> Matrix:
        """K^-1 times `functional`, one row per observation."""
        return self.solve(self.functional)


def _inverse_diagonal(factor: Matrix, rows: Players) -> Values:
    """Return some diagonal elements of the inverse of the matrix with this lower Cholesky factor.

    Element j depends only on the rows of the factor from j on: elements at the end are cheap.
    """
    first = int(rows.min(initial=len(factor)))
    block, rows = factor[first:, first:], rows - first
    if len(block) <= INVERTED_UP_TO * len(rows):
        columns = linalg.lapack.dtrtri(block, lower=1)[0][:, rows]
    else:
        units = np.zeros((len(block), len(rows)), order="F")
        units[rows, np.arange(len(rows))] = 1.0
        columns, _ = linalg.lapack.dtrtrs(block, units, lower=1, overwrite_b=1)
    return np.asarray(np.einsum("mr,mr->r", columns, columns))


def inverse_of(factor: Matrix) -> Matrix:
    """Return the inverse of the matrix with this lower Cholesky factor.

    Examples
    --------
    >>> inverse_of(np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[2.0, -1.0], [-1.0, 1.0]]
    """
    lower, _ = linalg.lapack.dpotri(factor, lower=1)  # the upper triangle is that of the factor: zero
    inverse = lower + lower.T
    inverse[np.diag_indices(len(inverse))] /= 2.0
    return np.asarray(inverse)


def _lower_triangle(kernel: Kernel, x: Matrix) -> Matrix:
    """Return the covariance of all pairs in column order, as LAPACK needs it; only its lower triangle is complete."""
    m = len(x)
    if m <= BLOCK:
        return kernel.covariance(x, x).T
    covariance = np.zeros((m, m), order="F")
    for start in range(0, m, BLOCK):
        columns = slice(start, start + BLOCK)
        covariance[start:, columns] = kernel.covariance(x[columns], x[start:]).T
    return covariance


def _cholesky(kernel: Kernel, x: Matrix) -> Matrix:
    """Return the lower Cholesky factor of the covariance of all pairs with their residuals.

    It replaces the covariance in memory. If rounding made the matrix indefinite, it is computed again, with jitter on
    the diagonal.
    """
    residual, jitter, factor = kernel.residual(x), 0.0, None
    while factor is None:
        covariance = _lower_triangle(kernel, x)
        diagonal = np.einsum("ii->i", covariance)
        diagonal += residual + jitter
        jitter = 10.0 * jitter or float(np.finfo(np.float64).eps * diagonal.sum())
        factor, failed = linalg.lapack.dpotrf(covariance, lower=1, clean=1, overwrite_a=1)
        factor = None if failed else factor
    return np.asarray(factor)
