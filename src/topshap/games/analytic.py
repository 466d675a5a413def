"""Games whose Shapley values have a closed form, for any number of players.

They are small and fast, and range from no interaction between players in an additive game to complete interaction in an
all-or-nothing game. The value of a coalition does not depend on its batch, to the last bit.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.validation import check_int, check_real, front_door, refuse
from topshap.games.closed_form import ClosedFormGame, numbers, sum_inside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from topshap.core.typing import Coalitions, Values


@front_door
@dataclass(frozen=True, eq=False, init=False)
class AdditiveGame(ClosedFormGame):
    """An additive game: v(S) is the baseline plus the sum of the weights in S.

    The Shapley values are the weights.

    Parameters
    ----------
    weights
        One number per player.
    baseline
        The value of the empty coalition.

    Examples
    --------
    >>> game = AdditiveGame([1.0, 2.0, 4.0], baseline=10.0)
    >>> game(np.array([[False, False, False], [True, False, True]]))
    array([10., 15.])
    >>> game.shapley_values()
    array([1., 2., 4.])
    """

    weights: Values
    baseline: float

    def __init__(self, weights: ArrayLike, baseline: float = 0.0) -> None:
        checked = numbers("weights", weights)
        start = check_real("baseline", baseline, low=-sys.float_info.max)
        vars(self).update(n_players=len(checked), weights=checked, baseline=start)

    def _values(self, coalitions: Coalitions) -> Values:
        return self.baseline + sum_inside(coalitions, self.weights)

    def shapley_values(self) -> Values:
        """Return the weights."""
        return self.weights.copy()


@front_door
@dataclass(frozen=True, eq=False, init=False)
class UnanimityGame(ClosedFormGame):
    """A sum of unanimity games: v(S) is the sum of the coefficients of all sets contained in S.

    Every game with v(empty) = 0 has this form. The Shapley values divide each coefficient equally among the members of
    its set.

    Parameters
    ----------
    sets
        Non-empty sets of players, as indices.
    coefficients
        One number per set.
    n_players
        The number of players.

    Examples
    --------
    >>> game = UnanimityGame([{0}, {1, 2}], coefficients=[1.0, 3.0], n_players=3)
    >>> game(np.array([[True, True, False], [False, True, True]]))
    array([1., 3.])
    >>> game.shapley_values()
    array([1. , 1.5, 1.5])
    """

    sets: tuple[tuple[int, ...], ...]
    coefficients: Values
    n_players: int
    _members: NDArray[np.float32] = field(repr=False)

    def __init__(self, sets: Iterable[Iterable[int]], coefficients: ArrayLike, n_players: int) -> None:
        n = check_int("n_players", n_players, low=1)
        checked = tuple(_set_of_players(players, n) for players in sets)
        amounts = numbers("coefficients", coefficients)
        if len(amounts) != len(checked):
            must_be = f"one number for each of the {len(checked)} sets"
            refuse("coefficients", coefficients, must_be=must_be)
        members = np.zeros((n, len(checked)), dtype=np.float32)
        for column, players in enumerate(checked):
            members[list(players), column] = 1.0
        vars(self).update(n_players=n, sets=checked, coefficients=amounts, _members=members)

    def _cells_per_row(self) -> int:
        return int(max(self._members.shape))

    def _values(self, coalitions: Coalitions) -> Values:
        # The counts are small integers, so their sum is exact in any order.
        present = coalitions.astype(np.float32) @ self._members
        return sum_inside(present == self._members.sum(axis=0), self.coefficients)

    def shapley_values(self) -> Values:
        """Return the sum of each player's equal shares of the coefficients of its sets."""
        members = self._members.astype(np.float64)
        shares: Values = members @ (self.coefficients / members.sum(axis=0))
        return shares


