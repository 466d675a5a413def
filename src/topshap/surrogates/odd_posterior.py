"""The posterior of the odd part of a game, and of its Shapley values, after observing complement pairs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from topshap.surrogates.odd_kernel import OddKernel
    from topshap.typing import Matrix, Players, Values


AT_ONCE = 512
"""How many pairs are put next to all others at a time: few enough that what is computed of them stays in the cache."""
PERFECT_FIT = 1e-10
"""Residuals whose squares are all below this part of the mean square of g are a perfect fit, which is not certainty."""


class OddPosterior:
    """A Gaussian process on g(x) = (v(x) - v(-x)) / 2, conditioned on observed pairs.

    With K the covariance of the observations and A = Cov(phi, observations), the Shapley values have the posterior mean
    A K^-1 g and covariance prior - A K^-1 A'. What the smooth part leaves over in an observed pair is real and counts
    with its exact Shapley weight, so the values add up to v(N) - v(empty) and become exact as the table fills.

    Parameters
    ----------
    kernel
        The prior covariance.
    x
        Observed pairs as signs, one of each two complements a row.
    g
        Their odd values.
    noise
        Leave the residual out of the game: it is noise of the value function.
    """

    def __init__(self, kernel: OddKernel, x: Matrix, g: Values, *, noise: bool = False) -> None:
        self.kernel, self.x, self.g = kernel, x, g
        self._noise = noise
        covariance = _lower_half(kernel, x)
        covariance[np.diag_indices(len(x))] += kernel.residual(x)
        self.factor: Matrix = _cholesky(covariance)

    def solve(self, right: Matrix | Values) -> Matrix:
        """Return K^-1 times `right`."""
        return np.asarray(linalg.cho_solve((self.factor, True), right, check_finite=False))

    @cached_property
    def weights(self) -> Values:
        """K^-1 g: how much each observation counts in a prediction."""
        return self.solve(self.g)

    @cached_property
    def functional(self) -> Matrix:
        """Cov(observation, phi), one observation a row."""
        return self.functional_of(self.x)

    def functional_of(self, x: Matrix) -> Matrix:
        """Return Cov(g(x), phi) in the prior, for any pairs."""
        return self.kernel.functional(x, residual=not self._noise)

    @cached_property
    def solved_functional(self) -> Matrix:
        """K^-1 A', one observation a row."""
        return self.solve(self.functional)

    @cached_property
    def shapley_values(self) -> Values:
        """The posterior mean of the Shapley values."""
        return self.weights @ self.functional

    @cached_property
    def covariance(self) -> Matrix:
        """The posterior covariance of the Shapley values; singular, since they add up to a known number."""
        prior = self.kernel.prior_without_residual if self._noise else self.kernel.prior
        covariance = prior - self.functional.T @ self.solved_functional
        return (covariance + covariance.T) / 2.0

    def predict(self, x: Matrix) -> Values:
        """Return the posterior mean of the smooth part of g."""
        parts = np.array_split(x, len(x) // AT_ONCE + 1)  # so that memory stays bounded
        return np.concatenate([self.kernel.predict(part, self.x, self.weights) for part in parts])

    def leave_one_out(self, rows: Players) -> tuple[Values, Values]:
        """Return the residuals of some observations if each is predicted from all others, and their deviations."""
        units = np.zeros((len(self.x), len(rows)), order="F")
        units[rows, np.arange(len(rows))] = 1.0
        columns = linalg.solve_triangular(self.factor, units, lower=True, overwrite_b=True, check_finite=False)
        precision = np.einsum("mr,mr->r", columns, columns)
        return self.weights[rows] / precision, 1.0 / np.sqrt(precision)


def _lower_half(kernel: OddKernel, x: Matrix) -> Matrix:
    """Return the covariance of all pairs, without its upper half, as LAPACK wants it: by columns."""
    m = len(x)
    covariance = np.zeros((m, m), order="F")
    for start in range(0, m, AT_ONCE):
        columns = slice(start, start + AT_ONCE)
        covariance[start:, columns] = kernel.covariance(x[columns], x[start:]).T
    return covariance


def _cholesky(covariance: Matrix) -> Matrix:
    """Return the lower Cholesky factor, of a matrix with a little more noise if rounding made it indefinite.

    Only the lower half is read.
    """
    m = len(covariance)
    jitter = np.finfo(np.float64).eps * np.trace(covariance)
    factor, failed = linalg.lapack.dpotrf(covariance, lower=1, clean=1)
    while failed:
        covariance[np.diag_indices(m)] += jitter
        jitter *= 10.0
        factor, failed = linalg.lapack.dpotrf(covariance, lower=1, clean=1)
    return np.asarray(factor)
