"""Variances of any contrasts of candidates, from the complement pairs that were drawn.

A candidate is a sum over complement pairs T of A_T g_T, with one exact weight A_T per pair, and so is every contrast,
with the weight a_T = c' A_T. Its variance is that of the Horvitz-Thompson estimate of the residuals with these weights:
the sum over drawn pairs of a_T^2 r_T^2 (1 - pi_T) / pi_T^2. Differences of two players have a closed form for all of
them at once, see `control_variate`; sums of two players, which ranking by magnitude needs, do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Matrix, Values
    from topshap.statistics.contrasts import Contrasts

POOLED_DEGREES = 6.0
"""The degrees of freedom of the pooled variance when it is combined with the variance of one contrast."""
ALMOST_ONE = 1.0 - 1e-12
"""Probabilities are at most this where the logarithm of their complement is taken."""
_BLOCK_ENTRIES = 2**21
"""The largest number of weights computed together, which bounds memory."""


class ContrastMoments(NamedTuple):
    """The uncertainty of contrasts: arrays of the same shape."""

    variances: Matrix
    """The variance of each contrast, infinite if nothing is known about it."""
    degrees: Matrix
    """Its degrees of freedom."""
    undrawn: Matrix
    """The total weight of the complement pairs that were not drawn."""
    exposure: Matrix
    """The expected number of these complement pairs in a sample drawn in the same way."""


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """The drawn complement pairs, with all that the variance of a contrast depends on."""

    weights: Matrix
    """The exact weight of each pair in every candidate."""
    probabilities: Values
    """The inclusion probabilities."""
    residual: Values
    """The leave-one-out residuals."""
    mean_squares: Values
    """The mean square of the residuals of pairs of the same size."""
    shared: Matrix
    """The covariance of the residuals of the first pairs, due to their dependence."""
    widening: float
    """The factor of variances for the hyper-parameters, which were fitted to the same pairs."""
    totals: Callable[[Contrasts], Values]
    """Returns the total weight of all complement pairs in each contrast."""

    def moments(self, contrasts: Contrasts) -> ContrastMoments:
        """Return the uncertainty of contrasts."""
        step = max(1, _BLOCK_ENTRIES // len(self.weights))
        parts = [self._sums(contrasts.part(slice(at, at + step))) for at in range(0, contrasts.count, step)]
        own, pooled, fourth, drawn, exposure = np.concatenate(parts, axis=1)
        variances, degrees = combined(own, pooled, fourth)
        variances *= self.widening
        variances += np.maximum(contrasts.quadratic(self._dependence), 0.0)
        undrawn = np.maximum(self.totals(contrasts) - drawn, 0.0)
        variances[(pooled <= 0.0) & (undrawn > 1e-9)] = np.inf
        return ContrastMoments(variances, degrees, undrawn, exposure)

    def covariance(self) -> Matrix:
        """Return the covariance of the candidates, from the mean squares of the residuals."""
        scaled = self.weights / self.probabilities[:, None]
        own = (scaled * (self.mean_squares * (1.0 - self.probabilities))[:, None]).T @ scaled
        return np.asarray(self.widening * own + self._dependence)

    @cached_property
    def _dependence(self) -> Matrix:
        """The covariance of the candidates that is due to the dependence between residuals."""
        odds = ((1.0 - self.probabilities) / self.probabilities)[: len(self.shared)]
        signed = self.weights[: len(self.shared)] * odds[:, None]
        return np.asarray(signed.T @ (self.shared @ signed))

    def _sums(self, contrasts: Contrasts) -> Matrix:
        """Return five sums over the drawn pairs for each contrast, one per row."""
        missed = 1.0 - self.probabilities
        weight = contrasts.of(self.weights)
        squares = (weight / self.probabilities[:, None]) ** 2 * missed[:, None]
        own = squares * (self.residual**2)[:, None]
        exposure = -np.log1p(-np.minimum(self.probabilities, ALMOST_ONE)) * missed / self.probabilities
        return np.stack(
            [
                own.sum(axis=0),
                self.mean_squares @ squares,
                (own**2).sum(axis=0),
                np.abs(weight).sum(axis=0),
                exposure @ (weight != 0.0),
            ]
        )


def combined(own: Matrix, pooled: Matrix, fourth: Matrix) -> tuple[Matrix, Matrix]:
    """Return variances and their degrees of freedom, from a contrast's own residuals and from those of all pairs.

    Parameters
    ----------
    own, pooled
        The variances by the residuals of the pairs, and by the mean squares of all residuals.
    fourth
        The sum of the squared terms of `own`.

    Examples
    --------
    >>> combined(np.array([2.0]), np.array([2.0]), np.array([1.0]))
    (array([2.]), array([10.]))
    """
    freedom = np.where(own > 0.0, own**2 / np.maximum(fourth, np.finfo(float).tiny), 0.0)
    return (freedom * own + POOLED_DEGREES * pooled) / (freedom + POOLED_DEGREES), freedom + POOLED_DEGREES


def totals_of_players(contrasts: Contrasts, n: int) -> Values:
    """Return the total absolute weight of all complement pairs in contrasts of players.

    It is 2 in phi_i - phi_j. In phi_i + phi_j, pairs with both players on one side add up to 2, and those that separate
    them to 2 |n - 2s| / (n (n - 1)) for each size s.

    Examples
    --------
    >>> from topshap.statistics.contrasts import Contrasts
    >>> one = np.ones(2)
    >>> totals_of_players(Contrasts(np.array([0, 0]), np.array([1, 1]), one, np.array([-1.0, 1.0])), 4)
    array([2.        , 2.66666667])
    """
    sizes = np.arange(1, n)
    separated = 2.0 * float(np.abs(n - 2 * sizes).sum()) / max(n * (n - 1), 1)
    return np.where(contrasts.sign_ahead * contrasts.sign_behind > 0.0, 2.0 + separated, 2.0)
