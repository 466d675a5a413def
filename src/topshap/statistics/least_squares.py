"""Weighted least squares on coalitions under the efficiency constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.statistics.variance_floor import RELATIVE_ZERO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Values

_BLOCK = 2048
"""The number of rows converted to floats at a time, to bound the memory."""


def efficient_least_squares(
    coalitions: Coalitions, worths: Values, weights: Values, gain: float, draws: NDArray[np.intp]
) -> tuple[Values, Matrix]:
    """Fit v(S) - v(empty) by a sum of coefficients of the members of S; return the coefficients and their covariance.

    The coefficients add up to `gain`. They are gain / n plus a vector u in the subspace of vectors that add up to zero;
    where the coalitions do not determine u, it is the shortest solution, which favours no player.

    Parameters
    ----------
    coalitions, worths, weights
        The coalitions S, their v(S) - v(empty), and their weights in the regression.
    gain
        v(N) - v(empty).
    draws
        The random draw that each row belongs to, -1 for rows that were not drawn at random. Draws are assumed to be
        independent. Their influence on the coefficients gives the covariance, which is nan if there are too few.
    """
    n = coalitions.shape[1]
    normal, moment = np.zeros((n, n)), np.zeros(n)
    for rows, worth, weight in _blocks(coalitions, worths, weights):
        moment += rows.T @ (weight * (worth - rows.sum(axis=1) * (gain / n)))
        normal += rows.T @ (weight[:, None] * rows)
    inverse = _inverse_on_zero_sums(normal)
    coefficients = gain / n + inverse @ moment
    if len(coalitions) == 2**n - 2:  # all coalitions
        return coefficients, np.zeros((n, n))
    groups, members = np.unique(draws[draws >= 0], return_inverse=True)
    fixed_pairs = (len(draws) - len(members)) // 2  # a coalition and its complement determine the same part of u
    freedom = len(groups) + fixed_pairs - (n - 1)
    if len(groups) == 0 or freedom <= 0:
        return coefficients, np.full((n, n), np.nan)
    residuals = _residuals(coalitions, worths, weights, coefficients)
    largest = float(np.max(coefficients**2)) or gain**2
    if np.max(np.abs(residuals)) ** 2 <= RELATIVE_ZERO * largest:
        # A perfect fit is not certainty: assume that one more draw would have the largest coefficient as its error.
        residuals = np.sqrt((largest or np.nan) / (len(groups) + 1)) * _alternating(draws)
    random = np.flatnonzero(draws >= 0)[np.argsort(members, kind="stable")]
    first = np.concatenate([[0], np.cumsum(np.bincount(members))])  # the index of the first row of each draw
    squares = np.zeros((n, n))
    for start in range(0, len(groups), _BLOCK // 2):
        begin = first[start : start + _BLOCK // 2 + 1]
        block = random[begin[0] : begin[-1]]
        rows = (weights * residuals)[block, None] * coalitions[block]
        influences = np.add.reduceat(rows, begin[:-1] - begin[0], axis=0)
        squares += influences.T @ influences
    spread = inverse @ squares @ inverse
    return coefficients, (spread + spread.T) * ((len(groups) + fixed_pairs) / freedom / 2.0)


def _residuals(coalitions: Coalitions, worths: Values, weights: Values, coefficients: Values) -> Values:
    blocks = _blocks(coalitions, worths, weights)
    return np.concatenate([worth - rows @ coefficients for rows, worth, _ in blocks])


def _alternating(draws: NDArray[np.intp]) -> Values:
    """Return 1 for the first and -1 for the second row of each draw."""
    second = np.concatenate([[False], draws[1:] == draws[:-1]])
    return np.where(second, -1.0, 1.0)


def _blocks(coalitions: Coalitions, worths: Values, weights: Values) -> Iterator[tuple[Matrix, Values, Values]]:
    """Yield the rows as floats, a bounded number at a time."""
    for start in range(0, len(coalitions), _BLOCK):
        block = slice(start, start + _BLOCK)
        yield coalitions[block].astype(np.float64), worths[block], weights[block]


def _inverse_on_zero_sums(normal: Matrix) -> Matrix:
    """Return the pseudo-inverse of the normal matrix restricted to vectors that add up to zero."""
    n = len(normal)
    centred = normal - normal.mean(axis=0)
    centred = centred - centred.mean(axis=1)[:, None]
    scale = np.trace(centred) / n
    if scale <= 0.0:
        return np.zeros((n, n))
    try:
        # Adding the direction of equal coefficients makes the matrix definite; its inverse is subtracted again.
        factor = linalg.cho_factor(centred + scale / n, lower=True)
        smallest, largest = np.min(np.diag(factor[0])), np.max(np.diag(factor[0]))
        if smallest > 1e-6 * largest:
            return np.asarray(linalg.cho_solve(factor, np.eye(n))) - 1.0 / (n * scale)
    except linalg.LinAlgError:
        pass  # not definite: the shortest solution below
    return np.asarray(linalg.pinvh(centred, rtol=1e-9))


def share_of(first: Values, second: Values) -> float:
    """Return the share of the second residuals in the convex combination with the smallest sum of squares.

    Examples
    --------
    >>> share_of(np.array([1.0, -1.0]), np.array([1.0, 1.0]))
    0.5
    """
    change = first - second
    across = float(change @ change)
    return float(np.clip(first @ change / across, 0.0, 1.0)) if across > 0.0 else 0.0
