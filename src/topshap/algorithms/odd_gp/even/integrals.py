"""Interactions of product functions on {-1, +1}^n in closed form.

The second difference of the Walsh function of a set U in the directions i and j is 4 times that of U - {i, j} if U
contains both, and 0 otherwise. Its mean over random coalitions is 1 / (|U| - 1) for even |U|, and 0 for odd, so

    SII_ij = 4 sum over even sets U with i and j of f_U / (|U| - 1)

for a game with the Walsh coefficients f_U. For products over players, the sum over all sets U becomes a one-dimensional
integral, as for Shapley values (`topshap.algorithms.odd_gp.integrals`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.integrals import nodes_needed, unit_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.algorithms.odd_gp.even.player_pairs import PlayerPairs
    from topshap.core.typing import Matrix, Values

_BLOCK_ENTRIES = 2**17
"""The largest number of entries computed together, so that they stay in the cache."""


def even_product_functional(signs: Matrix, rho: Values, pairs: PlayerPairs) -> Matrix:
    """Return sum over even U with i, j of rho_U x_U / (|U| - 1), for every row x of `signs` and pair of players.

    rho_U and x_U are products over the players of U. With z = rho x this is
    z_i z_j * integral over t in [0, 1] of (prod_{d != i, j}(1 + t z_d) + prod_{d != i, j}(1 - t z_d)) / 2.
    """
    result = np.empty((len(signs), len(pairs.i)))
    for rows, ratios, weights in _blocks(signs, rho):
        roots = ratios * np.sqrt(weights)[:, :, None]
        result[rows] = (roots.transpose(0, 2, 1) @ roots)[:, pairs.i, pairs.j]
    return result


def even_product_mean(signs: Matrix, rho: Values, weights: Values) -> Matrix:
    """Return the weighted sum over rows of `even_product_functional` for all pairs, as a matrix of the players."""
    n = signs.shape[1]
    total = np.zeros((n, n))
    for rows, ratios, by_node in _blocks(signs, rho):
        weighted = ratios * (by_node * weights[rows, None])[:, :, None]
        total += weighted.reshape(-1, n).T @ ratios.reshape(-1, n)
    return total


def _blocks(signs: Matrix, rho: Values) -> Iterator[tuple[slice, Matrix, Matrix]]:
    """Yield blocks of rows with z / (1 + t z) at all nodes t and -t, (rows, nodes, n), and the weights of the nodes.

    The weights, (rows, nodes), contain the product over all players of 1 + t z.
    """
    m, n = signs.shape
    t, weights = unit_nodes(nodes_needed(rho))
    t, weights = np.concatenate([t, -t]), np.concatenate([weights, weights]) / 2.0
    step = max(1, _BLOCK_ENTRIES // (max(n, len(t)) * n))
    for start in range(0, m, step):
        rows = slice(start, start + step)
        z = (signs[rows] * rho)[:, None, :]
        factors = 1.0 + t[:, None] * z
        yield rows, z / factors, weights * factors.prod(axis=2)


def even_product_prior(rho: Values, pairs: PlayerPairs) -> Matrix:
    """Return sum over even U with i, j, k, l of rho_U / (|U| - 1)^2 for each two pairs (i, j) and (k, l).

    With the players of both pairs in U, the others are even in number if these are four or two, and odd if three.
    """
    t, all_weights, ratios = _logarithmic_nodes(rho)
    both = ratios[:, pairs.i] * ratios[:, pairs.j]
    result = (both * t**2 * all_weights).T @ both
    overlaps = pairs.overlaps
    one, other = np.nonzero(overlaps == 1)
    shared = np.where((pairs.i[one] == pairs.i[other]) | (pairs.i[one] == pairs.j[other]), pairs.i[one], pairs.j[one])
    step = max(1, 8 * _BLOCK_ENTRIES // len(t))
    for start in range(0, len(one), step):
        p, q, common = (each[start : start + step] for each in (one, other, shared))
        result[p, q] = (t * all_weights * both[:, p] * both[:, q] / ratios[:, common]).sum(axis=0)
    same = np.nonzero(overlaps == 2)
    result[same] = (all_weights * both).sum(axis=0)[same[0]]
    return np.asarray(result)


def even_product_variances(rho: Values, pairs: PlayerPairs) -> Values:
    """Return the diagonal of `even_product_prior`."""
    _, all_weights, ratios = _logarithmic_nodes(rho)
    return np.asarray(pairs.of_matrix((all_weights * ratios).T @ ratios))


def _logarithmic_nodes(rho: Values) -> tuple[Matrix, Matrix, Matrix]:
    """Return nodes t and -t as a column, their weights for integrals over 1 / l^2, and rho / (1 + t rho).

    1 / l^2 is the integral of -log(t) t^(l-1); nodes concentrated towards 0 resolve the logarithm. The weights contain
    the product over all players of 1 + t rho.
    """
    nodes, weights = unit_nodes(32)
    t = np.concatenate([nodes**5, -(nodes**5)])[:, None]
    log_weights = np.tile(-np.log(nodes**5) * weights * 5.0 * nodes**4, 2) / 2.0
    factors = 1.0 + t * rho
    return t, (log_weights * factors.prod(axis=1))[:, None], rho / factors
