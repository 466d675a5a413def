"""The surrogate as a control variate: its Shapley values, corrected by its errors in randomly drawn pairs.

With complement pairs T drawn independently with probabilities pi_T, and r_T the leave-one-out residual of T,

    phi = Shapley values of the smooth prediction + sum over drawn T of A_T (g_T - prediction_T)
                                                  + sum over drawn T of A_T r_T (1 / pi_T - 1).

The first sum adds the known errors. The second estimates the errors in the pairs that were not drawn, from the error
that each drawn pair would have had if it had not been drawn. For probabilities and hyper-parameters that do not depend
on the values this is unbiased, for any game.

A difference phi_i - phi_j has the weight a_T = A_Ti - A_Tj in the complement pairs that separate i and j, and
|a_T| = c(|T|). So every sum of a_T squared over complement pairs is one matrix for all i and j:
(sum_T h_T - X' diag(h) X) / 2. `DrawnPairs` has the variances of other contrasts.

The weights A_T of all players add up to 0, except in the grand coalition, so that the estimates add up to the gain
whatever was drawn, and phi_i + phi_j is as unbiased as phi_i - phi_j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.odd_gp.bounds import BorderDifferences
from topshap.algorithms.odd_gp.contrast_moments import (
    ALMOST_ONE,
    ContrastMoments,
    DrawnPairs,
    combined,
    totals_of_players,
)
from topshap.algorithms.odd_gp.gp import inverse_of
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.algorithms.odd_gp.rare_jumps import has_heavy_tails
from topshap.algorithms.odd_gp.strata import contrast_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.odd_gp.even.posterior import EvenPosterior
    from topshap.algorithms.odd_gp.posterior import OddPosterior
    from topshap.algorithms.odd_gp.surrogate import OddSurrogate
    from topshap.core.typing import Matrix, Values
    from topshap.statistics.contrasts import Contrasts

SIZE_DEGREES = 8.0
"""The number of pairs that the overall mean square counts as when the mean square of a size is shrunk towards it."""
ALLOWED_JUMP = 1.5
"""The largest jump that may have been missed, relative to the mean absolute Shapley value.

On the six global games and local-adult, 1.5 takes as many evaluations as 1 (428.3 and 427.6), 2 takes 481 and 3 takes
661. It was chosen on these and on one game with a rare pivotal player.
"""
JUMP_IN_EPSILON, JUMP_IF_EXACT = 12.5, 25.0
"""The largest jump of g that may have been missed, relative to epsilon; and if the surrogate predicts most pairs
exactly, so that its residuals say nothing about jumps.

