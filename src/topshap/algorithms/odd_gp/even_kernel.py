"""The covariance of the even part of a game: a constant, a smooth part of all even orders, and a residual.

    Cov(e(x), e(y)) = constant + smooth * cosh(sum_i a_i x_i y_i) / cosh(sum_i a_i) + residual(|x|) * [x = y]

The Shapley values do not depend on it. It informs the relevances, which it shares with the odd part, and turns a
prediction of the odd part into a prediction of the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.odd_kernel import exponentials, extremeness

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Matrix, Values


@dataclass(frozen=True, eq=False)
class EvenKernel:
    """The covariance of the even part of a game.

    Examples
    --------
    >>> kernel = EvenKernel(relevance=np.array([0.3, 0.1]), smooth=1.0, constant=0.0, residual_level=0.0)
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> kernel.covariance(x, x).round(3)
    array([[1.   , 0.944],
           [0.944, 1.   ]])
    """

    relevance: Values
    """The relevance a_i > 0 of each player: how much it interacts."""
    smooth: float
    """The variance of the smooth part on the grand coalition."""
    constant: float
    """The variance of the constant."""
    residual_level: float
    """The residual variance of a pair of two halves."""
    residual_slope: float = 0.0
    """The slope of the log residual variance in log(n^2 / (4 s (n - s))), which grows towards extreme sizes."""

    def covariance(self, x: Matrix, y: Matrix) -> Matrix:
        """Return the covariance of e between the rows of x and of y, without the residual."""
        both, falling = exponentials(x, y, self.relevance)
        both += falling
        both *= self.smooth / (1.0 + np.exp(-2.0 * float(self.relevance.sum())))
        both += self.constant
        return both

    def rows_among(self, x: Matrix) -> Callable[[int], Values]:
        """Return a function that gives the covariance of row i of x with all rows of x, without the residual."""
        return lambda i: np.asarray(self.covariance(x[i : i + 1], x)[0])

    def variances(self, x: Matrix) -> Values:
        """Return the variance of e in each pair, without the residual."""
        return np.full(len(x), self.constant + self.smooth)

    def residual(self, x: Matrix) -> Values:
        """Return the residual variance of each pair."""
        return np.asarray(self.residual_level * np.exp(self.residual_slope * extremeness(x)))
