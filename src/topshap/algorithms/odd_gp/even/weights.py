"""The weight of an evaluated complement pair in the interaction of two players.

The Shapley interaction index of i and j is the mean second difference of the game,

    SII_ij = sum over S without i, j of p(|S|) (v(S + i + j) - v(S + i) - v(S + j) + v(S)),
    p(s) = 1 / ((n - 1) C(n - 2, s)),

a sum over all complement pairs x | -x of B_x,ij e(x), where e(x) = (v(x) + v(-x)) / 2 is the even part of the game.
With s members of x, B is 2 p(s-2) if both players are in x, 2 p(s) if both are out, and -2 p(s-1) if x separates them;
p is 0 outside 0 .. n-2. In signs this is a quadratic form, B = u0 + u1 (x_i + x_j) + u2 x_i x_j, so that sums over
complement pairs are matrix products.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from topshap.algorithms.odd_gp.integrals import log_choose

if TYPE_CHECKING:
    from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
    from topshap.core.typing import Matrix, Values


@lru_cache
def log_size_weights(n: int) -> Values:
    """Return log p(s) for s = -2 .. n, -inf outside 0 .. n - 2; p(s) is entry s + 2.

    Examples
    --------
    >>> np.exp(log_size_weights(4)).round(4)
    array([0.    , 0.    , 0.3333, 0.1667, 0.3333, 0.    , 0.    ])
    """
    s = np.arange(n - 1)
    inside = gammaln(s + 1) + gammaln(n - 1 - s) - gammaln(n - 1) - np.log(n - 1)
    logs = np.concatenate([[-np.inf] * 2, inside, [-np.inf] * 2])
    logs.flags.writeable = False
    return logs


def weights_by_sides(x: Matrix) -> tuple[Values, Values, Values]:
    """Return B of each complement pair for players that are both in x, both out, and separated by it."""
    p, s = np.exp(log_size_weights(x.shape[1])), (x > 0).sum(axis=1)
    return 2.0 * p[s], 2.0 * p[s + 2], -2.0 * p[s + 1]


def interaction_weights(x: Matrix, pairs: PlayerPairs) -> Matrix:
    """Return B: a row for each complement pair, a column for each pair of players.

    A game with e = 1 on x and -x, and 0 elsewhere, has the interactions in the row of x.
    """
    both_in, both_out, apart = (each[:, None] for each in weights_by_sides(x))
    inside = x > 0
    first, second = inside[:, pairs.i], inside[:, pairs.j]
    return np.where(first & second, both_in, np.where(first ^ second, apart, both_out))


def weighted_interactions(x: Matrix, values: Values) -> Matrix:
    """Return the sum over complement pairs of B times the values, as a matrix with one row per player."""
    return _sum_by_sides(x, *(values * weight for weight in weights_by_sides(x)))


def weighted_squares(x: Matrix, values: Values) -> Matrix:
    """Return the sum over complement pairs of B^2 times the values, as a matrix with one row per player."""
    return _sum_by_sides(x, *(values * weight**2 for weight in weights_by_sides(x)))


def _sum_by_sides(x: Matrix, both_in: Values, both_out: Values, apart: Values) -> Matrix:
    """Return the sum over rows x of numbers that depend on which of two players are inside, for each two players."""
    constant = (both_in + both_out + 2.0 * apart).sum() / 4.0
    linear = x.T @ (both_in - both_out) / 4.0
    quadratic = (x * (both_in + both_out - 2.0 * apart)[:, None]).T @ x / 4.0
    return np.asarray(quadratic + linear[:, None] + linear + constant)


def residual_prior(variances: Values, pairs: PlayerPairs) -> Matrix:
    """Return the covariance of the interactions if complement pairs are independent, with a variance by size.

    `variances` holds the variance of e in a complement pair with a coalition of size s, for s = 0 .. n.
    """
    return np.asarray(residual_prior_by_overlap(variances)[pairs.overlaps])


def residual_prior_by_overlap(variances: Values) -> Values:
    """Return the entries of `residual_prior` for pairs that share no player, one player and both players."""
    return np.asarray(_products_of_weights(len(variances) - 1) @ variances)


@lru_cache
def _products_of_weights(n: int) -> Matrix:
    """Return sums of B B' over the complement pairs of each size, for two pairs of players that share 0, 1, 2 players.

    Coalitions of one size are grouped by which of the players involved are inside. Every complement pair is counted
    twice, once for each of its coalitions.
    """
    s = np.arange(n + 1)
    sums = np.zeros((3, n + 1))
    for row, (left, right) in enumerate((((0, 1), (2, 3)), ((0, 1), (1, 2)), ((0, 1), (0, 1)))):
        players = len({*left, *right})
        if players > n:
            continue
        for inside in product((0, 1), repeat=players):
            one, other = sum(inside[d] for d in left), sum(inside[d] for d in right)
            # Logarithms, since the numbers of coalitions overflow.
            logs = log_choose(n - players, s - sum(inside))
            logs = logs + log_size_weights(n)[s - one + 2] + log_size_weights(n)[s - other + 2]
            sums[row] += (-1.0) ** (one + other) * 4.0 * np.exp(logs)
    sums /= 2.0
    sums.flags.writeable = False
    return sums