@front_door
@dataclass(frozen=True, eq=False, init=False)
class AirportGame(ClosedFormGame):
    """An airport game, the cost of a runway that is long enough for all of S: v(S) is the largest cost in S.

    The Shapley values divide the cost of each section of the runway equally among the players that need it.

    Parameters
    ----------
    costs
        One non-negative number per player.

    Examples
    --------
    >>> game = AirportGame([2.0, 4.0, 7.0])
    >>> game(np.array([[False, False, False], [True, True, False]]))
    array([0., 4.])
    >>> game.shapley_values().round(3)
    array([0.667, 1.667, 4.667])
    """

    costs: Values

    def __init__(self, costs: ArrayLike) -> None:
        checked = numbers("costs", costs)
        if (checked < 0).any():
            refuse("costs", costs, must_be="non-negative numbers")
        vars(self).update(n_players=len(checked), costs=checked)

    def _values(self, coalitions: Coalitions) -> Values:
        largest: Values = np.where(coalitions, self.costs, 0.0).max(axis=1)
        return largest

    def shapley_values(self) -> Values:
        """Return the sum of each player's equal shares of the sections that it needs."""
        order = np.argsort(self.costs, kind="stable")
        sections = np.diff(self.costs[order], prepend=0.0)
        shared_by = np.arange(self.n_players, 0, -1)
        phi = np.empty(self.n_players)
        phi[order] = np.cumsum(sections / shared_by)
        return phi


@front_door
@dataclass(frozen=True, eq=False, init=False)
class GloveGame(ClosedFormGame):
    """A glove market, where each player has a left or a right glove: v(S) is the number of pairs in S.

    Parameters
    ----------
    left, right
        The number of players with a left glove, which come first, and the number of players with a right glove.

    Examples
    --------
    >>> game = GloveGame(left=1, right=2)
    >>> game(np.array([[False, True, True], [True, True, True]]))
    array([0., 1.])
    >>> game.shapley_values().round(3)
    array([0.667, 0.167, 0.167])
    """

    left: int
    right: int

    def __init__(self, left: int, right: int) -> None:
        owners = [check_int(side, count, low=0) for side, count in (("left", left), ("right", right))]
        if sum(owners) == 0:
            refuse("right", right, must_be="an int of at least 1 if 'left' is 0")
        vars(self).update(n_players=sum(owners), left=owners[0], right=owners[1])

    def _values(self, coalitions: Coalitions) -> NDArray[np.intp]:
        lefts, rights = coalitions[:, : self.left], coalitions[:, self.left :]
        pairs: NDArray[np.intp] = np.minimum(lefts.sum(axis=1), rights.sum(axis=1))
        return pairs

    def shapley_values(self) -> Values:
        """Return the probability that a player completes a pair when it joins in a random order."""
        sides = (self.left, self.right), (self.right, self.left)
        return np.repeat([_probability_of_a_partner(*side) for side in sides], [self.left, self.right])


@front_door
@dataclass(frozen=True, eq=False, init=False)
class AllOrNothingGame(ClosedFormGame):
    """A game that needs every player: v(S) is 1 for the grand coalition and 0 for all others.

    Parameters
    ----------
    n
        The number of players.

    Examples
    --------
    >>> game = AllOrNothingGame(4)
    >>> game(np.array([[True, True, True, False], [True, True, True, True]]))
    array([0., 1.])
    >>> game.shapley_values()
    array([0.25, 0.25, 0.25, 0.25])
    """

    n_players: int

    def __init__(self, n: int) -> None:
        vars(self).update(n_players=check_int("n", n, low=1))

    def _values(self, coalitions: Coalitions) -> NDArray[np.bool_]:
        complete: NDArray[np.bool_] = np.logical_and.reduce(coalitions, axis=1)
        return complete

    def shapley_values(self) -> Values:
        """Return 1 / n for every player."""
        return np.full(self.n_players, 1.0 / self.n_players)


def _probability_of_a_partner(own: int, other: int) -> float:
    """Return the probability that a player is preceded by more players of the other side than of its own side.

    Among the s preceding players, the number of those on its own side is hypergeometric, for s uniform in 0 .. n-1.
    The distribution is updated for one more preceding player at a time.
    """
    if own == 0:
        return 0.0
    n = own + other
    same = np.arange(own)  # preceding players on the same side
    probability = np.zeros(own)
    probability[0] = 1.0
    partner = 0.0
    for s in range(n):
        partner += probability[2 * same < s].sum()
        if s < n - 1:
            one_more = probability * (own - 1 - same) / (n - 1 - s)
            probability -= one_more
            probability[1:] += one_more[:-1]
    return partner / n


def _set_of_players(players: Iterable[int], n: int) -> tuple[int, ...]:
    distinct = {check_int("sets", i, low=0, high=n - 1) for i in players}
    if not distinct:
        refuse("sets", players, must_be="non-empty sets of players")
    return tuple(sorted(distinct))
