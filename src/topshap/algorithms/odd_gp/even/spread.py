"""Interactions as totals over sampled complement pairs, and their uncertainty, without a model of the game.

Complement pairs count as a random sample of those of their size. A total over all of them, sum_x B_x r_x, is estimated
by that over the sample, each divided by the sampled share of its size (Horvitz and Thompson).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import comb

from topshap.algorithms.odd_gp.even.weights import interaction_weights, weighted_interactions, weighted_squares
from topshap.algorithms.odd_gp.gp import BLOCK
from topshap.algorithms.odd_gp.rare_jumps import OUTLIER, shares_of_sizes

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
    from topshap.algorithms.odd_gp.posterior import LeaveOneOut
    from topshap.core.typing import Matrix, Players, Values


class Spread(NamedTuple):
    """The uncertainty of interactions."""

    variances: Values
    """The variances of the interactions of all pairs of players."""
    covariance: Matrix
    """The covariance of those of the watched pairs."""

    def times(self, factor: float) -> Spread:
        """Return the spread of interactions multiplied by the root of a factor."""
        return Spread(factor * self.variances, factor * self.covariance)

    def plus(self, other: Spread) -> Spread:
        """Return the spread of the sum with independent numbers."""
        return Spread(self.variances + other.variances, self.covariance + other.covariance)


def sum_of_squares(x: Matrix, squares: Values, pairs: PlayerPairs, watched: Players) -> Spread:
    """Return the spread of sum_x B_x r_x for independent r with these variances."""
    covariance = np.zeros((len(watched), len(watched)))
    for start in range(0, len(x), BLOCK):
        block = slice(start, start + BLOCK)
        weights = interaction_weights(x[block], pairs.chosen(watched))
        covariance += (weights * squares[block, None]).T @ weights
    return Spread(pairs.of_matrix(weighted_squares(x, squares)), covariance)


def total_interactions(
    x: Matrix, residuals: Values, shares: Values, pairs: PlayerPairs, watched: Players
) -> tuple[Values, Spread]:
    """Return the estimated interactions of a game that has these values on sampled pairs, and their spread.

    `shares` are the sampled shares of all complement pairs of each one's size.
    """
    estimates = pairs.of_matrix(weighted_interactions(x, residuals / shares))
    return estimates, sum_of_squares(x, (residuals / shares) ** 2 * (1.0 - shares), pairs, watched)


def shares_of_others(x: Matrix, known: Matrix) -> Values:
    """Return, for each of some complement pairs, the share of its size that they are, apart from the `known` ones.

    Examples
    --------
    >>> x = np.array([[1.0, -1.0, -1.0, -1.0], [-1.0, 1.0, -1.0, -1.0]])
    >>> shares_of_others(x, np.array([[-1.0, -1.0, 1.0, -1.0]])).round(3)
    array([0.667, 0.667])
    """
    n = x.shape[1]
    sizes, of_known = (np.minimum((each > 0).sum(axis=1), (each < 0).sum(axis=1)) for each in (x, known))
    existing = np.where(2 * np.arange(n + 1) == n, 0.5, 1.0) * comb(n, np.arange(n + 1))
    left = np.maximum(existing - np.bincount(of_known, minlength=n + 1), 1.0)
    return np.minimum(np.bincount(sizes, minlength=n + 1)[sizes] / left[sizes], 1.0)


def spread_of_jumps(x: Matrix, left_out: LeaveOneOut, pairs: PlayerPairs, watched: Players) -> Spread | None:
    """Return the spread due to jumps in unobserved pairs, estimated from outliers; None if there are none.

    See `topshap.algorithms.odd_gp.rare_jumps`: the process treats the residuals of different complement pairs as
    independent, and rare jumps are not.
    """
    rows, residuals, _ = left_out
    magnitudes = np.abs(residuals)
    outliers = magnitudes > OUTLIER * float(np.median(magnitudes)) if len(rows) else np.zeros(0, dtype=np.bool_)
    if not outliers.any():
        return None
    shares = shares_of_sizes(x)[rows[outliers]]
    squares = (residuals[outliers] / shares) ** 2 * (1.0 - shares) * (len(x) / len(rows))
    return sum_of_squares(x[rows[outliers]], squares, pairs, watched)
