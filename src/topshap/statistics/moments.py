"""Running means and variances of players and of differences between players.

Both classes use the update of Chan, Golub and LeVeque in float64, which is Welford's for a single sample: the sum of
squares is taken around the running mean, so it never becomes negative, and a small variance is not lost beside a large
mean. The cost of a small round is mostly that of numpy calls, so the code for these makes few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Players, Values


class PlayerMoments:
    """Count, mean and sum of squared deviations of each player's samples.

    Examples
    --------
    >>> moments = PlayerMoments(2)
    >>> moments.add(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([0, 1]))
    >>> moments.mean, moments.variances()
    (array([2., 5.]), array([2., 0.]))
    """

    def __init__(self, n: int, rows: Matrix | None = None) -> None:
        self.state: Matrix = np.zeros((3, n)) if rows is None else rows
        """Counts, means and sums of squares, in one array."""
        self.count: Values = self.state[0]
        self.mean: Values = self.state[1]
        self._squares: Values = self.state[2]

    def copy(self) -> PlayerMoments:
        """Return a copy."""
        return PlayerMoments(len(self.count), rows=self.state.copy())

    def with_samples(self, samples: Matrix) -> PlayerMoments:
        """Return the moments with further rows of samples of all players."""
        return PlayerMoments(len(self.count), rows=_merged(self.state, samples))

    def add(self, samples: Matrix, players: Players | slice) -> None:
        """Add rows of samples, one column for each of `players`."""
        if len(samples) > 0:
            self.state[:, players] = _merged(self.state[:, players], samples)

    def add_one(self, sample: float, player: int) -> None:
        """Add one sample of one player; the same as `add`, but faster."""
        total = self.count.item(player) + 1
        share = 1 / total
        mean = self.mean.item(player)
        shift = sample - mean
        self.count[player] = total
        step = shift * share
        self.mean[player] = mean + step
        self._squares[player] += (total - 1) * step * shift

    def mean_squares(self) -> Values:
        """Return the mean of each player's squared samples, 0 where there are none."""
        return self.mean**2 + self._squares / np.maximum(self.count, 1.0)

    def variances(self) -> Values:
        """Return the sample variances, nan where there are fewer than two samples."""
        return self._squares / _degrees_of_freedom(self.count)

    def variance_of(self, player: int) -> float:
        """Return one player's sample variance."""
        return self._squares.item(player) / (self.count.item(player) - 1.0)


class PairMoments:
    """Count, mean and sum of squared deviations of D_j - D_i over the rounds in which both were sampled.

    Entry (i, j) is about player j minus player i. An additional null player, which contributes nothing, is sampled in
    every round; the differences to it are the samples of each player, so one update serves both.

    Examples
    --------
    >>> pairs = PairMoments(2)
    >>> pairs.add(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([0, 1]))
    >>> pairs.mean
    array([[ 0.,  3.],
           [-3.,  0.]])
    """

    def __init__(self, n: int) -> None:
        size = n + 1
        self._size = size
        self._row_starts = np.arange(size) * size
        self.state: Matrix = np.zeros((3, size * size))
        """Counts, means and sums of squares, in one array."""
        square = self.state.reshape(3, size, size)
        self.count: Matrix = square[0, :n, :n]
        self.mean: Matrix = square[1, :n, :n]
        self._squares: Matrix = square[2, :n, :n]
        self.players = PlayerMoments(n, rows=square[:, n, :n])
        """The moments of each player's own samples."""
        self._flat_count, self._flat_mean, self._flat_squares = self.state

    def copy(self) -> PairMoments:
        """Return a copy."""
        copy = PairMoments(self._size - 1)
        copy.state[:] = self.state
        return copy

    def with_samples(self, samples: Matrix) -> PairMoments:
        """Return the moments with further rounds of samples of all players."""
        together = self.copy()
        together.add(samples, slice(None))
        return together

    def add(self, samples: Matrix, players: Players | slice) -> None:
        """Add rounds of samples, one column for each of `players`; the samples of a round share one coalition."""
        rounds, sampled = samples.shape
        with_null = np.zeros((rounds, sampled + 1))
        with_null[:, :sampled] = samples
        if not isinstance(players, slice):
            for row in with_null:
                self._add_round(row, players)
        elif rounds > 0:
            differences = with_null[:, None, :] - with_null[:, :, None]
            everyone = self.state.reshape(3, self._size, self._size)
            everyone[:] = _merged(everyone, differences)

    def _add_round(self, with_null: Values, players: Players) -> None:
        """Add a round of some players, by Welford's update of the pairs among them."""
        sampled = np.empty(len(with_null), dtype=np.intp)
        sampled[:-1], sampled[-1] = players, self._size - 1
        pairs = self._pairs(sampled, sampled)
        count, mean = self._flat_count[pairs], self._flat_mean[pairs]
        count += 1.0
        shift = with_null - with_null[:, None]
        shift -= mean
        step = shift / count
        mean += step
        self._flat_count[pairs], self._flat_mean[pairs] = count, mean
        shift *= shift - step
        shift += self._flat_squares[pairs]
        self._flat_squares[pairs] = shift

    def add_two(self, sample_i: float, sample_j: float, i: int, j: int) -> None:
        """Add a round of two players; the same as `add`, but faster."""
        self.players.add_one(sample_i, i)
        self.players.add_one(sample_j, j)
        difference = sample_j - sample_i
        total = self.count.item(i, j) + 1
        share = 1 / total
        shift = difference - self.mean.item(i, j)
        step = shift * share
        mean = self.mean.item(i, j) + step
        squares = self._squares.item(i, j) + (total - 1) * step * shift
        self.count[i, j] = self.count[j, i] = total
        self.mean[i, j], self.mean[j, i] = mean, -mean
        self._squares[i, j] = self._squares[j, i] = squares

    def between(self, i: Players, j: Players) -> tuple[Matrix, Matrix, Matrix]:
        """Return counts, means and sample variances of D_j - D_i for players i (rows) and j (columns)."""
        pairs = self._pairs(i, j)
        count = self._flat_count[pairs]
        return count, self._flat_mean[pairs], self._flat_squares[pairs] / _degrees_of_freedom(count)

    def _pairs(self, i: Players, j: Players) -> NDArray[np.intp]:
        """Return the indices of the pairs of players i (rows) and j (columns) in the flat arrays."""
        return self._row_starts[i][:, None] + j


def _merged(rows: NDArray[Any], samples: NDArray[Any]) -> NDArray[Any]:
    """Return count, mean and sum of squares after adding samples, which are stacked along the first axis."""
    count, mean, squares = rows
    new = len(samples)
    new_mean = samples.mean(axis=0)
    new_squares = ((samples - new_mean) ** 2).sum(axis=0)
    total = count + new
    shift = new_mean - mean
    step = shift * (new / total)
    return np.stack([total, mean + step, squares + new_squares + count * step * shift])


def _degrees_of_freedom(count: Values) -> Values:
    """Return count - 1, nan where that is not positive."""
    degrees = count - 1.0
    if degrees.size and degrees.item(degrees.argmin()) <= 0.0:
        degrees[degrees <= 0.0] = np.nan
    return degrees
