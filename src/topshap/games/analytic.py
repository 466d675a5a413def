"""Games whose Shapley values are known in closed form, for any number of players.

They are small, fast and of very different character: nothing interacts in an additive game, and everybody is
needed in an all-or-nothing game. The value of a coalition is the same to the last bit whether it is asked for
alone or among others.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.fingerprints import fingerprint_of
from topshap.core.validation import check_int, check_real, check_vector, front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from topshap.core.typing import Coalitions, Values

_Number = TypeVar("_Number", np.float64, np.int64)

_BLOCK_CELLS = 2**21
"""Numbers a temporary array may hold: 16 megabytes of float64."""


@dataclass(frozen=True, eq=False, init=False)
class SyntheticGame(ABC):
    """A game with a rule for blocks of coalitions and a closed form for its Shapley values."""

    n_players: int = field(repr=False)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        rows = check_coalitions(coalitions, self.n_players)
        values = np.empty(len(rows))
        step = max(1, _BLOCK_CELLS // self._cells_per_row())
        for start in range(0, len(rows), step):
            values[start : start + step] = self._values(rows[start : start + step])
        return values

    @property
    def fingerprint(self) -> str | None:
        """What tells this game from others in a store: its kind and its parameters."""
        return fingerprint_of(type(self).__name__, **vars(self))

    def _cells_per_row(self) -> int:
        return self.n_players

    @abstractmethod
    def _values(self, coalitions: Coalitions) -> NDArray[Any]:
        """Return the values of a block of coalitions."""

    @abstractmethod
    def shapley_values(self) -> Values:
        """Return the exact Shapley values."""


@front_door
@dataclass(frozen=True, eq=False, init=False)
class AdditiveGame(SyntheticGame):
    """Every player adds its weight, whoever else is there: v(S) = baseline + the sum of the weights in S.

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
class UnanimityGame(SyntheticGame):
    """A sum of unanimity games: v(S) is the sum of the coefficients of those sets that S contains as a whole.

    Every game with v(empty) = 0 is of this form. A set's coefficient is shared equally among its members.

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
        # Counts are small whole numbers, so their product is exact in any order of summation.
        present = coalitions.astype(np.float32) @ self._members
        return sum_inside(present == self._members.sum(axis=0), self.coefficients)

    def shapley_values(self) -> Values:
        """Return for each player its equal shares in the coefficients of the sets it belongs to."""
        members = self._members.astype(np.float64)
        shares: Values = members @ (self.coefficients / members.sum(axis=0))
        return shares


@front_door
@dataclass(frozen=True, eq=False, init=False)
class AirportGame(SyntheticGame):
    """A runway long enough for everybody: v(S) is the largest cost in S.

    All players share the first stretch equally, those who need more the next one, and so on.

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
        """Return for each player its equal shares in the stretches of the runway that it needs."""
        order = np.argsort(self.costs, kind="stable")
        stretches = np.diff(self.costs[order], prepend=0.0)
        shared_by = np.arange(self.n_players, 0, -1)
        phi = np.empty(self.n_players)
        phi[order] = np.cumsum(stretches / shared_by)
        return phi


@front_door
@dataclass(frozen=True, eq=False, init=False)
class GloveGame(SyntheticGame):
    """Some have a left glove, the others a right one: v(S) is the number of pairs in S.

    Parameters
    ----------
    left, right
        How many players have a left glove (these come first) and how many a right one.

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
            refuse("right", right, must_be="an int of at least 1 where 'left' is 0")
        vars(self).update(n_players=sum(owners), left=owners[0], right=owners[1])

    def _values(self, coalitions: Coalitions) -> NDArray[np.intp]:
        lefts, rights = coalitions[:, : self.left], coalitions[:, self.left :]
        pairs: NDArray[np.intp] = np.minimum(lefts.sum(axis=1), rights.sum(axis=1))
        return pairs

    def shapley_values(self) -> Values:
        """Return for each player the chance that a glove for the other hand waits when it comes."""
        sides = (self.left, self.right), (self.right, self.left)
        return np.repeat([_chance_of_a_partner(*side) for side in sides], [self.left, self.right])


@front_door
@dataclass(frozen=True, eq=False, init=False)
class AllOrNothingGame(SyntheticGame):
    """Everybody is needed: v = 1 on the grand coalition and 0 on every other.

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
        everybody: NDArray[np.bool_] = np.logical_and.reduce(coalitions, axis=1)
        return everybody

    def shapley_values(self) -> Values:
        """Return 1 / n for every player."""
        return np.full(self.n_players, 1.0 / self.n_players)


def sum_inside(coalitions: Coalitions, amounts: NDArray[_Number]) -> NDArray[_Number]:
    """Sum the amounts in each row without BLAS, whose rounding depends on the number of rows."""
    sums: NDArray[_Number] = np.where(coalitions, amounts, amounts.dtype.type(0)).sum(axis=1)
    return sums


def _chance_of_a_partner(own: int, other: int) -> float:
    """Return the chance that more of the other side than of one's own have come before a player.

    The s players who came before have a hypergeometric number of the player's own side among them, for s
    uniform in 0 .. n-1. Its distribution is followed while they come one by one.
    """
    if own == 0:
        return 0.0
    n = own + other
    same = np.arange(own)  # how many of one's own side came before
    chance = np.zeros(own)
    chance[0] = 1.0
    partner = 0.0
    for s in range(n):
        partner += chance[2 * same < s].sum()
        if s < n - 1:
            one_more = chance * (own - 1 - same) / (n - 1 - s)
            chance -= one_more
            chance[1:] += one_more[:-1]
    return partner / n


def _set_of_players(players: Iterable[int], n: int) -> tuple[int, ...]:
    distinct = {check_int("sets", i, low=0, high=n - 1) for i in players}
    if not distinct:
        refuse("sets", players, must_be="non-empty sets of players")
    return tuple(sorted(distinct))


def numbers(name: str, values: ArrayLike) -> Values:
    """Return a parameter as finite numbers of the game's own, that nobody can change."""
    return read_only(check_vector(name, values).copy())


def read_only(array: NDArray[_Number]) -> NDArray[_Number]:
    """Return the array, no longer writeable."""
    array.setflags(write=False)
    return array
