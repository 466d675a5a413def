"""Rare jumps: a few pairs with residuals far larger than those of all others.

The Gaussian process treats the residuals of different pairs as independent, so that those of the many unobserved pairs
almost cancel in a Shapley value. This is wrong for a player that contributes only together with one pattern of others:
then all pairs with the pattern have a jump of the same sign. So the uncertainty due to outliers is estimated as if the
pairs were a random sample of those of their size, without a model of the game.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import comb

from topshap.algorithms.odd_gp.integrals import pair_functional

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values

OUTLIER = 3.0 / 0.6745
"""A residual is an outlier above this multiple of the median: above three standard deviations of a normal sample."""
HEAVY_TAILS = 0.3
"""Residuals have heavy tails if their median is below this multiple of their root mean square; normal ones have 0.67.

It is as large as smooth games allow: the residuals of products of the players' factors have 0.3 to 0.5.
"""
MATTERS = 0.005
"""Jumps matter if they add this fraction of the range of the Shapley values to a standard error."""
ALMOST_EXACT = 1e-6
"""A fit is almost exact below this root mean square of the residuals, on the scale on which g has 1."""
EXACT_FOR_MOST, OF_DEVIATION = 2e-5, 0.05
"""A fit is exact for most pairs if the median residual is below this, and below this multiple of the root mean square:
then the others are jumps."""
VERY_SMOOTH = 0.02
"""A game is very smooth below this root mean square of the residuals: a single jump would exceed all of them.

The real games of the benchmark have 0.03 and more after 100 evaluations.
"""
STACKED_SMOOTH = 0.005
"""The same for the residuals after stacking.

The real games of the benchmark have 0.015 and more; the need for this limit was found on its games ``rare-smooth``.
"""
FEW_IF_SMOOTH, FEW_IF_HEAVY, FEW_IF_EXACT = 75, 150, 200
"""Fewer pairs may miss jumps whatever the other residuals are, if these are very small, have heavy tails, or are almost
zero.

With probability 95%, 75 pairs contain a jump that occurs in one pair of 25, 150 pairs one of one pair in 50, and 200
pairs one of one pair in 67.
"""


def jump_covariance(x: Matrix, rows: Players, residuals: Values) -> Matrix:
    """Return the covariance of the Shapley values due to jumps in unobserved pairs, estimated from the outliers.

    It is that of a Horvitz-Thompson estimate of the outliers' total contribution, with the same probability for all
    pairs of a size. The sum of the Shapley values is known, so the part that is equal for all players is removed.

    Parameters
    ----------
    x
        The observed pairs as signs.
    rows, residuals
        Some of the pairs, and their leave-one-out residuals.
    """
    n = x.shape[1]
    magnitudes = np.abs(residuals)
    outliers = magnitudes > OUTLIER * float(np.median(magnitudes)) if len(rows) else np.zeros(0, dtype=np.bool_)
    if not outliers.any():
        return np.zeros((n, n))
    probabilities = shares_of_sizes(x)[rows[outliers]]
    # Both are tiny in large games, their quotient is not.
    estimates = pair_functional(x[rows[outliers]]) / probabilities[:, None]
    estimates -= estimates.mean(axis=1, keepdims=True)
    squares = residuals[outliers] ** 2 * (1.0 - probabilities) * (len(x) / len(rows))
    return np.asarray((estimates * squares[:, None]).T @ estimates)


def has_heavy_tails(residuals: Values) -> bool:
    """Return whether a few residuals are far larger than most.

    Examples
    --------
    >>> has_heavy_tails(np.array([0.1, -0.2, 0.1, 5.0])), has_heavy_tails(np.array([1.0, -2.0, 1.5, 0.5]))
    (True, False)
    """
    return float(np.median(np.abs(residuals))) < HEAVY_TAILS * math.sqrt(np.mean(residuals**2))


def may_be_missed(residuals: Values, jumps: Matrix, shapley_values: Values) -> bool:
    """Return whether jumps that matter may have been missed, so that intervals may be too narrow.

    If the fit is almost exact, for all or for most pairs, few pairs say nothing about other jumps; fewer still if the
    game is very smooth. If the residuals have heavy tails, either the pairs are few, or the standard errors due to
    jumps matter next to the differences between the Shapley values.
    """
    m = len(residuals)
    deviation = math.sqrt(np.mean(residuals**2)) if m else 0.0
    if deviation < ALMOST_EXACT:
        return m < FEW_IF_EXACT
    exact_for_most = float(np.median(np.abs(residuals))) < min(EXACT_FOR_MOST, OF_DEVIATION * deviation)
    if (exact_for_most and m < FEW_IF_EXACT) or (deviation < VERY_SMOOTH and m < FEW_IF_SMOOTH):
        return True
    matter = math.sqrt(np.max(np.diag(jumps))) > MATTERS * float(np.ptp(shapley_values))
    return has_heavy_tails(residuals) and (m < FEW_IF_HEAVY or matter)


def hide_jumps(stacked: Values) -> bool:
    """Return whether stacked residuals are so small, of so few pairs, that they say nothing about jumps.

    Examples
    --------
    >>> hide_jumps(np.full(50, 1e-3)), hide_jumps(np.full(100, 1e-3)), hide_jumps(np.full(50, 0.1))
    (True, False, False)
    """
    deviation = math.sqrt(np.mean(stacked**2))
    few = FEW_IF_EXACT if deviation < ALMOST_EXACT else FEW_IF_SMOOTH
    return len(stacked) < few and deviation < STACKED_SMOOTH


def shares_of_sizes(x: Matrix) -> Values:
    """Return, for each pair, the share of all pairs of its size that are observed.

    Examples
    --------
    >>> shares_of_sizes(np.array([[1.0, -1.0, -1.0, -1.0], [1.0, 1.0, -1.0, -1.0]])).round(3)
    array([0.25 , 0.333])
    """
    n = x.shape[1]
    sizes = np.minimum((x > 0).sum(axis=1), (x < 0).sum(axis=1))
    existing = np.where(2 * sizes == n, 0.5, 1.0) * comb(n, sizes)
    return np.minimum(np.bincount(sizes, minlength=n + 1)[sizes] / existing, 1.0)
