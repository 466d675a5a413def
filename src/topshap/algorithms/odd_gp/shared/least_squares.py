"""Additive games fitted to complement pairs of many outputs by least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix


def additive_fit(x: Matrix, odd: Matrix) -> tuple[Matrix, Matrix]:
    """Fit an additive game whose values add up to zero to the odd part of every output.

    The kernel weight of a size is divided among the pairs of that size, as in KernelSHAP. Where the pairs do not
    determine the fit, it is the shortest one, which favours no player.

    Parameters
    ----------
    x
        The pairs as signs, without that of the grand coalition.
    odd
        Their odd parts, of shape (m, R).

    Returns
    -------
    tuple
        The values of the players, of shape (R, n), and their covariance if the residuals are independent with a
        variance of 1, of shape (n, n).

    Examples
    --------
    >>> x = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    >>> additive_fit(x, x @ np.array([[1.0], [0.0], [-1.0]]))[0].round(6) + 0.0
    array([[ 2.,  0., -2.]])
    """
    m, n = x.shape
    sizes = np.minimum((x > 0).sum(axis=1), (x < 0).sum(axis=1))
    weights = np.sqrt(np.where(2 * sizes == n, 0.5, 1.0) / (sizes * (n - sizes) * np.bincount(sizes)[sizes]))
    centred = (x - x.mean(axis=1, keepdims=True)) / 2.0
    solve = np.linalg.pinv(centred * weights[:, None], rcond=1e-9) * weights
    return (solve @ odd).T, solve @ solve.T * (m / max(m - n, 1))
