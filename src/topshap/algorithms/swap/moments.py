"""Moments of comparisons, for many pairs at once: rows are pairs, columns are strata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Values


@dataclass
class Moments:
    """Counts, means and sums of squares of the comparisons of each pair."""

    counts: Matrix
    """The number of comparisons, per pair and stratum."""
    means: Matrix
    """Their means, 0 where there are none."""
    squares: Matrix
    """Their sums of squared deviations from these means."""
    between: Values
    """Half the mean squared difference of neighbouring stratum means: a variance from one comparison in each."""
    second: Values
    """The second central moment of all comparisons of a pair."""
    fourth: Values
    """The fourth central moment of all comparisons of a pair."""
    parameters: Values
    """The effective number of parameters of the regression adjustment, 0 without one."""

    @classmethod
    def of_array(cls, comparisons: NDArray[np.float64]) -> Moments:
        """Return the moments of an array of shape (pairs, strata, comparisons), padded with nan.

        Examples
        --------
        >>> moments = Moments.of_array(np.array([[[1.0, 3.0], [5.0, np.nan]]]))
        >>> moments.counts, moments.means, moments.squares, moments.between
        (array([[2., 1.]]), array([[2., 5.]]), array([[2., 0.]]), array([4.5]))
        """
        known = ~np.isnan(comparisons)
        counts = known.sum(axis=2).astype(np.float64)
        filled = np.where(known, comparisons, 0.0)
        means = filled.sum(axis=2) / np.maximum(counts, 1.0)
        squares = (np.where(known, filled - means[:, :, None], 0.0) ** 2).sum(axis=2)
        total = np.maximum(counts.sum(axis=1), 1.0)
        centre = filled.sum(axis=(1, 2)) / total
        powers = np.where(known, filled - centre[:, None, None], 0.0) ** 2
        second, fourth = (p.sum(axis=(1, 2)) / total for p in (powers, powers**2))
        between = between_neighbours(counts, means)
        return cls(counts, means, squares, between, second, fourth, np.zeros(len(comparisons)))

    @classmethod
    def of_pair(cls, comparisons: Values, strata: NDArray[np.intp], n_strata: int) -> Moments:
        """Return the moments of the comparisons of one pair, given the stratum of each."""
        counts = np.bincount(strata, minlength=n_strata).astype(np.float64)
        means = np.bincount(strata, weights=comparisons, minlength=n_strata) / np.maximum(counts, 1.0)
        deviations = (comparisons - means[strata]) ** 2
        squares = np.bincount(strata, weights=deviations, minlength=n_strata).astype(np.float64)
        powers = (comparisons - comparisons.mean()) ** 2
        between = between_neighbours(counts[None], means[None])
        second, fourth = np.array([powers.mean()]), np.array([(powers**2).mean()])
        return cls(counts[None], means[None], squares[None], between, second, fourth, np.zeros(1))

    def scale(self, factor: float) -> None:
        """Make these the moments of all comparisons times `factor`."""
        self.means *= factor
        for squared in (self.squares, self.between, self.second):
            np.multiply(squared, factor**2, out=squared)
        self.fourth *= factor**4

    def extend(self, other: Moments) -> None:
        """Append the rows of further pairs."""
        for name, rows in vars(other).items():
            setattr(self, name, np.concatenate([getattr(self, name), rows]))

    def replace(self, row: int, other: Moments) -> None:
        """Replace a row by the moments of one pair."""
        for name, rows in vars(other).items():
            getattr(self, name)[row] = rows[0]


def between_neighbours(counts: Matrix, means: Matrix) -> Values:
    """Return half the mean squared difference of neighbouring strata that both have comparisons."""
    both = (counts[:, 1:] > 0) & (counts[:, :-1] > 0)
    steps = np.where(both, np.diff(means, axis=1), 0.0) ** 2 / 2.0
    between: Values = steps.sum(axis=1) / np.maximum(both.sum(axis=1), 1)
    return between
