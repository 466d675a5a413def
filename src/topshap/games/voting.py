"""Weighted majority games, with exact Shapley values by dynamic programming."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.validation import check_int, front_door, refuse
from topshap.games.closed_form import ClosedFormGame, numbers, read_only, sum_inside

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from topshap.core.typing import Coalitions, Values


@front_door
@dataclass(frozen=True, eq=False, init=False)
class VotingGame(ClosedFormGame):
    """A weighted majority game: v(S) is 1 if the weights in S reach the quota, and 0 otherwise.

    The Shapley value, also called the Shapley-Shubik index, is the probability that a player turns a losing coalition
    into a winning one. It is computed by dynamic programming with exact integers, in a table of n * quota counts.

    Parameters
    ----------
    weights
        One non-negative int per player: its votes.
    quota
        The votes needed to win, an int from 1 to the sum of the weights.

    Examples
    --------
    The 5 permanent members of the UN Security Council have a veto; the 10 others have little power.

    >>> council = VotingGame([7] * 5 + [1] * 10, quota=39)
    >>> council.shapley_values()[[0, 5]].round(4)
    array([0.1963, 0.0019])
    """

    weights: NDArray[np.int64]
    quota: int

    def __init__(self, weights: ArrayLike, quota: int) -> None:
        checked = numbers("weights", weights)
        if not ((checked >= 0) & (checked % 1 == 0)).all() or not 1 <= checked.sum() < 2**53:
            must_be = "non-negative ints with a sum in [1, 2**53)"
            refuse("weights", weights, must_be=must_be)
        votes = read_only(checked.astype(np.int64))
        quota = check_int("quota", quota, low=1, high=int(votes.sum()))
        vars(self).update(n_players=len(votes), weights=votes, quota=quota)

    def _values(self, coalitions: Coalitions) -> NDArray[np.bool_]:
        return sum_inside(coalitions, self.weights) >= self.quota

    def shapley_values(self) -> Values:
        """Return the probability that each player is decisive in a random order of all players."""
        counts = self._losing_coalitions()
        power = {weight: self._power(counts, weight) for weight in set(self.weights.tolist())}
        return np.array([power[weight] for weight in self.weights.tolist()])

    def _losing_coalitions(self) -> NDArray[np.object_]:
        """Return the number of coalitions of size s with w votes, for w below the quota, as Python ints."""
        counts = np.zeros((self.n_players + 1, self.quota), dtype=object)
        counts[0, 0] = 1
        for weight in self.weights.tolist():
            counts[1:, weight:] += counts[:-1, : max(0, self.quota - weight)].copy()
        return counts

    def _power(self, counts: NDArray[np.object_], weight: int) -> float:
        """Return the probability that a player with this weight is decisive."""
        n, enough = self.n_players, max(0, self.quota - weight)
        orders = 0
        without = counts[0]  # counts of the coalitions of size s without this player
        for s in range(n):
            orders += without[enough:].sum() * math.factorial(s) * math.factorial(n - 1 - s)
            with_player = without[:enough]
            without = counts[s + 1].copy()
            without[weight:] -= with_player
        return float(orders / math.factorial(n))
