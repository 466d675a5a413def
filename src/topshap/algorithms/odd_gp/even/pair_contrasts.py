"""Weights of complement pairs in contrasts of two pairs of players.

The weight B of a complement pair in the interaction of i and j depends on its size and on how many of i and j are
inside, see `weights`. So a contrast depends on the sides of three players, if its two pairs share one, or of four.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import comb

from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
from topshap.algorithms.odd_gp.even.weights import log_size_weights
from topshap.algorithms.odd_gp.integrals import log_choose

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.contrasts import Contrasts


@lru_cache
def weights_by_count(n: int) -> Matrix:
    """Return B for sizes 0 .. n (rows) and 0, 1 or 2 players of the pair inside (columns).

    Examples
    --------
    >>> weights_by_count(3).round(3)
    array([[ 1., -0.,  0.],
           [ 1., -1.,  0.],
           [ 0., -1.,  1.],
           [ 0., -0.,  1.]])
    """
    s, p = np.arange(n + 1), np.exp(log_size_weights(n))
    return np.stack([2.0 * (-1.0) ** count * p[s - count + 2] for count in range(3)], axis=1)


def overall_weights_of_pairs(n: int, *, centred: bool) -> Values:
    """Return the weight of a complement pair in the interactions of all pairs of players, for sizes 0 .. n.

    This is the norm of B, or of B minus its mean over the pairs of players.

    Parameters
    ----------
    n
        The number of players.
    centred
        Whether only differences of interactions matter, and not their signs.

    Examples
    --------
    >>> overall_weights_of_pairs(3, centred=False).round(3)
    array([1.732, 1.732, 1.732, 1.732])
    """
    s = np.arange(n + 1)
    counts = np.stack([comb(n - s, 2), s * (n - s), comb(s, 2)], axis=1)
    weights, pairs = weights_by_count(n), n * (n - 1) / 2.0
    squares = (counts * weights**2).sum(axis=1)
    if centred:
        squares = squares - (counts * weights).sum(axis=1) ** 2 / pairs
    return np.sqrt(np.maximum(squares, 0.0))


def totals_of_pairs(contrasts: Contrasts, n: int) -> Values:
    """Return the total absolute weight of all complement pairs in contrasts of pairs of players."""
    absolute, _ = _sums(n)
    return np.asarray(absolute.sum(axis=1)[_classes(contrasts, n)])


def mean_squares_by_size(contrasts: Contrasts, n: int) -> Matrix:
    """Return the mean squared weight of the complement pairs of each size 0 .. n (columns) in contrasts (rows)."""
    _, squares = _sums(n)
    return np.asarray(squares[_classes(contrasts, n)])


def _classes(contrasts: Contrasts, n: int) -> Players:
    """Return the class of each contrast: by its sign, and by whether its pairs of players share one."""
    pairs = PlayerPairs.of(n)
    one, other = pairs.chosen(contrasts.ahead), pairs.chosen(contrasts.behind)
    shared = (one.i == other.i) | (one.i == other.j) | (one.j == other.i) | (one.j == other.j)
    return 2 * shared + (contrasts.sign_ahead * contrasts.sign_behind > 0.0)


@lru_cache
def _sums(n: int) -> tuple[Matrix, Matrix]:
    """Return sums of |a| over the complement pairs of each size, and means of a^2, for a = B_p -+ B_q by class.

    Coalitions of one size are grouped by which of the players involved are inside.
    """
    s, weights = np.arange(n + 1), weights_by_count(n)
    absolute, squares = np.zeros((4, n + 1)), np.zeros((4, n + 1))
    for row, (shared, sign) in enumerate(product((False, True), (-1.0, 1.0))):
        players, other_pair = (3, (1, 2)) if shared else (4, (2, 3))
        for inside in product((0, 1), repeat=players) if players <= n else ():
            one, other = (weights[:, sum(inside[d] for d in pair)] for pair in ((0, 1), other_pair))
            logs, weight = log_choose(n - players, s - sum(inside)), one + sign * other
            absolute[row] += np.exp(logs) * np.abs(weight) / 2.0  # every complement pair is counted twice
            squares[row] += np.exp(logs - log_choose(n, s)) * weight**2
    return absolute, squares
