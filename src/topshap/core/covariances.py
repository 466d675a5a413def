"""Covariances of the estimates of several outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.core.typing import Matrix, Values
    from topshap.statistics.partial_covariance import Covariance


@dataclass(frozen=True, eq=False)
class SharedCovariance:
    """One matrix times a factor for each output, as of estimates that share their coalitions and their kernel.

    Examples
    --------
    >>> shared = SharedCovariance(np.eye(2), np.array([1.0, 4.0]))
    >>> shared[1], shared.std_errors()
    (array([[4., 0.],
           [0., 4.]]), array([[1., 1.],
           [2., 2.]]))
    """

    matrix: Matrix
    """The covariance of an output with factor 1, shape (n, n)."""
    factors: Values
    """The factor of each output, at least 0, shape (R,)."""

    def __getitem__(self, output: Any) -> Any:
        """Return the covariance of one output, or the shared covariance of several."""
        factors = self.factors[output]
        if np.ndim(factors) > 0:
            return SharedCovariance(self.matrix, factors)
        return self.matrix * factors

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self.factors)

    def std_errors(self) -> Matrix:
        """Return the standard errors of all estimates, shape (R, n)."""
        return np.outer(np.sqrt(self.factors), np.sqrt(np.maximum(np.diag(self.matrix), 0.0)))


def stacked(covariances: Iterable[Covariance | None]) -> Matrix | None:
    """Return the covariances of all outputs as one array of shape (R, n, n), nan for unknown ones; None without any.

    Examples
    --------
    >>> stacked([np.eye(1), None]).tolist(), stacked([None, None])
    ([[[1.0]], [[nan]]], None)
    """
    each = [covariance if isinstance(covariance, np.ndarray) else None for covariance in covariances]
    known = next((covariance for covariance in each if covariance is not None), None)
    if known is None:
        return None
    unknown = np.full(known.shape, np.nan)
    return np.array([unknown if covariance is None else covariance for covariance in each])


def covariance_of(covariances: Covariances | None, output: int) -> Matrix | None:
    """Return the covariance of one output, None if it is not known.

    Examples
    --------
    >>> covariance_of(SharedCovariance(np.eye(1), np.array([2.0])), 0), covariance_of(np.full((1, 1, 1), np.nan), 0)
    (array([[2.]]), None)
    """
    if covariances is None:
        return None
    covariance: Matrix = covariances[output]
    return None if np.isnan(covariance).any() else covariance


Covariances: TypeAlias = "Matrix | SharedCovariance"
"""The covariances of several outputs: an array of shape (R, n, n), nan where unknown, or a matrix that they share
times factors."""