A jump of v is twice as large: 50 epsilon is the range of v if epsilon is 2% of it. On local-adult, 12.5 takes 1.05
times the evaluations of 0, 20 takes 1.2 times and 25 takes 1.3 times; on the six global games, all take the same.
"""
EXACT = 1e-4
"""Most pairs are predicted exactly if the median residual is below this multiple of epsilon."""


@dataclass(frozen=True, eq=False)
class CorrectedEstimate:
    """Estimates of the Shapley values, and the variances of all their differences."""

    estimates: Values
    mean_squares: Values
    """The mean square of the residuals by size, 0 .. n."""
    jump: float
    """The largest residual that may have been missed."""
    drawn: DrawnPairs
    """The drawn pairs, for any contrasts."""
    differences: ContrastMoments | None = None
    """The uncertainty of phi_i - phi_j for all i and j, where it has a closed form: for players."""

    def border(self, contrasts: Contrasts) -> BorderDifferences:
        """Return the estimates of contrasts with their uncertainty."""
        if self.differences is not None and contrasts.are_differences:
            moments = ContrastMoments(*(matrix[contrasts.ahead, contrasts.behind] for matrix in self.differences))
        else:
            moments = self.drawn.moments(contrasts)
        return BorderDifferences(
            gaps=contrasts.of(self.estimates),
            deviations=np.sqrt(moments.variances),
            degrees=moments.degrees,
            unseen=self.jump * moments.undrawn,
            exposure=moments.exposure,
        )

    def covariance(self) -> Matrix:
        """Return the covariance of the estimates.

        That of players follows from the variances of differences, since the estimates' sum is known. It is nan where
        nothing is known about a difference. Variances of differences that are estimated one by one may fit no
        covariance; then the closest one is returned.
        """
        if self.differences is None:
            return with_variances(self.drawn.covariance())
        variances = self.differences.variances
        if np.isinf(variances).any():
            return np.full_like(variances, np.nan)
        rows = variances - variances.mean(axis=0)
        return with_variances(-0.5 * (rows - rows.mean(axis=1)[:, None]))


def correct(surrogate: OddSurrogate, x: Matrix, g: Values, probabilities: Values, epsilon: float) -> CorrectedEstimate:
    """Return the corrected Shapley values, given all drawn pairs and their inclusion probabilities.

    The surrogate is conditioned on the first of the pairs; the others are predicted. The first pair is that of the
    grand coalition, with probability 1. The size of jumps that may have been missed depends on `epsilon`.
    """
    posterior, scale = surrogate.posterior, surrogate.scale
    m, n = x.shape
    learned = len(posterior.x)
    smooth = posterior.kernel.functional(posterior.x, residual=False).T @ posterior.weights
    scaled = g / scale
    prediction, residual, inverse = leave_one_out(posterior, x, scaled)
    odds = (1.0 - probabilities) / probabilities
    weights = pair_functional(x)
    estimates = smooth + weights.T @ (scaled - prediction + residual * odds)

    sizes = (x > 0).sum(axis=1)
    weight = contrast_weights(n)[sizes]
    mean_squares = residual_mean_squares(residual[1:], sizes[1:], n, unseen=float(np.max(estimates**2)) / 4.0)
    by_pair = (weight / probabilities) ** 2 * (1.0 - probabilities)
    own = _over_separated(x, by_pair * residual**2)
    pooled = _over_separated(x, by_pair * mean_squares[sizes])
    fourth = _over_separated(x, (by_pair * residual**2) ** 2)
    variances, degrees = combined(own, pooled, fourth)
    widening = 1.0 + 2.0 * n / m
    variances *= widening
    shared = shared_residuals(posterior.weights, inverse)
    dependence = _dependence(posterior, shared, (weight / probabilities * (1.0 - probabilities))[:learned])
    variances += np.maximum(dependence, 0.0)
    # The complement pairs that separate two players have a total weight of 2. If some were not drawn and no drawn one
    # is informative, the difference is unknown.
    drawn = _over_separated(x, weight)
    variances[(pooled <= 0.0) & (drawn < 2.0 - 1e-9)] = np.inf
    np.fill_diagonal(variances, 0.0)
    exposure = _over_separated(x, -np.log1p(-np.minimum(probabilities, ALMOST_ONE)) * odds)
    return CorrectedEstimate(
        # Rounding errors only: the estimates add up to the gain.
        estimates=scale * (estimates + (2.0 * scaled[0] - estimates.sum()) / n),
        differences=ContrastMoments(scale**2 * variances, degrees, np.maximum(2.0 - drawn, 0.0), exposure),
        mean_squares=scale**2 * mean_squares,
        jump=scale * largest_jump(residual[1:], estimates, epsilon / scale),
        drawn=DrawnPairs(
            weights=weights,
            probabilities=probabilities,
            residual=scale * residual,
            mean_squares=scale**2 * mean_squares[sizes],
            shared=scale**2 * shared,
            widening=widening,
            totals=partial(totals_of_players, n=n),
        ),
    )


def leave_one_out(
    posterior: OddPosterior | EvenPosterior, x: Matrix, observed: Values
) -> tuple[Values, Values, Matrix]:
    """Return the smooth prediction and the leave-one-out residual of each pair, and the inverse of the covariance K.

    The process is conditioned on the first of the pairs; the residuals of the others are those of a prediction.
    """
    prediction = posterior.predict(x)
    inverse = inverse_of(posterior.factor)
    residual = observed - prediction
    residual[: len(posterior.x)] = posterior.weights / np.diag(inverse)
    return prediction, residual, inverse


def residual_mean_squares(residual: Values, sizes: NDArray[np.intp], n: int, unseen: float) -> Values:
    """Return the mean square of the residuals for sizes 0 .. n, shrunk towards the overall mean square.

    Sizes s and n - s are pooled. A perfect fit is not certainty: it allows for one more squared residual, `unseen`.
    """
    squares = residual**2
    overall = float(np.mean(squares)) if len(squares) else unseen
    if is_perfect(residual):
        overall = unseen / (len(squares) + 1.0)
    smaller = np.minimum(sizes, n - sizes)
    count = np.bincount(smaller, minlength=n + 1)
    total = np.bincount(smaller, weights=squares, minlength=n + 1)
    shrunk = (total + SIZE_DEGREES * overall) / (count + SIZE_DEGREES)
    s = np.arange(n + 1)
    return np.asarray(shrunk[np.minimum(s, n - s)])


def largest_jump(residual: Values, estimates: Values, epsilon: float) -> float:
    """Return the largest residual that may have been missed.

    It is the largest of four: the size of the jumps among the residuals; `ALLOWED_JUMP` times the mean absolute
    estimate; the mean absolute difference of two estimates; and a multiple of epsilon. A game may look additive for
    hundreds of coalitions before a rare one shows that it is not, and its jumps may be far larger than anything
    observed before.

    The size of the jumps is that of the largest residual if these have heavy tails, else the root of the fourth by the
    second moment.

    Examples
    --------
    >>> largest_jump(np.array([0.0, 0.0, 0.0, -5.0]), np.zeros(3), epsilon=0.1)
    5.0
    >>> largest_jump(np.zeros(4), np.array([1.0, 0.0]), epsilon=0.1)
    2.5
    """
    n = len(estimates)
    contribution = float(np.abs(estimates).mean())
    difference = float(np.abs(estimates[:, None] - estimates).sum()) / max(n * (n - 1), 1)
    exact = len(residual) == 0 or float(np.median(np.abs(residual))) < EXACT * epsilon
    allowed = (JUMP_IF_EXACT if exact else JUMP_IN_EPSILON) * epsilon
    return max(_size_of_jumps(residual), ALLOWED_JUMP * contribution, difference, allowed)


def with_variances(matrix: Matrix) -> Matrix:
    """Return a symmetric matrix; the closest positive semidefinite one if its diagonal has negative elements."""
    if np.diag(matrix).min() >= 0.0:
        return matrix
    scales, directions = linalg.eigh(matrix)
    return np.asarray((directions * np.maximum(scales, 0.0)) @ directions.T)


def _size_of_jumps(residual: Values) -> float:
    squares = residual**2
    if not squares.any():
        return 0.0
    if has_heavy_tails(residual):
        return math.sqrt(squares.max())
    return math.sqrt(np.mean(squares**2) / np.mean(squares))


def _over_separated(x: Matrix, values: Values) -> Matrix:
    """Return, for all players i and j, the sum of the values of the complement pairs that separate them."""
    return np.maximum((values.sum() - (x * values[:, None]).T @ x) / 2.0, 0.0)


def shared_residuals(weights: Values, inverse: Matrix) -> Matrix:
    """Return the covariance of leave-one-out residuals that is due to their dependence on what else was drawn.

    r_t depends on whether u was drawn, and r_u on whether t was. Their covariance is estimated by the product of the
    residuals of t and u when both are left out, times (K^-1_tu)^2 / (K^-1_tt K^-1_uu).

    Parameters
    ----------
    weights
        K^-1 times the observed values.
    inverse
        K^-1.
    """
    diagonal = np.diag(inverse)
    both = np.outer(diagonal, diagonal)
    square = inverse**2
    determinant = np.maximum(both - square, 1e-12 * both)
    left_out = (diagonal * weights[:, None] - inverse * weights) / determinant
    shared = square / both * left_out * left_out.T
    np.fill_diagonal(shared, 0.0)
    return np.asarray(shared)


def _dependence(posterior: OddPosterior, shared: Matrix, weight: Values) -> Matrix:
    """Return the variance of phi_i - phi_j due to the dependence between residuals."""
    signed = posterior.x * weight[:, None] / 2.0
    product = signed.T @ shared @ signed
    own = np.diag(product)
    return np.asarray(own[:, None] + own - product - product.T)
