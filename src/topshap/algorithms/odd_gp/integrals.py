"""Shapley values of product functions on {-1, +1}^n in closed form.

The Walsh function of a set T is the product of the signs of its players. It is symmetric in these players, and if their
number is odd it is -1 on the empty and +1 on the grand coalition: each of them has the Shapley value 2 / |T|, every
other player 0. A function with a product structure is a sum of Walsh functions, with coefficients that are
products over the players, and 1 / |T| is the integral of t^(|T| - 1) over [0, 1]. So the sum over all sets T becomes a
one-dimensional integral of a product, a polynomial of degree below n that Gauss-Legendre quadrature integrates exactly.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Values

MAX_NODES = 24
"""Quadrature with this many nodes is exact for up to twice as many players."""

_BLOCK_ENTRIES = 2**20
"""The largest number of entries computed together, which bounds memory."""


@lru_cache
def unit_nodes(count: int) -> tuple[Values, Values]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [0, 1].

    Examples
    --------
    >>> nodes, weights = unit_nodes(3)
    >>> round(float(weights @ nodes**5), 12)
    0.166666666667
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1.0) / 2.0, weights / 2.0


def nodes_needed(rho: Values, tolerance: float = 1e-13) -> int:
    """Return the number of nodes that integrate prod_d(1 + t rho_d x_d) over [0, 1] to a relative error of `tolerance`.

    n / 2 nodes are exact. With q nodes the error is at most C_q times the largest 2q-th derivative, where
    C_q = (q!)^4 / ((2q + 1) ((2q)!)^3); and since the coefficient of t^l is at most R^l / l! with R the sum of all
    rho_d, that derivative is at most R^2q e^R.

    Examples
    --------
    >>> nodes_needed(np.full(1000, 0.0003)), nodes_needed(np.full(14, 0.5))
    (4, 7)
    """
    most = min(MAX_NODES, max(2, (len(rho) + 1) // 2))
    total = max(float(np.abs(rho).sum()), 1e-300)
    limit, per_node = math.log(tolerance) - total, 2.0 * math.log(total)
    enough = (q for q in range(2, most) if _log_error_factor(q) + q * per_node <= limit)
    return next(enough, most)


@lru_cache
def _log_error_factor(q: int) -> float:
    """Return log C_q of `nodes_needed`."""
    return 4.0 * math.lgamma(q + 1) - math.log(2 * q + 1) - 3.0 * math.lgamma(2 * q + 1)


def odd_product_functional(signs: Matrix, rho: Values) -> Matrix:
    """Return the Shapley values of z -> sum over odd sets T of rho_T x_T z_T, one row for each row x of `signs`.

    rho_T and x_T are products over the players of T, and every rho_i is below 1. Player i's value is
    rho_i x_i * integral over t in [0, 1] of prod_{d != i}(1 + t rho_d x_d) + prod_{d != i}(1 - t rho_d x_d).

    Both products over all players come from one matrix product, since x_d is a sign:
    log(1 + t rho_d x_d) = log(1 - t^2 rho_d^2) / 2 + x_d atanh(t rho_d). The factor of player i is then removed with
    1 / (1 + y) = (1 - y) / (1 - y^2), whose denominator does not depend on x.
    """
    nodes, weights = unit_nodes(nodes_needed(rho))
    scaled = nodes[:, None] * rho
    slopes, squares = np.arctanh(scaled).T, 1.0 - scaled**2
    level, removed = np.log(squares).sum(axis=1) / 2.0, weights[:, None] / squares
    result = np.empty(signs.shape)
    step = max(1, _BLOCK_ENTRIES // len(rho))
    for start in range(0, len(signs), step):
        x = signs[start : start + step]
        exponent = x @ slopes
        plus, minus = np.exp(level + exponent), np.exp(level - exponent)
        even, odd = (plus + minus) @ removed, (plus - minus) @ (nodes[:, None] * removed)
        weighted = x * rho
        result[start : start + step] = weighted * (even - weighted * odd)
    return result


def odd_product_prior(rho: Values) -> Matrix:
    """Return sum over odd sets T that contain i and j of 4 rho_T / |T|^2, the prior covariance of the Shapley values.

    1 / l^2 is the integral of -log(t) t^(l-1); nodes concentrated towards 0 resolve the logarithm.
    """
    t, log_weights = _nodes_of_logarithm()
    plus, minus = 1.0 + t * rho, 1.0 - t * rho
    all_plus, all_minus = log_weights * plus.prod(axis=1), log_weights * minus.prod(axis=1)
    # With i and j in T, the other members of T are odd in number; on the diagonal, with i alone, even.
    others = (t * all_plus[:, None] / plus).T @ (1.0 / plus) - (t * all_minus[:, None] / minus).T @ (1.0 / minus)
    total = np.outer(rho, rho) * others
    np.fill_diagonal(total, rho * (all_plus @ (1.0 / plus) + all_minus @ (1.0 / minus)))
    return 2.0 * total


@lru_cache
def _nodes_of_logarithm() -> tuple[Matrix, Values]:
    """Return nodes as a column, and weights that contain -log(t), for integrals over [0, 1]."""
    nodes, weights = unit_nodes(32)
    return nodes[:, None] ** 5, -np.log(nodes**5) * weights * 5.0 * nodes**4


def pair_functional(signs: Matrix) -> Matrix:
    """Return the weight of each complement pair (rows) in the Shapley value of every player (columns).

    A game that is g on x, -g on -x and 0 elsewhere has the Shapley values g times this row: 2 w(s) for the s members
    of x and -2 w(n - s) for the others, with w(s) = 1 / (n C(n-1, s-1)).
    """
    n = signs.shape[1]
    weight = shapley_weights(n)
    sizes = (signs > 0).sum(axis=1)
    return np.where(signs > 0, 2.0 * weight[sizes][:, None], -2.0 * weight[n - sizes][:, None])


def pair_prior(variances: Values) -> Matrix:
    """Return the covariance of the Shapley values if pairs are independent, with a variance that depends on size.

    `variances` holds the variance of a pair with a coalition of size s, for s = 0 .. n. The sum over all pairs of
    variance times the outer product of `pair_functional` needs only the number of pairs with one or two given players.
    """
    n = len(variances) - 1
    one, two = _pair_weights(n)
    # Every pair was counted twice, once for each of its coalitions.
    covariance = np.full((n, n), (variances * two).sum() / 2.0)
    np.fill_diagonal(covariance, (variances * one).sum() / 2.0)
    return covariance


@lru_cache
def _pair_weights(n: int) -> tuple[Values, Values]:
    """Return the sums of squared weights for one player, and of products of the weights of two, by size 0 .. n."""
    s = np.arange(n + 1)
    inside = np.log(2.0) + _log_shapley_weights(n)  # logarithms, since the numbers of pairs overflow
    outside = inside[::-1]
    one = np.exp(log_choose(n - 1, s - 1) + 2.0 * inside) + np.exp(log_choose(n - 1, s) + 2.0 * outside)
    two = (
        np.exp(log_choose(n - 2, s - 2) + 2.0 * inside)
        - 2.0 * np.exp(log_choose(n - 2, s - 1) + inside + outside)
        + np.exp(log_choose(n - 2, s) + 2.0 * outside)
    )
    return one, two


@lru_cache
def shapley_weights(n: int) -> Values:
    """Return w(s) = 1 / (n C(n-1, s-1)) for s = 0 .. n, with w(0) = 0: the weight of a coalition of size s.

    Examples
    --------
    >>> shapley_weights(3).round(4)
    array([0.    , 0.3333, 0.1667, 0.3333])
    """
    weights = np.exp(_log_shapley_weights(n))
    weights.flags.writeable = False
    return weights


def _log_shapley_weights(n: int) -> Values:
    s = np.arange(1, n + 1)
    return np.concatenate([[-np.inf], gammaln(s) + gammaln(n - s + 1) - gammaln(n) - np.log(n)])


def log_choose(n: int, k: NDArray[np.integer]) -> Values:
    """Return the logarithm of the binomial coefficient, -inf for k outside 0 .. n."""
    valid = (k >= 0) & (k <= n)
    inside = np.where(valid, k, 0)
    log_count = gammaln(n + 1) - gammaln(inside + 1) - gammaln(max(n, 0) - inside + 1)
    return np.asarray(np.where(valid, log_count, -np.inf))
