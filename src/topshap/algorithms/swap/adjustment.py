"""A regression that takes out of the units of a pair what the company's members explain.

How much better i does than j depends on who else is there. Since everybody is in the same known part of all companies
of a size, a sample in which some were there too often can be corrected by what they were seen to do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Values

LEAST_FREEDOM = 12
"""With fewer degrees of freedom there is no regression."""
MOST_PARAMETERS = 1.0 / 3.0
"""The largest part of the degrees of freedom that a regression may use."""
PENALTIES = 10.0 ** np.arange(-2.0, 2.0, 0.5)
"""How strongly coefficients are shrunk, in units of the largest eigenvalue."""


class Adjusted(NamedTuple):
    """Stratum means corrected for who was there, and what is left of the sums of squares."""

    means: Values
    squares: Values
    parameters: float


def adjusted_for_company(
    units: Values, strata: NDArray[np.intp], members: Coalitions, sizes: list[range]
) -> Adjusted | None:
    """Return the units' stratum means and sums of squares after a regression on the members of their companies.

    Parameters
    ----------
    units, strata
        v(S + i) - v(S + j) of each unit, and the stratum it belongs to.
    members
        Which of the n - 2 other players are in S, a row a unit.
    sizes
        The sizes of S in each stratum.

    Returns
    -------
    Adjusted | None
        None where the regression explains too little to be worth its parameters, or there are too few units.

    Notes
    -----
    Membership x_l, and how its effect changes with the size of S, x_l (2 s / (n - 2) - 1), both around their means in
    the stratum, enter a ridge regression; generalised cross-validation chooses the penalty. With e effective parameters
    of f degrees of freedom the sums of squares are multiplied by f / (f - e), since the fit has seen them, and by
    1 + e / f, since the coefficients are estimated too.

    Examples
    --------
    A unit is worth 1 more if player 0 is there, which is so in half of all companies but in three of these four.

    >>> members = np.tile([[True, False], [True, False], [True, False], [False, True]], (10, 1))
    >>> units = members[:, 0] + 0.01 * np.random.default_rng(0).normal(size=40)
    >>> found = adjusted_for_company(units, np.zeros(40, dtype=int), members, [range(1, 2)])
    >>> float(units.mean().round(2)), found.means.round(2)
    (0.75, array([0.5]))
    """
    counts = np.bincount(strata, minlength=len(sizes)).astype(np.float64)
    freedom = float(np.maximum(counts - 1.0, 0.0).sum())
    if freedom < LEAST_FREEDOM:
        return None
    x = _features(members)
    centred, means = _within(np.column_stack([x, units]), strata, counts)
    x, y = centred[:, :-1], centred[:, -1]
    total = float(y @ y)
    if total == 0.0:
        return None
    coefficients, parameters = _ridge(x, y, freedom)
    left = y - x @ coefficients
    seen = np.bincount(strata, weights=left**2, minlength=len(sizes)).astype(np.float64)
    squares = seen * (freedom / (freedom - parameters) * (1.0 + parameters / freedom))
    if squares.sum() >= total:
        return None
    expected = _expected_features(tuple(sizes), members.shape[1])
    shift = np.where(counts > 0, ((means[:, :-1] - expected) @ coefficients), 0.0)
    return Adjusted(means[:, -1] - shift, squares, parameters)


def _features(members: Coalitions) -> Matrix:
    others = members.shape[1]
    share = members.sum(axis=1, keepdims=True) / others
    return np.concatenate([members, members * (2.0 * share - 1.0)], axis=1)


@lru_cache(maxsize=16)
def _expected_features(sizes: tuple[range, ...], others: int) -> Matrix:
    """Return the mean of the features over all companies of each stratum."""
    rows = []
    for block in sizes:
        share = np.array(block) / others
        rows.append(np.repeat([share.mean(), (share * (2.0 * share - 1.0)).mean()], others))
    return np.array(rows)


def _within(rows: Matrix, strata: NDArray[np.intp], counts: Values) -> tuple[Matrix, Matrix]:
    """Return the rows around the mean of their stratum, and these means."""
    means = np.zeros((len(counts), rows.shape[1]))
    np.add.at(means, strata, rows)
    means /= np.maximum(counts, 1.0)[:, None]
    return rows - means[strata], means


def _ridge(x: Matrix, y: Values, freedom: float) -> tuple[Values, float]:
    """Return the coefficients of the penalty with the least cross-validated error, and its effective parameters."""
    eigenvalues, vectors = linalg.eigh(x.T @ x)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    if eigenvalues[-1] == 0.0:
        return np.zeros(x.shape[1]), 0.0
    along = vectors.T @ (x.T @ y)
    damped = eigenvalues + eigenvalues[-1] * PENALTIES[:, None]
    parameters = (eigenvalues / damped).sum(axis=1)
    slopes = along / damped
    left = y @ y - (2.0 * along * slopes - eigenvalues * slopes**2).sum(axis=1)
    affordable = parameters <= MOST_PARAMETERS * freedom
    if not affordable.any():
        return np.zeros(x.shape[1]), 0.0
    error = np.where(affordable, left / (freedom - np.minimum(parameters, 0.9 * freedom)) ** 2, np.inf)
    best = int(error.argmin())
    return vectors @ slopes[best], float(parameters[best])
