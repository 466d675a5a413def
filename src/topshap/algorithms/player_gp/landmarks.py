"""A low-rank basis of functions of the players' features: a Gaussian process with some players as landmarks.

The Nystroem approximation of a kernel k is k(x, L) k(L, L)^-1 k(L, x), with L the landmarks. Its memory is n times the
number of landmarks; there is no array of all players by all players.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values

SQUARED_LENGTHS = (0.2, 0.6)
"""The squared length scales of the kernel to choose from, as fractions of the median squared distance."""
RELATIVE_ZERO = 1e-6
"""Directions with less than this fraction of the largest variance are left out."""


class Basis(NamedTuple):
    """Orthonormal functions of the players, and their variances in a process of mean variance 1 per player."""

    directions: Matrix
    """Shape (n, m); orthogonal to the functions that were projected out."""
    variances: Values


def bases(features: Matrix, landmarks: Players, projected_out: Matrix) -> list[Basis]:
    """Return one basis per length scale.

    Parameters
    ----------
    features
        The features of the players, shape (n, d).
    landmarks
        The players that are landmarks.
    projected_out
        Orthonormal functions of the players that the basis is orthogonal to, shape (n, p).

    Examples
    --------
    >>> constant = np.full((50, 1), 50**-0.5)
    >>> basis, _ = bases(np.random.default_rng(0).random((50, 2)), np.arange(10), constant)
    >>> bool(np.abs(basis.directions.T @ constant).max() < 1e-12)
    True
    """
    distances = _squared_distances(features, features[landmarks])
    typical = float(np.median(distances)) or 1.0
    found = []
    for length in SQUARED_LENGTHS:
        scale = -1.0 / (length * typical)
        among = np.exp(scale * distances[landmarks])
        variances, vectors = np.linalg.eigh(among)
        kept = variances > RELATIVE_ZERO * variances[-1]
        whitening = vectors[:, kept] / np.sqrt(variances[kept])
        found.append(_orthonormal(np.exp(scale * distances) @ whitening, projected_out))
    return [basis for basis in found if len(basis.variances) > 0]


def _squared_distances(points: Matrix, others: Matrix) -> Matrix:
    squares = points @ others.T
    squares *= -2.0
    squares += np.sum(points**2, axis=1)[:, None]
    squares += np.sum(others**2, axis=1)
    return np.maximum(squares, 0.0, out=squares)


def _orthonormal(functions: Matrix, projected_out: Matrix) -> Basis:
    """Return the principal directions of functions, without their parts along some directions."""
    total = float(np.sum(functions**2))
    functions -= projected_out @ (projected_out.T @ functions)
    variances, vectors = np.linalg.eigh(functions.T @ functions)
    kept = variances > RELATIVE_ZERO * total / len(vectors)
    directions = functions @ (vectors[:, kept] / np.sqrt(variances[kept]))
    return Basis(directions, variances[kept] * (len(functions) / total))
