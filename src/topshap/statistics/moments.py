"""Running means and variances, of players and of differences between players.

Both classes use the update of Chan, Golub and LeVeque in float64: the sum of squares is taken around the running
mean, so it never becomes negative and does not lose a small variance beside a large mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.typing import Matrix, Players, Values


class PlayerMoments:
    """Count, mean and sum of squared deviations of each player's samples.

    Examples
    --------
    >>> moments = PlayerMoments(2)
    >>> moments.add(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([0, 1]))
    >>> moments.mean, moments.variances()
    (array([2., 5.]), array([2., 0.]))
    """

    def __init__(self, n: int) -> None:
        self.count: Values = np.zeros(n)
        self.mean: Values = np.zeros(n)
        self._squares: Values = np.zeros(n)

    def add(self, samples: Matrix, players: Players | slice) -> None:
        """Add rows of samples, one column for each of `players`."""
        fresh = len(samples)
        if fresh == 0:
            return
        fresh_mean = samples.mean(axis=0)
        fresh_squares = ((samples - fresh_mean) ** 2).sum(axis=0)
        total = self.count[players] + fresh
        share = fresh / total
        shift = fresh_mean - self.mean[players]
        self.count[players] = total
        self.mean[players] += share * shift
        self._squares[players] += fresh_squares + (total - fresh) * share * shift * shift

    def add_one(self, sample: float, player: int) -> None:
        """Add one sample of one player; the same as `add`, to the last bit, but quicker."""
        total = self.count[player] + 1
        share = 1 / total
        shift = sample - self.mean[player]
        self.count[player] = total
        self.mean[player] += share * shift
        self._squares[player] += (total - 1) * share * shift * shift

    def mean_squares(self) -> Values:
        """Return the mean of each player's squared samples, 0 where there are none."""
        return self.mean**2 + self._squares / np.maximum(self.count, 1.0)

    def variances(self) -> Values:
        """Return the sample variances, nan where there are fewer than two samples."""
        return self._squares / _degrees_of_freedom(self.count)


class PairMoments:
    """Count, mean and sum of squared deviations of D_j - D_i over the rounds in which both were sampled.

    Entry (i, j) is about player j minus player i.

    Examples
    --------
    >>> pairs = PairMoments(2)
    >>> pairs.add(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([0, 1]))
    >>> pairs.mean
    array([[ 0.,  3.],
           [-3.,  0.]])
    """

    def __init__(self, n: int) -> None:
        self.count: Matrix = np.zeros((n, n))
        self.mean: Matrix = np.zeros((n, n))
        self._squares: Matrix = np.zeros((n, n))

    def add(self, samples: Matrix, players: Players | slice) -> None:
        """Add rounds of samples, one column for each of `players`, every round against one coalition."""
        fresh = len(samples)
        if fresh == 0:
            return
        pairs = players if isinstance(players, slice) else np.ix_(players, players)
        differences = samples[:, None, :] - samples[:, :, None]
        if fresh == 1:  # the usual case once players are chosen round by round
            fresh_mean, fresh_squares = differences[0], 0.0
        else:
            fresh_mean = differences.mean(axis=0)
            fresh_squares = ((differences - fresh_mean) ** 2).sum(axis=0)
        total = self.count[pairs] + fresh
        share = fresh / total
        shift = fresh_mean - self.mean[pairs]
        self.count[pairs] = total
        self.mean[pairs] += share * shift
        self._squares[pairs] += fresh_squares + (total - fresh) * share * shift * shift

    def add_one(self, difference: float, i: int, j: int) -> None:
        """Add one sample of D_j - D_i."""
        total = self.count[i, j] + 1
        share = 1 / total
        shift = difference - self.mean[i, j]
        mean = self.mean[i, j] + share * shift
        squares = self._squares[i, j] + (total - 1) * share * shift * shift
        self.count[i, j] = self.count[j, i] = total
        self.mean[i, j], self.mean[j, i] = mean, -mean
        self._squares[i, j] = self._squares[j, i] = squares

    def variances(self, i: Players | slice = slice(None), j: Players | slice = slice(None)) -> Matrix:
        """Return the sample variances of D_j - D_i for the players i (rows) and j (columns), nan where unknown."""
        return self._squares[i][:, j] / _degrees_of_freedom(self.count[i][:, j])


def _degrees_of_freedom(count: Values) -> Values:
    """Return count - 1, and nan where that leaves nothing to divide by."""
    degrees = count - 1.0
    degrees[degrees <= 0.0] = np.nan
    return degrees
