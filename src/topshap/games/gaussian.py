"""Conditional draws from a normal distribution or from a Gaussian copula (Aas, Jullum and Løland, 2021).

Draws for all coalitions are made from the same joint draws z by Matheron's rule: with the columns p known to be x, the
absent columns a are ``z_a + C_ap C_pp^-1 (x_p - z_p)``, which has the conditional distribution. So draws depend on the
seed only, not on the order in which coalitions are evaluated, and differences between coalitions have less noise than
with independent draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from topshap.core.typing import Coalition, Matrix

_RIDGE = 1e-9
"""Added to the variances of standardised columns, so that constant and repeated columns have a conditional too."""


class Gaussian:
    """A normal distribution fitted to rows, or a Gaussian copula with the empirical distribution of each column.

    For the copula, a value with rank r among n is represented by the normal quantile of r / (n + 1), its score; other
    values are interpolated between those of the rows.

    Parameters
    ----------
    rows
        The rows to fit, shape (rows, columns).
    copula
        Whether the columns keep their empirical distributions.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(50, 2)) @ np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> gaussian = Gaussian(rows)
    >>> gaussian.joint_draws(8, seed=0).shape
    (8, 2)
    """

    def __init__(self, rows: Matrix, *, copula: bool = False) -> None:
        self._sorted = np.sort(rows, axis=0) if copula else None
        scores = self._scores(rows)
        self._mean = scores.mean(axis=0)
        spread = np.zeros_like(self._mean) if len(rows) < 2 else scores.std(axis=0, ddof=1)
        constant = (rows == rows[0]).all(axis=0)
        self._spread = np.where(constant, 0.0, spread)
        standard = self.standard(rows)
        self._correlation = standard.T @ standard / max(1, len(rows) - 1) + _RIDGE * np.eye(rows.shape[1])

    def standard(self, rows: Matrix) -> Matrix:
        """Return the scores of rows, in standard deviations from the mean; 0 for constant columns."""
        standard: Matrix = (self._scores(rows) - self._mean) / np.where(self._spread > 0.0, self._spread, np.inf)
        return standard

    def joint_draws(self, n_draws: int, seed: int) -> Matrix:
        """Return draws on the standard scale, shape (draws, columns).

        Their mean is that of the distribution, and so is their covariance if there are more than twice as many draws as
        columns. The average prediction of a linear or a quadratic model is then exact for every coalition.
        """
        n_columns = len(self._correlation)
        draws: Matrix = np.random.default_rng(seed).standard_normal((n_draws, n_columns))
        if n_draws > 1:
            draws = (draws - draws.mean(axis=0)) * float(np.sqrt(n_draws / (n_draws - 1)))
        if n_draws > 2 * n_columns:
            own = np.linalg.cholesky(draws.T @ draws / n_draws)
            draws = np.asarray(np.linalg.solve(own, draws.T).T, dtype=np.float64)
        joint: Matrix = draws @ np.linalg.cholesky(self._correlation).T
        return joint

    def regression(self, present: Coalition) -> Matrix:
        """Return the coefficients of the absent columns on the present ones, shape (present, absent)."""
        known = self._correlation[present]
        return np.asarray(np.linalg.solve(known[:, present], known[:, ~present]), dtype=np.float64)

    def values(self, standard: Matrix, absent: Coalition) -> Matrix:
        """Return the values of absent columns on the standard scale, of shape (..., absent), on their own scale."""
        scores = standard * self._spread[absent] + self._mean[absent]
        if self._sorted is None:
            return scores
        n_rows = len(self._sorted)
        ranks, values = scipy.special.ndtr(scores) * (n_rows + 1), np.empty_like(scores)
        for position, column in enumerate(self._sorted.T[absent]):
            values[..., position] = np.interp(ranks[..., position], np.arange(1, n_rows + 1), column)
        return values

    def _scores(self, rows: Matrix) -> Matrix:
        if self._sorted is None:
            return rows
        ranks = [
            (np.searchsorted(column, values, side="left") + np.searchsorted(column, values, side="right") + 1.0) / 2.0
            for column, values in zip(self._sorted.T, rows.T, strict=True)
        ]
        scores: Matrix = scipy.special.ndtri(np.stack(ranks, axis=1) / (len(self._sorted) + 1))
        return scores
