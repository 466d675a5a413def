"""Covariances of the estimates of several outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Players, Values
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


@dataclass(frozen=True, eq=False)
class ClusteredCovariance:
    """One matrix for each cluster of outputs, times a factor for each output.

    Examples
    --------
    >>> clustered = ClusteredCovariance(np.array([[[1.0]], [[9.0]]]), np.array([1, 0]), np.array([1.0, 4.0]))
    >>> clustered[0], clustered.std_errors()
    (array([[9.]]), array([[3.],
           [2.]]))
    """

    matrices: Matrix
    """The covariance of an output with factor 1 in each cluster, shape (K, n, n)."""
    labels: Players
    """The cluster of each output, shape (R,)."""
    factors: Values
    """The factor of each output, at least 0, shape (R,)."""

    def __getitem__(self, output: Any) -> Any:
        """Return the covariance of one output, or the clustered covariance of several."""
        factors = self.factors[output]
        if np.ndim(factors) > 0:
            return ClusteredCovariance(self.matrices, self.labels[output], factors)
        return self.matrices[self.labels[output]] * factors

    def __len__(self) -> int:
        """Return the number of outputs."""
        return len(self.factors)

    def std_errors(self) -> Matrix:
        """Return the standard errors of all estimates, shape (R, n)."""
        deviations = np.sqrt(np.maximum(np.diagonal(self.matrices, axis1=1, axis2=2), 0.0))
        return np.asarray(np.sqrt(self.factors)[:, None] * deviations[self.labels])


class CovarianceParts(NamedTuple):
    """Covariances of results that are a common matrix times a factor, as far as they are."""

    matrices: list[Matrix]
    which: NDArray[np.intp]
    """The position of each result's matrix; -1 if its covariance is not shared."""
    factors: Values
    """The factor of each result."""

    def of(self, chosen: Any) -> CovarianceParts:
        """Return the parts of some of the results."""
        return CovarianceParts(self.matrices, self.which[chosen], self.factors[chosen])


def parts_of_covariances(covariances: Covariances | None, n_results: int) -> CovarianceParts:
    """Return the matrices and factors of covariances that are shared.

    Examples
    --------
    >>> parts_of_covariances(SharedCovariance(np.eye(2), np.array([1.0, 4.0])), 2).which
    array([0, 0])
    """
    if isinstance(covariances, SharedCovariance):
        return CovarianceParts([covariances.matrix], np.zeros(n_results, dtype=np.intp), covariances.factors)
    if isinstance(covariances, ClusteredCovariance):
        return CovarianceParts(list(covariances.matrices), covariances.labels, covariances.factors)
    return CovarianceParts([], np.full(n_results, -1), np.ones(n_results))


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


Covariances: TypeAlias = "Matrix | SharedCovariance | ClusteredCovariance"
"""The covariances of several outputs: an array of shape (R, n, n), nan where unknown, or matrices that they share times
factors."""
