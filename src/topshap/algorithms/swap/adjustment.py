"""Regression adjustment: comparisons corrected for the players that their background sets happen to contain.

How far i is ahead of j depends on the other players in S. Each of them is in a known fraction of all sets of a size, so
a sample that contains some of them too often can be corrected by their estimated effects.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Values

MIN_FREEDOM = 12
"""With fewer degrees of freedom there is no regression."""
MAX_PARAMETERS = 1.0 / 3.0
"""The largest fraction of the degrees of freedom that a regression may use."""
PENALTIES = 10.0 ** np.arange(-2.0, 2.0, 0.5)
"""Candidate ridge penalties, relative to the largest eigenvalue."""


class Adjusted(NamedTuple):
    """Adjusted stratum means, residual sums of squares and the effective number of parameters."""

    means: Values
    squares: Values
    parameters: float


def adjusted_for_background(
    comparisons: Values, strata: NDArray[np.intp], members: Coalitions, sizes: list[range]
) -> Adjusted | None:
    """Return stratum means and sums of squares after a regression of comparisons on the members of S.

    Parameters
    ----------
    comparisons, strata
        v(S + i) - v(S + j) for each background set S, and its stratum.
    members
        Whether each of the n - 2 other players is in S, one set per row.
    sizes
        The sizes of S in each stratum.

    Returns
    -------
    Adjusted | None
        None where the regression explains too little to be worth its parameters, or there are too few comparisons.

    Notes
    -----
    The regressors of the ridge regression are membership x_l and its interaction with the size of S,
    x_l (2 s / (n - 2) - 1), both centred in each stratum. Generalised cross-validation chooses the penalty. With e
    effective parameters and f degrees of freedom the sums of squares are multiplied by f / (f - e), to correct for the
    fit, and by 1 + e / f, for the uncertainty of the coefficients.

    Examples
    --------
    Comparisons are higher by 1 with player 0 in S, which is in half of all sets but in three of these four.

    >>> members = np.tile([[True, False], [True, False], [True, False], [False, True]], (10, 1))
    >>> comparisons = members[:, 0] + 0.01 * np.random.default_rng(0).normal(size=40)
    >>> adjusted = adjusted_for_background(comparisons, np.zeros(40, dtype=int), members, [range(1, 2)])
    >>> float(comparisons.mean().round(2)), adjusted.means.round(2)
    (0.75, array([0.5]))
    """
    counts = np.bincount(strata, minlength=len(sizes)).astype(np.float64)
    freedom = float(np.maximum(counts - 1.0, 0.0).sum())
    if freedom < MIN_FREEDOM:
        return None
    x = _features(members)
    centred, means = _within(np.column_stack([x, comparisons]), strata, counts)
    x, y = centred[:, :-1], centred[:, -1]
    total = float(y @ y)
    if total == 0.0:
        return None
    coefficients, parameters = _ridge(x, y, freedom)
    residuals = y - x @ coefficients
    fitted = np.bincount(strata, weights=residuals**2, minlength=len(sizes)).astype(np.float64)
    squares = fitted * (freedom / (freedom - parameters) * (1.0 + parameters / freedom))
    if squares.sum() >= total:
        return None
    expected = _expected_features(tuple(sizes), members.shape[1])
    shift = np.where(counts > 0, ((means[:, :-1] - expected) @ coefficients), 0.0)
    return Adjusted(means[:, -1] - shift, squares, parameters)


def _features(members: Coalitions) -> Matrix:
    """Return membership, and its interaction with the size of the background set."""
    others = members.shape[1]
    share = members.sum(axis=1, keepdims=True) / others
    return np.concatenate([members, members * (2.0 * share - 1.0)], axis=1)


@lru_cache(maxsize=16)
def _expected_features(sizes: tuple[range, ...], others: int) -> Matrix:
    """Return the mean of the features over all background sets of each stratum."""
    rows = []
    for block in sizes:
        share = np.array(block) / others
        rows.append(np.repeat([share.mean(), (share * (2.0 * share - 1.0)).mean()], others))
    return np.array(rows)


def _within(rows: Matrix, strata: NDArray[np.intp], counts: Values) -> tuple[Matrix, Matrix]:
    """Return the rows centred in their strata, and the stratum means."""
    means = np.zeros((len(counts), rows.shape[1]))
    np.add.at(means, strata, rows)
    means /= np.maximum(counts, 1.0)[:, None]
    return rows - means[strata], means


def _ridge(x: Matrix, y: Values, freedom: float) -> tuple[Values, float]:
    """Return coefficients and effective parameters for the penalty with the lowest cross-validated error."""
    eigenvalues, vectors = linalg.eigh(x.T @ x)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    if eigenvalues[-1] == 0.0:
        return np.zeros(x.shape[1]), 0.0
    along = vectors.T @ (x.T @ y)
    damped = eigenvalues + eigenvalues[-1] * PENALTIES[:, None]
    parameters = (eigenvalues / damped).sum(axis=1)
    slopes = along / damped
    left = y @ y - (2.0 * along * slopes - eigenvalues * slopes**2).sum(axis=1)
    affordable = parameters <= MAX_PARAMETERS * freedom
    if not affordable.any():
        return np.zeros(x.shape[1]), 0.0
    error = np.where(affordable, left / (freedom - np.minimum(parameters, 0.9 * freedom)) ** 2, np.inf)
    best = int(error.argmin())
    return vectors @ slopes[best], float(parameters[best])
