"""The standing of a race that lives on differences between players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import linalg

from topshap.algorithms.swap.differences import SwapDifferences
from topshap.core.standing import Standing
from topshap.statistics.variance_floor import RELATIVE_ZERO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.algorithms.swap.differences import Population, UnitMoments
    from topshap.core.typing import Matrix, Players, Values

LARGEST_RATIO = 1e8
"""No difference weighs more than this many times as much as the one that weighs least."""


class Comparisons(Protocol):
    """Where a standing finds what is known of pairs of players."""

    population: Population

    def moments(self, pairs: NDArray[np.intp]) -> UnitMoments:
        """Return what the units of pairs (i, j), a row each, come to."""

    def exact_bounds(self, pairs: NDArray[np.intp], level: float) -> Matrix:
        """Return lower bounds of phi_i - phi_j and of phi_j - phi_i, a row a pair, that need no asymptotics."""


class SwapStanding(Standing):
    """Estimates by least squares on the differences of all pairs that ever stood across the border.

    A difference weighs as much as its variance says. Since pairs share evaluations, P of them do not say as much as P
    independent ones: by Foster's theorem a least squares fit that took them as such would claim, on average over pairs,
    (n - 1) / P of the variance that their own units show. The covariance is that of the fit times P / (n - 1).

    Parameters
    ----------
    tie_order
        See `Standing`.
    gain
        v(N) - v(empty), the sum of the Shapley values, of which differences say nothing.
    border
        How many players are told from the rest.
    level
        The probability with which the bound of one pair may be wrong.
    exact
        Whether the bounds have to hold without asymptotics.
    """

    def __init__(self, tie_order: Players, gain: float, border: int, level: float, *, exact: bool) -> None:
        super().__init__(tie_order)
        n = self.n_players
        self.border, self.level = border, level
        self._exact = exact
        self._gain = gain
        self._estimates = np.full(n, gain / n)
        self._weights: Matrix = np.zeros((n, n))
        self._covariance: Matrix | None = None
        self._row_of_pair = np.full((n, n), -1, dtype=np.intp)
        self.pairs: NDArray[np.intp] = np.empty((0, 2), dtype=np.intp)
        """The pairs (i, j), i < j, that ever stood across the border, in the order in which they came to do so."""
        self._moments: UnitMoments | None = None
        self._exact_bounds: Matrix = np.empty((0, 2))
        self._rows: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._bounds: Values = np.empty(0)

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per player."""
        return self._estimates

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan for a player that was not compared."""
        return np.sqrt(np.maximum(np.diag(self._fitted_covariance()), 0.0))

    def covariance(self) -> Matrix | None:
        """Return the covariance of the estimates, None where somebody was not compared."""
        covariance = self._fitted_covariance()
        return None if np.isnan(covariance).any() else covariance

    def worst_bound(self) -> float:
        """Return the lowest lower bound of phi_i - phi_j for i in the current top k and j in the rest."""
        return float(self._bounds.min(initial=np.inf)) if len(self.pairs) else -np.inf

    def doubtful(self) -> NDArray[np.intp]:
        """Return the rows of pairs across the border of which not all units are known, the lowest bound first."""
        left = ~self.differences.exhausted[self._rows]
        return self._rows[left][np.argsort(self._bounds[left], kind="stable")]

    def start(self, guess: Values, comparisons: Comparisons) -> None:
        """Draw the first border by a guess, and compare the players across it."""
        self._estimates = guess
        self._extend(comparisons)
        self.update(comparisons)

    def learn(self, rows: list[int], comparisons: Comparisons) -> None:
        """Take in what has become known of the pairs in these rows."""
        for row in rows:
            pair = self.pairs[[row]]
            if self._moments is not None:
                self._moments.replace(row, comparisons.moments(pair))
            if self._exact:
                self._exact_bounds[row] = comparisons.exact_bounds(pair, self.level)
        self.update(comparisons)

    def update(self, comparisons: Comparisons) -> None:
        """Fit the estimates anew until the border they give has no pair across it that was not compared."""
        while True:
            self._fit(comparisons.population)
            if not self._extend(comparisons):
                break
        self._bound()

    def _extend(self, comparisons: Comparisons) -> bool:
        """Take in the pairs across the border that are new; return whether there are any."""
        top, rest = self.partition(self.border)
        i, j = (players.ravel() for players in np.meshgrid(top, rest, indexing="ij"))
        pairs = np.column_stack([np.minimum(i, j), np.maximum(i, j)])
        new = pairs[self._row_of_pair[pairs[:, 0], pairs[:, 1]] < 0]
        if len(new) == 0:
            return False
        self._row_of_pair[new[:, 0], new[:, 1]] = len(self.pairs) + np.arange(len(new))
        self.pairs = np.concatenate([self.pairs, new])
        moments = comparisons.moments(new)
        if self._moments is None:
            self._moments = moments
        else:
            self._moments.extend(moments)
        if self._exact:
            bounds = comparisons.exact_bounds(new, self.level)
            self._exact_bounds = np.concatenate([self._exact_bounds, bounds])
        return True

    def _fit(self, population: Population) -> None:
        """Fit phi_i - phi_j to the differences by weighted least squares, with the sum of all phi fixed."""
        if self._moments is None:
            return
        self.differences = found = SwapDifferences(self._moments, population, self.pairs)
        compared = found.units > 0
        largest = float(found.variances[compared].max(initial=0.0))
        one = 1.0 if largest == 0.0 else largest
        weights = np.where(compared, 1.0 / np.maximum(found.variances / one, 1.0 / LARGEST_RATIO), 0.0)
        i, j = self.pairs.T
        n = self.n_players
        self._weights = np.zeros((n, n))
        self._weights[i, j] = self._weights[j, i] = weights
        flow = np.zeros((n, n))
        flow[i, j] = weights * found.estimates
        self._covariance, self._unit = None, largest
        system, players = self._system()
        if len(players) == 0:
            return
        pull = (flow.sum(axis=1) - flow.sum(axis=0))[players]
        fitted = linalg.cho_solve(linalg.cho_factor(system), pull)
        self._estimates = np.full(n, self._gain / n)
        self._estimates[players] += fitted - fitted.mean()

    def _system(self) -> tuple[Matrix, Players]:
        """Return the normal equations of those who were compared: a graph Laplacian, made regular by its null space."""
        degrees = self._weights.sum(axis=1)
        players = np.flatnonzero(degrees > 0.0)
        if len(players) == 0:
            return np.empty((0, 0)), players
        system = np.diag(degrees[players]) - self._weights[np.ix_(players, players)]
        return system + degrees.sum() / len(players) ** 2, players

    def _fitted_covariance(self) -> Matrix:
        if self._covariance is None:
            n = self.n_players
            self._covariance = np.full((n, n), np.nan)
            system, players = self._system()
            if len(players) and not self.differences.silent:
                inverse = linalg.cho_solve(linalg.cho_factor(system), np.eye(len(players)))
                inverse -= inverse.mean()  # the part of the null space
                shared = np.count_nonzero(self._weights) / 2.0 / (len(players) - 1.0)
                self._covariance[np.ix_(players, players)] = inverse * (shared * self._unit)
        return self._covariance

    def _bound(self) -> None:
        """Bound the differences across the border from below."""
        top, rest = self.partition(self.border)
        i, j = (players.ravel() for players in np.meshgrid(top, rest, indexing="ij"))
        self._rows = np.maximum(self._row_of_pair[i, j], self._row_of_pair[j, i])
        found, rows = self.differences, self._rows
        ahead = np.where(i < j, 1.0, -1.0) * found.estimates[rows]
        if self._exact:
            bounds = np.where(found.exhausted[rows], ahead, self._exact_bounds[rows, (i > j).astype(np.intp)])
        else:
            bounds = ahead - found.half_widths(self.level)[rows]
        # A tie that is known completely is one whatever the rounding errors.
        tied = found.exhausted[rows] & (np.abs(ahead) <= RELATIVE_ZERO * self._largest_unit)
        self._bounds = np.where(tied, 0.0, bounds)

    @property
    def _largest_unit(self) -> float:
        return 0.0 if self._moments is None else float(np.abs(self._moments.means).max(initial=0.0))
