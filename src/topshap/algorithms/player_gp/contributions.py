"""Unbiased estimates of all Shapley values from random coalitions: every value says something about every player.

Let D_s(i) be the mean value of the coalitions of size s with player i minus that of those without. Then

    phi_i = (v(N) - v(empty)) / n + 1/n * sum over s = 1..n-1 of D_s(i),

and for a random coalition S of size s, with q = s / n and any number m that does not depend on S,
([i in S] - q) (v(S) - m) / (q (1 - q)) has the mean D_s(i). With sizes drawn from a density p, the mean over coalitions
of these terms over n p(s) is unbiased. It does not depend on the players' number: N coalitions give n estimates.

The numbers m reduce the variance. They are a curve over the sizes, plus the sum of the members' prior values times a
slope that depends on the size, fitted by least squares to the other coalitions (leave-one-out).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.linalg.blas import dnrm2

from topshap.algorithms.player_gp.sizes import logits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players, Values

BLOCK_BYTES = 2**25
"""The memory of the coalitions that are unpacked together, as floating-point numbers."""
COALITIONS_PER_COLUMN = 6
"""The smallest number of coalitions per column of the regression."""
CURVE_COLUMNS, SLOPE_COLUMNS = 8, 3
LARGEST_LEVERAGE = 0.9
RELATIVE_ZERO = 1e-12
"""Residuals below this fraction of the largest value are rounding errors."""


class Estimates(NamedTuple):
    """Unbiased estimates of all Shapley values, less their mean."""

    values: Values
    std_error: float
    """The standard error, the same for all players; 0 if all residuals are 0."""
    residuals: Values
    """The residual of each coalition."""


class Sample:
    """Coalitions with their values, drawn with known densities of their sizes; a bit per player and coalition.

    Parameters
    ----------
    n
        The number of players.
    prior
        The prior values less their mean, None without a prior.
    """

    def __init__(self, n: int, prior: Values | None) -> None:
        self.n = n
        self._prior = prior
        self._members: list[NDArray[np.uint8]] = []
        self._densities: list[Values] = []
        self._sizes: list[Players] = []
        self._values: list[Values] = []
        self._prior_sums: list[Values] = []

    def __len__(self) -> int:
        return sum(map(len, self._values))

    @property
    def rounds(self) -> int:
        """The number of rounds that were added."""
        return len(self._values)

    def keep(self, rounds: int) -> None:
        """Forget all but the first rounds."""
        for parts in (self._members, self._densities, self._sizes, self._values, self._prior_sums):
            del parts[rounds:]

    def add(self, rows: Coalitions, values: Values, density: Values) -> None:
        """Add the coalitions of a round, with values less v(empty), and the density their sizes were drawn from."""
        self._members.append(np.packbits(rows, axis=1))
        self._densities.append(density)
        self._sizes.append(rows.sum(axis=1))
        self._values.append(values)
        prior = self._prior
        self._prior_sums.append(np.zeros(len(rows)) if prior is None else np.array([prior[row].sum() for row in rows]))

    @property
    def sizes(self) -> Players:
        """The size of each coalition."""
        return np.concatenate(self._sizes)

    def estimate(self) -> Estimates:
        """Return the estimates from all coalitions; there must be at least two."""
        n, sizes, values = self.n, self.sizes, np.concatenate(self._values)
        share = sizes / n
        spread = share * (1.0 - share)
        weights = 1.0 / (n * self._mean_density()[sizes - 1] * spread * len(sizes))
        columns, slopes = self._columns(sizes)
        fit = _leave_one_out(columns, values, weights * np.sqrt(spread))
        coefficients = weights * fit.residuals
        of_prior = 0.0 if self._prior is None else self._prior * (fit.coefficients @ slopes)
        estimates = self._weighted_members(coefficients) - coefficients @ share + of_prior
        std_error = float(dnrm2(coefficients * np.sqrt(spread)))  # its squares do not underflow
        return Estimates(estimates, std_error, fit.residuals)

    def _mean_density(self) -> Values:
        """Return the density of the sizes over all rounds."""
        counts = np.array([len(values) for values in self._values], dtype=np.float64)
        return np.average(self._densities, axis=0, weights=counts)

    def _columns(self, sizes: Players) -> tuple[Matrix, Values]:
        """Return the columns of the regression, and the effect of each on the estimate of a player of prior value 1."""
        n = self.n
        most = max(1, len(sizes) // COALITIONS_PER_COLUMN)
        curve = np.column_stack([legvander(logits(sizes, n), 0), sizes / n, legvander(logits(sizes, n), 6)[:, 1:]])
        curve = curve[:, : min(most, CURVE_COLUMNS)]
        if self._prior is None or most < CURVE_COLUMNS:
            return curve, np.zeros(curve.shape[1])
        every = np.arange(1, len(self._densities[0]) + 1)
        powers = -np.arange(SLOPE_COLUMNS) / 2.0
        slopes = np.concatenate(self._prior_sums)[:, None] * (sizes[:, None] / n) ** powers
        effects = ((every[:, None] / n) ** powers).sum(axis=0) / (n - 1)
        return np.column_stack([curve, slopes]), np.concatenate([np.zeros(curve.shape[1]), effects])

    def _weighted_members(self, weights: Values) -> Values:
        """Return, for each player, the sum of the weights of the coalitions with it."""
        total, start = np.zeros(self.n), 0
        for block in self._unpacked():
            total += weights[start : start + len(block)] @ block
            start += len(block)
        return total

    def _unpacked(self) -> Iterator[Matrix]:
        rows = max(1, BLOCK_BYTES // (8 * self.n))
        for members in self._members:
            for start in range(0, len(members), rows):
                yield np.unpackbits(members[start : start + rows], axis=1, count=self.n).astype(np.float64)


class _Fit(NamedTuple):
    residuals: Values
    coefficients: Values


def _leave_one_out(columns: Matrix, values: Values, weights: Values) -> _Fit:
    """Fit values by weighted least squares; return the residual of each value from a fit to all others.

    Residuals of rounding errors only are 0.
    """
    lengths = np.sqrt(np.mean(columns**2, axis=0))
    lengths[lengths == 0.0] = 1.0
    weights = weights / weights.max()
    U, singular, Vt = np.linalg.svd(columns / lengths * weights[:, None], full_matrices=False)
    kept = singular > 1e-10 * singular[0]
    U, singular, Vt = U[:, kept], singular[kept], Vt[kept]
    projected = U.T @ (weights * values)
    coefficients = (projected / singular) @ Vt / lengths
    leverage = np.minimum(np.sum(U**2, axis=1), LARGEST_LEVERAGE)
    residuals = (values - columns @ coefficients) / (1.0 - leverage)
    if np.abs(residuals).max() <= RELATIVE_ZERO * np.abs(values).max():
        residuals = np.zeros_like(residuals)
    return _Fit(residuals, coefficients)
