"""The estimate of the Shapley values of all outputs, with one covariance that they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Values


class Reduction(Protocol):
    """How the covariances of outputs differ from the one they share: by own pairs, or by kernels of clusters."""

    def of_output(self, output: int) -> Matrix:
        """Return the matrix (n, n) to subtract from the shared covariance."""

    def diagonals(self) -> Matrix:
        """Return the diagonals of these matrices, of shape (R, n)."""


@dataclass(frozen=True, eq=False)
class SharedEstimate:
    """Estimates of the Shapley values of R outputs.

    The covariance of output r is ``factors[r] * covariance``, unless there is a `reduction`; see `covariance_of`.

    Examples
    --------
    >>> estimate = SharedEstimate(np.zeros((2, 2)), np.eye(2), np.array([1.0, 4.0]))
    >>> estimate.std_errors
    array([[1., 1.],
           [2., 2.]])
    """

    values: Matrix
    """The estimates, of shape (R, n)."""
    covariance: Matrix
    """The shared covariance, of shape (n, n)."""
    factors: Values
    """The factor of each output, of shape (R,); nan before any pair has been observed."""
    reduction: Reduction | None = None
    """How the covariances of outputs differ from the shared one; None if they do not."""

    def covariance_of(self, output: int) -> Matrix:
        """Return the covariance of the Shapley values of one output, of shape (n, n)."""
        if self.reduction is None:
            return self.factors[output] * self.covariance
        return np.asarray(self.factors[output] * (self.covariance - self.reduction.of_output(output)))

    def with_shared_covariance(self) -> SharedEstimate:
        """Return the estimate without reduction, with factors that keep the sum of the variances of every output."""
        if self.reduction is None:
            return self
        trace = max(float(np.trace(self.covariance)), 1e-300)
        return SharedEstimate(self.values, self.covariance, np.sum(self.std_errors**2, axis=1) / trace)

    @cached_property
    def std_errors(self) -> Matrix:
        """The standard errors of the estimates, of shape (R, n)."""
        variances = np.diag(self.covariance)
        if self.reduction is None:
            return np.sqrt(np.outer(self.factors, np.maximum(variances, 0.0)))
        return np.sqrt(self.factors[:, None] * np.maximum(variances - self.reduction.diagonals(), 0.0))


def adding_up(values: Matrix, gains: Values) -> Matrix:
    """Return the estimates, shifted equally for all players so that they add up to the gain of each output.

    Examples
    --------
    >>> adding_up(np.array([[1.0, 2.0]]), np.array([4.0]))
    array([[1.5, 2.5]])
    """
    return np.asarray(values + ((gains - values.sum(axis=1)) / values.shape[1])[:, None])
