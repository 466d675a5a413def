"""Strata of complement pairs: sets of pairs that have the same inclusion probability.

The stratum of a pair is given by the size of one of its coalitions and by the sides of a few players. So nothing has to
be enumerated: stratified by all players, each pair is a stratum; stratified by a few, a game may have hundreds of
players.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from topshap.algorithms.odd_gp.designs import draw_sets_of_size
from topshap.algorithms.odd_gp.integrals import shapley_weights
from topshap.core import coalitions as co

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players, Values


class PairStrata:
    """All complement pairs except the grand coalition's, stratified by size and by the sides of some players.

    A pair is represented by the coalition that contains the first of these players.

    Parameters
    ----------
    n
        The number of players.
    players
        The players to stratify by: at least one, at most about 16.

    Examples
    --------
    >>> strata = PairStrata(4, np.array([0, 1]))
    >>> strata.sizes, strata.counts
    (array([1, 2, 3, 2, 3]), array([1., 2., 1., 1., 2.]))
    """

    def __init__(self, n: int, players: Players) -> None:
        self.n, self.players = n, players
        self._others = np.setdiff1d(np.arange(n), players)
        patterns = 2 ** (len(players) - 1)
        pattern, inside = np.divmod(np.arange(patterns * (len(self._others) + 1)), len(self._others) + 1)
        sides = np.ones((len(pattern), len(players)), dtype=np.bool_)
        sides[:, 1:] = co.from_ids(pattern, len(players) - 1)
        proper = sides.sum(axis=1) + inside < n  # the last one is the grand coalition
        self.sides: Coalitions = sides[proper]
        """Which of `players` are inside, one row per stratum."""
        self.others_inside: NDArray[np.intp] = inside[proper]
        """The number of the other players that are inside."""

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """The number of players inside."""
        return self.sides.sum(axis=1) + self.others_inside

    @cached_property
    def counts(self) -> Values:
        """The number of pairs in each stratum."""
        others, inside = len(self._others), self.others_inside
        return np.round(np.exp(gammaln(others + 1) - gammaln(inside + 1) - gammaln(others - inside + 1)), 9)

    def of(self, rows: Coalitions) -> NDArray[np.intp]:
        """Return the stratum of each pair, represented by either of its coalitions."""
        with_first = np.where(rows[:, self.players[:1]], rows, ~rows)
        pattern = co.to_ids(with_first[:, self.players[1:]])
        return pattern * (len(self._others) + 1) + with_first[:, self._others].sum(axis=1)

    def separated(self, weights: Matrix) -> Values:
        """Return, for each stratum, the total weight of the player pairs that are on different sides.

        `weights` is symmetric, with a row and a column for each of `players`.
        """
        signs = 2.0 * self.sides - 1.0
        return (weights.sum() - np.einsum("ci,ci->c", signs @ weights, signs)) / 4.0

    def mean_squares_of_sums(self, weights: Matrix) -> Values:
        """Return, for each stratum, the mean over its pairs of the total squared weight in sums phi_i + phi_j.

        The squared weight of a pair in phi_i + phi_j is (A_i + A_j)^2, with `pair_functional`.

        Parameters
        ----------
        weights
            The weight of each sum, a symmetric matrix with zeros on the diagonal.
        """
        form = weights + np.diag(weights.sum(axis=1))  # A' form A is the total
        s, weight = self.sizes, 2.0 * shapley_weights(self.n)
        inside, outside = weight[s], -weight[self.n - s]
        known = np.where(self.sides, inside[:, None], outside[:, None])
        total = np.einsum("ci,ci->c", known @ form[np.ix_(self.players, self.players)], known)
        r, m = len(self._others), self.others_inside
        if r == 0:
            return total
        of_others = form[np.ix_(self._others, self._others)]
        own, between = np.trace(of_others), of_others.sum() - np.trace(of_others)
        square = (m * inside**2 + (r - m) * outside**2) / r
        mean = (m * inside + (r - m) * outside) / r
        # Two of r players of whom m are inside, drawn without replacement.
        product = ((r * mean) ** 2 - r * square) / max(r * (r - 1), 1)
        with_known = 2.0 * mean * (known @ form[np.ix_(self.players, self._others)].sum(axis=1))
        return np.asarray(total + with_known + square * own + product * between)

    def draw(self, probabilities: Values, rng: np.random.Generator) -> Coalitions:
        """Draw every pair independently with the probability of its stratum."""
        numbers = np.where(
            self.counts < 2**53,
            rng.binomial(np.minimum(self.counts, 2.0**53).astype(np.int64), probabilities),
            rng.poisson(np.where(self.counts < 2**53, 0.0, self.counts * probabilities)),
        )
        if len(self._others) == 0:  # each stratum is one pair
            rows = np.empty((np.count_nonzero(numbers), self.n), dtype=np.bool_)
            rows[:, self.players] = self.sides[numbers > 0]
            return rows
        drawn = [np.empty((0, self.n), dtype=np.bool_)]
        for stratum in np.flatnonzero(numbers):
            rows = np.empty((numbers[stratum], self.n), dtype=np.bool_)
            rows[:, self.players] = self.sides[stratum]
            rows[:, self._others] = draw_sets_of_size(
                len(self._others), int(self.others_inside[stratum]), int(numbers[stratum]), rng
            )
            drawn.append(rows)
        return np.concatenate(drawn)


def contrast_weights(n: int) -> Values:
    """Return the weight in phi_i - phi_j of a complement pair that separates i and j, for sizes 0 .. n.

    This is |A_i - A_j| of `pair_functional`, and 0 for the empty and the grand coalition, which separate no players.
    """
    weight = shapley_weights(n)
    result = 2.0 * (weight + weight[::-1])
    result[[0, n]] = 0.0
    return result


def overall_weights(n: int) -> Values:
    """Return the weight of a complement pair in the differences between all players, for sizes s = 0 .. n.

    This is the norm of A_T minus its mean over the players: `contrast_weights` times sqrt(s (n - s) / n).
    """
    s = np.arange(n + 1)
    return contrast_weights(n) * np.sqrt(s * (n - s) / n)
