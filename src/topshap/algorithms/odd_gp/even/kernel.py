"""The covariance of the even part of a game, and the covariances with the interactions of players that follow.

    Cov(e(x), e(y)) = constant + quadratic ((x.y)^2 - n) / 2 + smooth cosh(sum_i a_i x_i y_i) / cosh(sum_i a_i)
                      + residual(|x|) [x = y or x = -y]

The quadratic part gives every product x_i x_j the same variance. The smooth part contains all even orders: cosh is the
product kernel prod_i (1 + tanh(a_i) x_i y_i) restricted to even sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.odd_gp.even.integrals import (
    even_product_functional,
    even_product_mean,
    even_product_prior,
    even_product_variances,
)
from topshap.algorithms.odd_gp.even.weights import (
    interaction_weights,
    residual_prior,
    residual_prior_by_overlap,
    weighted_interactions,
)
from topshap.algorithms.odd_gp.even_kernel import EvenKernel

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
    from topshap.core.typing import Matrix, Values


class StrongPairs(NamedTuple):
    """Distinct pairs of players whose products x_i x_j have coefficients with variances of their own."""

    pairs: PlayerPairs
    variances: Values

    def products(self, x: Matrix) -> Matrix:
        """Return x_i x_j for every row x (rows) and pair (columns)."""
        return np.asarray(x[:, self.pairs.i] * x[:, self.pairs.j])


@dataclass(frozen=True, eq=False)
class InteractionKernel(EvenKernel):
    """The covariance of the even part of a game with a quadratic part, and that of its interactions.

    Examples
    --------
    >>> kernel = InteractionKernel(np.array([0.3, 0.1]), smooth=1.0, constant=0.0, residual_level=0.0, quadratic=0.5)
    >>> x = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> kernel.covariance(x, x).round(3)
    array([[1.5  , 0.444],
           [0.444, 1.5  ]])
    """

    quadratic: float = 0.0
    """The variance of each coefficient of a product x_i x_j, besides the smooth part."""
    strong: StrongPairs | None = None
    """Pairs of players whose coefficients have a further variance."""

    def variances(self, x: Matrix) -> Values:
        """Return the variance of e in each complement pair, without the residual."""
        n = len(self.relevance)
        strong = 0.0 if self.strong is None else float(self.strong.variances.sum())
        return super().variances(x) + (self.quadratic * n * (n - 1) / 2.0 + strong)

    def covariance(self, x: Matrix, y: Matrix) -> Matrix:
        """Return the covariance of e between the rows of x and of y, without the residual."""
        covariance = super().covariance(x, y)
        covariance += quadratic_products(x, y, self.quadratic)
        if self.strong is not None:
            covariance += (self.strong.products(x) * self.strong.variances) @ self.strong.products(y).T
        return covariance

    def functional(self, x: Matrix, pairs: PlayerPairs, *, residual: bool = True) -> Matrix:
        """Return Cov(e(x), SII_ij) for every row x (rows) and pair of players (columns).

        Without `residual`, only the quadratic and the smooth part belong to the game.
        """
        result = self._even_scale * even_product_functional(x, np.tanh(self.relevance), pairs)
        result += self._quadratic_of(pairs) * (x[:, pairs.i] * x[:, pairs.j])
        result *= 4.0
        if residual:
            result += self.residual(x)[:, None] * interaction_weights(x, pairs)
        return result

    def interactions(self, x: Matrix, weights: Values, *, residual: bool = True) -> Matrix:
        """Return the sum over rows x of weights times Cov(e(x), SII_ij), as a matrix with one row per player.

        The same as `functional` times weights, without a column for every pair of players.
        """
        smooth = self._even_scale * even_product_mean(x, np.tanh(self.relevance), weights)
        total = 4.0 * (smooth + self._quadratic_matrix * ((x * weights[:, None]).T @ x))
        if residual:
            total += weighted_interactions(x, weights * self.residual(x))
        return np.asarray(total)

    def prior(self, pairs: PlayerPairs, *, residual: bool = True) -> Matrix:
        """Return the prior covariance of the interactions of some pairs of players."""
        covariance = 16.0 * self._even_scale * even_product_prior(np.tanh(self.relevance), pairs)
        covariance[np.diag_indices(len(pairs.i))] += 16.0 * self._quadratic_of(pairs)
        if residual:
            covariance += residual_prior(self._residual_by_size, pairs)
        return np.asarray(covariance)

    def prior_variances(self, pairs: PlayerPairs, *, residual: bool = True) -> Values:
        """Return the diagonal of `prior`."""
        smooth = self._even_scale * even_product_variances(np.tanh(self.relevance), pairs)
        own = residual_prior_by_overlap(self._residual_by_size)[2] if residual else 0.0
        return np.asarray(16.0 * (smooth + self._quadratic_of(pairs)) + own)

    def _quadratic_of(self, pairs: PlayerPairs) -> Values:
        """Return the variance of the coefficient of each pair, besides the smooth part."""
        return pairs.of_matrix(self._quadratic_matrix)

    @cached_property
    def _quadratic_matrix(self) -> Matrix:
        """The variances of the coefficients of all pairs, besides the smooth part, as a symmetric matrix."""
        n = len(self.relevance)
        matrix = np.full((n, n), self.quadratic)
        if self.strong is not None:
            i, j = self.strong.pairs
            matrix[i, j] += self.strong.variances
            matrix[j, i] += self.strong.variances
        return matrix

    @property
    def _residual_by_size(self) -> Values:
        """The residual variances of complement pairs with a coalition of size 0 .. n."""
        n = len(self.relevance)
        return self.residual(np.where(np.arange(n) < np.arange(n + 1)[:, None], 1.0, -1.0))

    @cached_property
    def _even_scale(self) -> float:
        """The variance of a Walsh coefficient divided by its rho_U: smooth * prod_i cosh(a_i) / cosh(sum_i a_i)."""
        return float(self.smooth * np.exp(_log_cosh(self.relevance).sum() - _log_cosh(self.relevance.sum())))


def quadratic_products(x: Matrix, y: Matrix, variance: float) -> Matrix:
    """Return the variance times ((x.y)^2 - n) / 2: the sum of x_i x_j y_i y_j over all pairs i < j."""
    short = x.astype(np.float32)  # exact for sums of +1 and -1, and twice as fast
    products = short @ (short if y is x else y.astype(np.float32)).T
    np.square(products, out=products)
    products -= x.shape[1]
    return np.multiply(products, variance / 2.0, dtype=np.float64)


def _log_cosh(z: Values) -> Values:
    return np.asarray(z + np.log1p(np.exp(-2.0 * z)) - np.log(2.0))
