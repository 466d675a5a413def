"""The mean over all rows of a table, from the permutations of a sample of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topshap.statistics.regression_estimator import regression_mean

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values


@dataclass(frozen=True, eq=False)
class MeanEstimate:
    """An estimate of a mean over all rows, with the uncertainty due to rows and due to coalitions."""

    means: Values
    """One estimate per player."""
    row_covariance: Matrix
    """The covariance due to the sample of rows."""
    coalition_covariance: Matrix
    """The covariance due to the coalitions that each row was evaluated for."""

    @property
    def covariance(self) -> Matrix:
        """The covariance of the estimates."""
        return np.asarray(self.row_covariance + self.coalition_covariance)

    def adding_up_to(self, total: float) -> MeanEstimate:
        """Return the estimates, given their sum: the difference is distributed according to the covariance.

        Examples
        --------
        >>> MeanEstimate(np.array([1.0, 2.0]), np.diag([3.0, 1.0]), np.zeros((2, 2))).adding_up_to(7.0).means
        array([4., 3.])
        """
        with_sum = self.covariance.sum(axis=1)
        variance = float(with_sum.sum())
        if not variance > 1e-12 * float(np.trace(self.covariance)):
            return self
        share = with_sum / variance
        project = np.eye(len(share)) - np.outer(share, np.ones(len(share)))
        return MeanEstimate(
            self.means + share * (total - self.means.sum()),
            project @ self.row_covariance @ project.T,
            project @ self.coalition_covariance @ project.T,
        )


class RowMeans:
    """The contributions along the permutations of sampled rows.

    Parameters
    ----------
    owner
        The row that each permutation belongs to, as a position in the table.
    contributed
        What each player adds along each permutation, shape (permutations, n).
    ranks
        The position of each player in each permutation, shape (permutations, n); None if each permutation stands for
        itself and its reverse, so that every player is before every other one in one half of them.
    """

    def __init__(self, owner: Players, contributed: Matrix, ranks: Matrix | None = None) -> None:
        self.rows, self._owner = np.unique(owner, return_inverse=True)
        self._counts = np.bincount(self._owner)
        self._contributed, self._ranks = contributed, ranks
        self.values: Matrix = self._averaged(contributed)
        """The estimated Shapley values of each sampled row, shape (rows, n)."""

    def _averaged(self, numbers: Matrix) -> Matrix:
        """Return the mean over the permutations of each row."""
        sums = np.zeros((len(self.rows), numbers.shape[1]))
        np.add.at(sums, self._owner, numbers)
        return np.asarray(sums / self._counts[:, None])

    def _before(self, player: int) -> Matrix:
        """Return whether each other player comes before a player in each permutation, 1 or -1, shape (permutations, n).

        The mean over all permutations is 0. If two players interact, the one that comes first gets less or more, so
        these are covariates of what a player adds.
        """
        if self._ranks is None:
            return np.empty((len(self._owner), 0))
        before: Matrix = np.sign(self._ranks[:, [player]] - self._ranks)
        return before

    def mean(self, covariates: list[Matrix], *, magnitude: bool, population: int | None) -> MeanEstimate:
        """Estimate the mean over all rows, of the values or of their magnitudes.

        Parameters
        ----------
        covariates
            For each player, covariates of all rows of the table; see `topshap.global_importance.covariates`.
        magnitude
            Whether it is the mean of magnitudes. They are corrected for the bias due to the error of each row's
            values, by the jackknife over the permutations of rows that have several.
        population
            The number of rows of the population; None if it is infinite.
        """
        numbers = np.abs(self.values) if magnitude else self.values
        m, n = numbers.shape
        estimates, residuals = np.empty(n), np.empty((m, n))
        adjusted = self._contributed.copy()
        for i, own in enumerate(covariates):
            before = self._before(i)
            known = np.concatenate([own[self.rows], self._averaged(before)], axis=1)
            # Columns of a standardised table have mean 0, and so do the orders of two players.
            found = regression_mean(numbers[:, i], known, np.zeros(known.shape[1]))
            estimates[i], residuals[:, i] = found.mean, found.residuals
            adjusted[:, i] -= before @ found.coefficients[own.shape[1] :]
        sampled = residuals.T @ residuals / m**2
        coalitions = self._coalition_covariance(adjusted, magnitude=magnitude)
        if magnitude:
            bias, of_bias = self._bias()
            estimates, coalitions = np.maximum(estimates - bias, 0.0), coalitions + np.diag(of_bias)
        left = 1.0 if population is None else max(0.0, 1.0 - m / population)
        # The residuals hold both sources of randomness; sampling all rows removes the part of the rows.
        rows = left * np.maximum(1.0 - _shares(coalitions, sampled), 0.0)
        scale = np.sqrt(rows)
        return MeanEstimate(estimates, sampled * np.outer(scale, scale), coalitions)

    def _coalition_covariance(self, contributed: Matrix, *, magnitude: bool) -> Matrix:
        """Return the covariance of the mean over the sampled rows due to their permutations."""
        several = self._counts[self._owner] > 1
        deviations = (contributed - self._averaged(contributed)[self._owner])[several]
        if magnitude:
            deviations = deviations * np.sign(self.values[self._owner])[several]
        freedom = max(int((self._counts - 1).sum()), 1)
        of_one: Matrix = deviations.T @ deviations / freedom
        return of_one * float(np.sum(1.0 / self._counts)) / len(self.rows) ** 2

    def _bias(self) -> tuple[Values, Values]:
        """Return the bias of the mean magnitude and the variance of its estimate, from rows with several permutations.

        The jackknife assumes that the bias of a row is inversely proportional to the number of its permutations.
        """
        several = np.flatnonzero(self._counts > 1)
        n = self.values.shape[1]
        if len(several) < 2:
            return np.zeros(n), np.zeros(n)
        counts = self._counts[several]
        without = np.zeros((len(self.rows), n))
        rest = self._counts[self._owner]
        kept = rest > 1
        others = (self.values[self._owner] * rest[:, None] - self._contributed)[kept] / (rest[kept] - 1)[:, None]
        np.add.at(without, self._owner[kept], np.abs(others))
        biases = (counts - 1)[:, None] * (without[several] / counts[:, None] - np.abs(self.values[several]))
        of_one = counts[:, None] * biases
        level = float(np.mean(1.0 / self._counts))
        return of_one.mean(axis=0) * level, of_one.var(axis=0, ddof=1) / len(several) * level**2


def _shares(part: Matrix, whole: Matrix) -> Values:
    """Return the share of each variance of a part in that of the whole, at most 1."""
    variances = np.diag(whole)
    shares = np.divide(np.diag(part), variances, out=np.ones(len(variances)), where=variances > 0.0)
    return np.minimum(shares, 1.0)
