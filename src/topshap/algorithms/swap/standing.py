"""The standing of swap@k: Shapley values fitted to differences, and bounds across the border of the top k."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from topshap.algorithms.swap.differences import Differences
from topshap.core.standing import Standing, read_only
from topshap.statistics.variance_floor import RELATIVE_ZERO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.swap.differences import Population
    from topshap.algorithms.swap.moments import Moments
    from topshap.algorithms.swap.samples import Samples
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.ranking import RankBy

MAX_WEIGHT_RATIO = 1e8
"""The largest ratio of the weights of two differences in the least squares fit."""
LEAST_UNIT = 2.0**-500
"""With smaller values a covariance would be lost, since it has their squares."""


class SwapStanding(Standing):
    """Estimates by least squares on the differences of all pairs that were ever across the border.

    A difference is weighted by the inverse of its variance. Pairs share evaluations, so P of them contain less
    information than P independent ones. By Foster's theorem a least squares fit that took them as independent would
    claim, on average over pairs, (n - 1) / P of the variance estimated from their comparisons. The covariance is
    therefore that of the fit times P / (n - 1).

    Parameters
    ----------
    tie_order, rank_by
        See `Standing`.
    gain
        v(N) - v(empty), the sum of the Shapley values, which differences do not determine.
    border
        The number of players to separate from the others.
    level
        The allowed probability that the bound of one pair is wrong.
    exact
        Whether the bounds have to hold without asymptotics.
    """

    differences: Differences
    """The differences of `pairs`, once some are known."""

    def __init__(
        self, tie_order: Players, gain: float, border: int, level: float, *, exact: bool, rank_by: RankBy = "value"
    ) -> None:
        super().__init__(tie_order, rank_by=rank_by)
        n = self.n_players
        self.border, self.level = border, level
        self._exact = exact
        self._gain = gain
        self._estimates = np.full(n, gain / n)
        self._weights: Matrix = np.zeros((n, n))
        self._scale = 0.0
        self._unit = 1.0
        """The unit of differences, moments and covariance, see `Samples.unit`; estimates and bounds are in values."""
        self._covariance: Matrix | None = None
        self._row_of_pair = np.full((n, n), -1, dtype=np.intp)
        self.pairs: NDArray[np.intp] = np.empty((0, 2), dtype=np.intp)
        """The pairs (i, j), i < j, that were ever across the border, in the order in which they first were."""
        self._moments: Moments | None = None
        self._exact_bounds: Matrix = np.empty((0, 2))
        self._rows: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        """The rows in `pairs` of the pairs that are across the border now."""
        self._bounds: Values = np.empty(0)
        """Lower bounds of the differences of these pairs, of the player in the top k minus the other."""

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per player."""
        return read_only(self._estimates)

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan for a player that was not compared."""
        return read_only(np.sqrt(np.maximum(np.diag(self._fitted_covariance()), 0.0)) * self._unit)

    def covariance(self) -> Matrix | None:
        """Return the covariance of the estimates, None if a player was not compared or it is too small for a float."""
        covariance = self._fitted_covariance()
        if self._unit < LEAST_UNIT or np.isnan(covariance).any():
            return None
        return read_only(covariance * self._unit**2)

    def worst_bound(self) -> float:
        """Return the lowest lower bound of phi_i - phi_j for i in the current top k and j in the rest."""
        return float(self._bounds.min(initial=np.inf)) if len(self.pairs) else -np.inf

    def undecided(self) -> NDArray[np.intp]:
        """Return the rows of the pairs across the border that have comparisons left, lowest bound first."""
        left = ~self.differences.exhausted[self._rows]
        return self._rows[left][np.argsort(self._bounds[left], kind="stable")]

    def start(self, estimates: Values, samples: Samples) -> None:
        """Compare the players across the border given by first estimates, and fit."""
        self._estimates = estimates
        self._unit = samples.unit
        self._add_pairs_across_border(samples)
        self._update(samples)

    def learn(self, rows: list[int], samples: Samples) -> None:
        """Update the pairs in these rows, which have new comparisons, and fit."""
        if samples.unit != self._unit and self._moments is not None:
            self._moments.scale(self._unit / samples.unit)
        self._unit = samples.unit
        for row in rows:
            pair = self.pairs[[row]]
            if self._moments is not None:
                self._moments.replace(row, samples.moments(pair))
            if self._exact:
                self._exact_bounds[row] = samples.exact_bounds(pair, self.level)
        self._update(samples)

    def _update(self, samples: Samples) -> None:
        """Fit the estimates until all pairs across the border that they give are in the fit."""
        while True:
            self._fit(samples.population)
            if not self._add_pairs_across_border(samples):
                break
        self._compute_bounds()

    def _add_pairs_across_border(self, samples: Samples) -> bool:
        """Add the pairs across the border that are new; return whether there are any."""
        i, j = self._across_border()
        pairs = np.column_stack([np.minimum(i, j), np.maximum(i, j)])
        new = pairs[self._row_of_pair[pairs[:, 0], pairs[:, 1]] < 0]
        if len(new) == 0:
            return False
        self._row_of_pair[new[:, 0], new[:, 1]] = len(self.pairs) + np.arange(len(new))
        self.pairs = np.concatenate([self.pairs, new])
        moments = samples.moments(new)
        if self._moments is None:
            self._moments = moments
        else:
            self._moments.extend(moments)
        if self._exact:
            bounds = samples.exact_bounds(new, self.level)
            self._exact_bounds = np.concatenate([self._exact_bounds, bounds])
        return True

    def _across_border(self) -> tuple[Players, Players]:
        """Return all pairs of a player in the current top k and one in the rest."""
        top, rest = self.partition(self.border)
        return np.repeat(top, len(rest)), np.tile(rest, len(top))

    def _fit(self, population: Population) -> None:
        """Fit phi_i - phi_j to the differences by weighted least squares, with the sum of all phi fixed."""
        if self._moments is None:
            return
        if self._unit != 1.0:
            population = replace(population, least_jump=population.least_jump / self._unit)
        self.differences = found = Differences(self._moments, population, self.pairs)
        compared = found.counts > 0
        largest = float(found.variances[compared].max(initial=0.0))
        scale = 1.0 if largest == 0.0 else largest
        weights = np.where(compared, 1.0 / np.maximum(found.variances / scale, 1.0 / MAX_WEIGHT_RATIO), 0.0)
        i, j = self.pairs.T
        n = self.n_players
        self._weights = np.zeros((n, n))
        self._weights[i, j] = self._weights[j, i] = weights
        weighted = np.zeros((n, n))
        weighted[i, j] = weights * found.estimates
        self._covariance, self._scale = None, largest
        laplacian, players = self._normal_equations()
        if len(players) == 0:
            return
        leads = (weighted.sum(axis=1) - weighted.sum(axis=0))[players]
        fitted = linalg.cho_solve(linalg.cho_factor(laplacian), leads)
        self._estimates = np.full(n, self._gain / n)
        self._estimates[players] += (fitted - fitted.mean()) * self._unit

    def _normal_equations(self) -> tuple[Matrix, Players]:
        """Return the matrix of the normal equations, and the compared players that they are about.

        The matrix is a graph Laplacian plus a multiple of its null space, equal shifts of all players.
        """
        degrees = self._weights.sum(axis=1)
        players = np.flatnonzero(degrees > 0.0)
        if len(players) == 0:
            return np.empty((0, 0)), players
        laplacian = np.diag(degrees[players]) - self._weights[np.ix_(players, players)]
        return laplacian + degrees.sum() / len(players) ** 2, players

    def _fitted_covariance(self) -> Matrix:
        """Return the covariance of the estimates, nan for players that were not compared."""
        if self._covariance is None:
            n = self.n_players
            self._covariance = np.full((n, n), np.nan)
            laplacian, players = self._normal_equations()
            if len(players) and not self.differences.scale_unknown:
                inverse = linalg.cho_solve(linalg.cho_factor(laplacian), np.eye(len(players)))
                inverse -= inverse.mean()  # the contribution of the null space
                shared = np.count_nonzero(self._weights) / 2.0 / (len(players) - 1.0)
                self._covariance[np.ix_(players, players)] = inverse * (shared * self._scale)
        return self._covariance

    def _compute_bounds(self) -> None:
        """Compute lower bounds of the differences across the border."""
        i, j = self._across_border()
        self._rows = np.maximum(self._row_of_pair[i, j], self._row_of_pair[j, i])
        found, rows = self.differences, self._rows
        leads = np.where(i < j, 1.0, -1.0) * found.estimates[rows] * self._unit
        if self._exact:
            bounds = np.where(found.exhausted[rows], leads, self._exact_bounds[rows, (i > j).astype(np.intp)])
        else:
            bounds = leads - found.half_widths(self.level)[rows] * self._unit
        # A difference that is known completely and zero up to rounding is a tie.
        tied = found.exhausted[rows] & (np.abs(leads) <= RELATIVE_ZERO * self._largest_mean())
        self._bounds = np.where(tied, 0.0, bounds)

    def _largest_mean(self) -> float:
        """Return the largest stratum mean of a pair, in absolute value."""
        return 0.0 if self._moments is None else float(np.abs(self._moments.means).max(initial=0.0)) * self._unit
