"""The surrogate's Shapley values, corrected by its errors in pairs that were drawn with known chances.

With the pairs T drawn independently, T with the chance pi_T, and r_T the residual of T when the surrogate predicts it
from all other pairs,

    phi = Shapley values of the smooth prediction + sum over drawn T of A_T (g_T - prediction_T)
                                                  + sum over drawn T of A_T r_T (1 / pi_T - 1).

The first sum puts in what is known, the second estimates what is not by what a drawn pair would have been off had it
not been drawn. For chances and hyper-parameters that do not depend on the values this is unbiased, whatever the game.

A difference phi_i - phi_j gets a_T = A_Ti - A_Tj from the pairs that separate i and j, which is |a_T| = c(|T|) times a
sign. So every sum over pairs of a_T squared is a matrix of all i and j at once: (sum_T h_T - X' diag(h) X) / 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from topshap.algorithms.odd_gp.gp import inverse_of
from topshap.algorithms.odd_gp.integrals import pair_functional
from topshap.algorithms.odd_gp.poisson import separation
from topshap.algorithms.odd_gp.posterior import is_perfect
from topshap.statistics.error_allocation import levels_by_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.odd_gp.posterior import OddPosterior
    from topshap.algorithms.odd_gp.surrogate import OddSurrogate
    from topshap.core.typing import Matrix, Players, Values

POOLED_FREEDOM = 6.0
"""The pooled variance counts as much as this many pairs of a difference's own."""
SIZE_FREEDOM = 8.0
"""In the mean square of a size, that of all sizes counts as much as this many pairs."""
ALLOWED_JUMP = 1.5
"""Jumps that were not seen may be so many times as large as what a player usually contributes."""
ALMOST_SURE = 1.0 - 1e-12
"""A chance above this counts as this, where its logarithm is taken."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """Estimates of the Shapley values, and the variances of all their differences."""

    estimates: Values
    variances: Matrix
    """The variance of phi_i - phi_j."""
    degrees: Matrix
    """Its degrees of freedom."""
    mean_squares: Values
    """The mean square of the residuals by size, 0 .. n."""
    jump: float
    """How large a residual may be that was not seen."""
    unseen: Matrix
    """The weight in phi_i - phi_j of the pairs that were not drawn."""
    missed: Matrix
    """How many of these were to be expected in a sample as large as the one that was drawn."""

    def across(self, top: Players, rest: Players) -> Differences:
        """Return what is known of phi_i - phi_j for i in `top` and j in `rest`."""
        border = np.ix_(top, rest)
        return Differences(
            gaps=self.estimates[top][:, None] - self.estimates[rest],
            deviations=np.sqrt(self.variances[border]),
            degrees=self.degrees[border],
            unseen=self.jump * self.unseen[border],
            missed=self.missed[border],
        )

    def covariance(self) -> Matrix:
        """Return the covariance of the estimates, which add up to a known number, that belongs to the variances.

        It is nan where nothing is known about a difference.
        """
        if np.isinf(self.variances).any():
            return np.full_like(self.variances, np.nan)
        rows = self.variances - self.variances.mean(axis=0)
        return -0.5 * (rows - rows.mean(axis=1)[:, None])


@dataclass(frozen=True, eq=False)
class Differences:
    """What is known of the differences phi_i - phi_j across a border."""

    gaps: Matrix
    deviations: Matrix
    degrees: Matrix
    unseen: Matrix
    """How much jumps would come to, if all pairs that were not drawn had one."""
    missed: Matrix
    """How many of these were to be expected in a sample as large as the one that was drawn."""

    def tails(self, epsilon: float) -> Matrix:
        """Return how likely estimates are that are at least as far above -epsilon, if the truth is there."""
        beyond = self.gaps + epsilon
        known = self.deviations == 0.0
        multiples = np.where(known, np.inf, beyond) / np.where(known, 1.0, self.deviations)
        return np.where(known, beyond < 0.0, stdtr(self.degrees, -multiples))

    def lower_bounds(self, epsilon: float, level: float, unseen_level: float) -> Matrix:
        """Return lower bounds of all differences, any of them wrong with probability `level` asymptotically.

        The level is shared so that all bounds are above -epsilon as soon as possible, see
        `topshap.statistics.error_allocation`.

        They also leave room for jumps that did not come up: a part of the pairs that were not drawn, expected e times
        in the sample, stays out of it with probability exp(-e), which is at most `unseen_level` for what they leave
        no room for. That is one event for all differences, and if it holds at a look it held at all before, so
        neither differences nor looks have to share this level.
        """
        levels = levels_by_tails(self.tails(epsilon), level)
        width = -stdtrit(self.degrees, levels) * self.deviations
        likely = math.log(1.0 / unseen_level)
        part = likely / np.maximum(self.missed, likely)
        return self.gaps - np.maximum(width, part * self.unseen)


def correct(surrogate: OddSurrogate, x: Matrix, g: Values, chance: Values) -> Corrected:
    """Return the corrected Shapley values, given all pairs drawn so far and the chance each of them had.

    The surrogate has learned from the first of the pairs, those beyond are predicted. The first pair is that of the
    grand coalition, with a chance of 1.
    """
    posterior, unit = surrogate.posterior, surrogate.unit
    m, n = x.shape
    learned = len(posterior.x)
    smooth = posterior.kernel.functional(posterior.x, residual=False).T @ posterior.weights
    prediction = posterior.predict(x)
    scaled = g / unit
    inverse = inverse_of(posterior.factor)
    residual = scaled - prediction
    residual[:learned] = posterior.weights / np.diag(inverse)
    odds = (1.0 - chance) / chance
    estimates = smooth + pair_functional(x).T @ (scaled - prediction + residual * odds)

    sizes = (x > 0).sum(axis=1)
    weight = separation(n)[sizes]
    mean_squares = residual_mean_squares(residual[1:], sizes[1:], n, unseen=float(np.max(estimates**2)) / 4.0)
    by_pair = (weight / chance) ** 2 * (1.0 - chance)
    own = _over_separated(x, by_pair * residual**2)
    pooled = _over_separated(x, by_pair * mean_squares[sizes])
    fourth = _over_separated(x, (by_pair * residual**2) ** 2)
    freedom = np.where(own > 0.0, own**2 / np.maximum(fourth, np.finfo(float).tiny), 0.0)
    variances = (freedom * own + POOLED_FREEDOM * pooled) / (freedom + POOLED_FREEDOM) * (1.0 + 2.0 * n / m)
    variances += np.maximum(_shared(posterior, inverse, (weight / chance * (1.0 - chance))[:learned]), 0.0)
    # All pairs that separate two players weigh 2 in all: if not all were drawn and none tells, nothing is known.
    variances[(pooled <= 0.0) & (_over_separated(x, weight) < 2.0 - 1e-9)] = np.inf
    np.fill_diagonal(variances, 0.0)
    return Corrected(
        estimates=unit * (estimates + (2.0 * scaled[0] - estimates.sum()) / n),
        variances=unit**2 * variances,
        degrees=freedom + POOLED_FREEDOM,
        mean_squares=unit**2 * mean_squares,
        jump=unit * largest_jump(residual[1:], estimates),
        unseen=np.maximum(2.0 - _over_separated(x, weight), 0.0),
        missed=_over_separated(x, -np.log1p(-np.minimum(chance, ALMOST_SURE)) * odds),
    )


def residual_mean_squares(residual: Values, sizes: NDArray[np.intp], n: int, unseen: float) -> Values:
    """Return the mean square of the residuals for sizes 0 .. n, s and n - s together, shrunk towards that of all.

    A perfect fit is not certainty: then one more residual, the root of `unseen`, is allowed for.
    """
    squares = residual**2
    overall = float(np.mean(squares)) if len(squares) else unseen
    if is_perfect(residual):
        overall = unseen / (len(squares) + 1.0)
    smaller = np.minimum(sizes, n - sizes)
    count = np.bincount(smaller, minlength=n + 1)
    total = np.bincount(smaller, weights=squares, minlength=n + 1)
    shrunk = (total + SIZE_FREEDOM * overall) / (count + SIZE_FREEDOM)
    s = np.arange(n + 1)
    return np.asarray(shrunk[np.minimum(s, n - s)])


def largest_jump(residual: Values, estimates: Values) -> float:
    """Return how large a residual may be that was not seen.

    As large as those that were, by the root of their fourth by their second moment, which is the size of the jumps
    if there are few among many zeros; or half as much again as a player usually contributes, or as much as two of them
    differ. A game may look additive for hundreds of coalitions before a rare one shows that it is not.

    Examples
    --------
    >>> largest_jump(np.array([0.0, 0.0, 0.0, -5.0]), np.zeros(3))
    5.0
    """
    squares = residual**2
    second = float(squares.mean()) if len(squares) else 0.0
    seen = float(np.mean(squares**2)) / second if second > 0.0 else 0.0
    n = len(estimates)
    contribution = float(np.abs(estimates).mean())
    difference = float(np.abs(estimates[:, None] - estimates).sum()) / max(n * (n - 1), 1)
    return max(math.sqrt(seen), ALLOWED_JUMP * contribution, difference)


def _over_separated(x: Matrix, values: Values) -> Matrix:
    """Return, for all i and j, the sum of the values of the pairs that separate them."""
    return np.maximum((values.sum() - (x * values[:, None]).T @ x) / 2.0, 0.0)


def _shared(posterior: OddPosterior, inverse: Matrix, weight: Values) -> Matrix:
    """Return the variance of phi_i - phi_j that comes from residuals that depend on each other.

    r_t depends on whether u was drawn, and r_u on whether t was: their covariance is estimated by the product of the
    residuals of t and u when both are left out, times (K^-1_tu)^2 / (K^-1_tt K^-1_uu).
    """
    diagonal, weights = np.diag(inverse), posterior.weights
    both = np.outer(diagonal, diagonal)
    square = inverse**2
    determinant = np.maximum(both - square, 1e-12 * both)
    left_out = (diagonal * weights[:, None] - inverse * weights) / determinant
    shared = square / both * left_out * left_out.T
    np.fill_diagonal(shared, 0.0)
    signed = posterior.x * weight[:, None] / 2.0
    product = signed.T @ shared @ signed
    own = np.diag(product)
    return np.asarray(own[:, None] + own - product - product.T)
