"""The covariance of the odd part of a game: a flat linear part, a smooth part of all odd orders, and a residual.

    Cov(g(x), g(y)) = linear * x.y + smooth * sinh(sum_i a_i x_i y_i) / sinh(sum_i a_i) + residual(|x|) * [x = y]

sinh is the product kernel prod_i (1 + tanh(a_i) x_i y_i) restricted to odd orders: a player with a large relevance a_i
takes part in more interactions, and of higher order. The residuals of different pairs are independent, with a variance
that depends on the size; and since g is odd, the residuals of x and -x are opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.integrals import odd_product_functional, odd_product_prior, pair_functional, pair_prior

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Matrix, Values


SAFE_EXPONENT = 600.0
"""Exponents up to this magnitude are far from overflow."""


@dataclass(frozen=True, eq=False)
class OddKernel:
    """The covariance of the odd part of a game, and the covariances with its Shapley values that follow.

    Examples
    --------
    >>> kernel = OddKernel(relevance=np.array([0.3, 0.1]), smooth=1.0, linear=0.0, residual_level=0.0)
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> kernel.covariance(x, x).round(3)
    array([[1.  , 0.49],
           [0.49, 1.  ]])
    """

    relevance: Values
    """The relevance a_i > 0 of each player: how much it interacts."""
    smooth: float
    """The variance of the smooth part on the grand coalition."""
    linear: float
    """The variance of each linear coefficient."""
    residual_level: float
    """The residual variance of a pair of two halves."""
    residual_slope: float = 0.0
    """The slope of the log residual variance in log(n^2 / (4 s (n - s))), which grows towards extreme sizes."""

    @property
    def n_players(self) -> int:
        """The number of players."""
        return len(self.relevance)

    def covariance(self, x: Matrix, y: Matrix) -> Matrix:
        """Return the covariance of g between the rows of x and of y, without the residual."""
        covariance, spare = self._smooth_covariance(x, y)
        np.matmul(x, y.T, out=spare)  # in memory that is there: new memory takes as long as the product
        spare *= self.linear
        covariance += spare
        return covariance

    def rows_among(self, x: Matrix) -> Callable[[int], Values]:
        """Return a function that gives the covariance of row i of x with all rows of x, without the residual."""
        scaled, total = x * np.sqrt(self.relevance), float(self.relevance.sum())
        if 2.0 * total >= SAFE_EXPONENT:
            return lambda i: np.asarray(self.covariance(x[i : i + 1], x)[0])
        end = float(np.exp(-2.0 * total))
        scale = self.smooth / -float(np.expm1(-2.0 * total))

        def row(i: int) -> Values:
            rising = scaled @ scaled[i]
            rising -= total
            np.exp(rising, out=rising)
            rising -= end / rising
            rising *= scale
            rising += self.linear * (x @ x[i])
            return np.asarray(rising)

        return row

    def predict(self, x: Matrix, y: Matrix, weights: Values) -> Values:
        """Return the covariance of g between the rows of x and of y, times weights of the rows of y."""
        prediction: Values = self._smooth_covariance(x, y)[0] @ weights + self.linear * (x @ (y.T @ weights))
        return prediction

    def _smooth_covariance(self, x: Matrix, y: Matrix) -> tuple[Matrix, Matrix]:
        """Return the covariance of the smooth part, and an array of the same shape to write to."""
        rising, falling = exponentials(x, y, self.relevance)
        rising -= falling
        rising *= self.smooth / -np.expm1(-2.0 * float(self.relevance.sum()))
        return rising, falling

    def variances(self, x: Matrix) -> Values:
        """Return the variance of g in each pair, without the residual."""
        return np.full(len(x), self.smooth + self.linear * self.n_players)

    def residual(self, x: Matrix) -> Values:
        """Return the residual variance of each pair."""
        return self.residual_level * np.exp(self.residual_slope * extremeness(x))

    def functional(self, x: Matrix, *, residual: bool = True) -> Matrix:
        """Return Cov(phi_i, observed g(x)) for every row x (rows) and player i (columns).

        Without `residual`, only the linear and the smooth part belong to the game.
        """
        result = 2.0 * self.linear * x + self._odd_scale * odd_product_functional(x, np.tanh(self.relevance))
        if residual:
            result += self.residual(x)[:, None] * pair_functional(x)
        return result

    @cached_property
    def prior(self) -> Matrix:
        """The prior covariance of the Shapley values."""
        n = self.n_players
        by_size = np.where(np.arange(n) < np.arange(n + 1)[:, None], 1.0, -1.0)
        smooth = self._odd_scale * odd_product_prior(np.tanh(self.relevance))
        return smooth + 4.0 * self.linear * np.eye(n) + pair_prior(self.residual(by_size))

    @property
    def prior_without_residual(self) -> Matrix:
        """The prior covariance of the Shapley values if the residual is noise and not part of the game."""
        smooth = self._odd_scale * odd_product_prior(np.tanh(self.relevance))
        return smooth + 4.0 * self.linear * np.eye(self.n_players)

    @cached_property
    def _odd_scale(self) -> float:
        """The variance of a Walsh coefficient divided by its rho_T: smooth * prod_i cosh(a_i) / sinh(sum_i a_i)."""
        a, total = self.relevance, self.relevance.sum()
        log_cosh = a + np.log1p(np.exp(-2.0 * a)) - np.log(2.0)
        log_sinh = total + np.log(-np.expm1(-2.0 * total)) - np.log(2.0)
        return float(self.smooth * np.exp(log_cosh.sum() - log_sinh))


def exponentials(x: Matrix, y: Matrix, relevance: Values) -> tuple[Matrix, Matrix]:
    """Return exp(u - total) and exp(-u - total) for u = sum_i a_i x_i y_i between the rows of x and of y.

    The total of the relevances is subtracted to avoid overflow. Both arrays are new.
    """
    root = np.sqrt(relevance)
    left = x * root
    right = left if y is x else y * root  # for a matrix with itself, BLAS computes only one triangle
    total = float(relevance.sum())
    rising = left @ right.T
    rising -= total  # in place, since the matrix is large
    if 2.0 * total < SAFE_EXPONENT:
        np.exp(rising, out=rising)
        return rising, np.exp(-2.0 * total) / rising
    falling = np.exp(-2.0 * total - rising)
    return np.exp(rising, out=rising), falling


def extremeness(x: Matrix) -> Values:
    """Return log(n^2 / (4 s (n - s))) for the size s of each row: 0 for halves, large for extreme sizes."""
    n = x.shape[1]
    sizes = np.clip((n + x.sum(axis=1)) / 2.0, 0.5, n - 0.5)
    return np.log(n * n / (4.0 * sizes * (n - sizes)))
