"""Metrics that compare a returned set of players with the exact Shapley values.

A set of k players is *eligible* if no other set of k players has a larger sum of Shapley values. With ties
there are several eligible sets, and each of them is right. Two values are tied if they differ by no more than
1e-9 times the largest absolute value, since exact values are computed in floating point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.core.errors import ParameterError
from topshap.core.validation import check_int, check_vector, front_door, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from topshap.core.typing import Coalition, Values

_TIE = 1e-9


@front_door
def binary_precision(exact_values: ArrayLike, players: Iterable[int]) -> float:
    """Return 1.0 if the returned set is eligible, 0.0 otherwise.

    Parameters
    ----------
    exact_values
        The Shapley value of every player.
    players
        The indices of the returned players, in any order.

    Returns
    -------
    float
        1.0 or 0.0.

    Examples
    --------
    Players 1 and 2 are tied for second place: either is right.

    >>> binary_precision([3.0, 1.0, 1.0, 0.0], [0, 2])
    1.0
    >>> binary_precision([3.0, 1.0, 1.0, 0.0], [1, 2])
    0.0
    """
    view = _look_from_border(exact_values, players)
    return float(view.error == 0.0)


@front_door
def ratio_precision(exact_values: ArrayLike, players: Iterable[int]) -> float:
    """Return the largest overlap of the returned set with an eligible set, as a fraction of its size.

    Parameters
    ----------
    exact_values
        The Shapley value of every player.
    players
        The indices of the returned players, in any order.

    Returns
    -------
    float
        A number from 0 to 1; 1 if and only if the set is eligible.

    Examples
    --------
    >>> ratio_precision([3.0, 1.0, 1.0, 0.0], [1, 2])
    0.5
    """
    view = _look_from_border(exact_values, players)
    above = view.gaps > view.tolerance
    tied = np.abs(view.gaps) <= view.tolerance
    k = int(view.inside.sum())
    places_for_tied = k - int(above.sum())
    overlap = int((view.inside & above).sum()) + min(int((view.inside & tied).sum()), places_for_tied)
    return overlap / k


@front_door
def inclusion_exclusion_error(exact_values: ArrayLike, players: Iterable[int]) -> float:
    """Return the inclusion-exclusion error: the largest error in including or excluding a player.

    With b the smallest Shapley value inside an eligible set, it is the smallest e >= 0 such that every
    returned player has a value of at least b - e and every other player one of at most b + e.

    Parameters
    ----------
    exact_values
        The Shapley value of every player.
    players
        The indices of the returned players, in any order.

    Returns
    -------
    float
        The error in the unit of the values; exactly 0.0 if and only if the set is eligible.

    Examples
    --------
    Player 0 was left out although its value is 2 above the border of 1.

    >>> inclusion_exclusion_error([3.0, 1.0, 1.0, 0.0], [1, 2])
    2.0
    """
    return _look_from_border(exact_values, players).error


@front_door
def mean_squared_error(exact_values: ArrayLike, estimates: ArrayLike) -> float:
    """Return the mean over players of the squared error of their estimates.

    Parameters
    ----------
    exact_values
        The Shapley value of every player.
    estimates
        The estimated value of every player.

    Returns
    -------
    float
        The mean squared error.

    Examples
    --------
    >>> mean_squared_error([3.0, 1.0], [1.0, 1.0])
    2.0
    """
    exact = check_vector("exact_values", exact_values)
    estimated = check_vector("estimates", estimates)
    if estimated.shape != exact.shape:
        must_be = f"one number for each of the {len(exact)} players"
        refuse("estimates", estimates, must_be=must_be)
    return float(np.mean((estimated - exact) ** 2))


def tie_tolerance(exact_values: Values) -> float:
    """Return the largest difference between two Shapley values that counts as a tie.

    Examples
    --------
    >>> tie_tolerance(np.array([-1e9, 3.0]))
    1.0
    """
    return _TIE * float(np.abs(exact_values).max())


class _View(NamedTuple):
    """Every player's value relative to the border, the k-th largest value."""

    gaps: Values
    inside: Coalition
    tolerance: float

    @property
    def error(self) -> float:
        too_low = -self.gaps[self.inside].min()
        too_high = self.gaps[~self.inside].max(initial=0.0)
        error = float(max(too_low, too_high))
        return error if error > self.tolerance else 0.0


def _look_from_border(exact_values: ArrayLike, players: Iterable[int]) -> _View:
    values = check_vector("exact_values", exact_values)
    inside = _membership(players, len(values))
    border = np.sort(values)[-int(inside.sum())]
    return _View(values - border, inside, tie_tolerance(values))


def _membership(players: Iterable[int], n: int) -> Coalition:
    """Return the players as a coalition."""
    try:
        indices = [check_int("players", i, low=0, high=n - 1) for i in players]
    except (TypeError, ParameterError):
        indices = []  # the error below is about all players
    if not indices or len(set(indices)) < len(indices):
        must_be = f"a non-empty collection of distinct ints in [0, {n - 1}]"
        refuse("players", players, must_be=must_be)
    inside = np.zeros(n, dtype=np.bool_)
    inside[indices] = True
    return inside
