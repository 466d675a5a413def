"""Covariances of the estimates of several outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.core.typing import Matrix, Values


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


def stacked(covariances: Iterable[Matrix | None]) -> Matrix | None:
    """Return the covariances of all outputs as one array of shape (R, n, n), None if one of them is not known.

    Examples
    --------
    >>> stacked([np.eye(2), np.eye(2)]).shape, stacked([np.eye(2), None])
    ((2, 2, 2), None)
    """
    known = []
    for covariance in covariances:
        if covariance is None:
            return None
        known.append(covariance)
    return np.array(known)


Covariances: TypeAlias = "Matrix | SharedCovariance"
"""The covariances of several outputs: an array of shape (R, n, n), or a matrix that they share times factors."""
