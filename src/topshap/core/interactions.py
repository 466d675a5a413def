"""Exact interactions of the pairs of players of a game whose values are all known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.powers_of_two import largest_of, safe_exponent, times_power
from topshap.core.tables import check_table, coalition_sizes, n_players_of
from topshap.core.validation import front_door, refuse

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from topshap.core.typing import Values


@front_door
def interactions_from_table(values: ArrayLike) -> Values:
    """Return the exact Shapley interaction index of every pair of players of a game whose values are all known.

    The interaction of players i and j is the average of v(S + i + j) - v(S + i) - v(S + j) + v(S) over the sets S of
    other players, where every size of S has the same weight.

    Parameters
    ----------
    values
        The complete table: entry b is the value of the coalition whose members are the set bits of b.

    Returns
    -------
    Values
        One number per pair, in the order (0, 1), (0, 2), ..., (n - 2, n - 1), shape (n (n - 1) / 2,).

    Raises
    ------
    ParameterError
        If the length is not 2**n for some n >= 2.
    GameError
        If a value is NaN or infinite; the message names the coalition.

    Examples
    --------
    Player 0 alone is worth 1, player 1 alone 2, both together 5.

    >>> interactions_from_table([0.0, 1.0, 2.0, 5.0])
    array([2.])
    """
    table = check_table("values", values)
    n = n_players_of(table)
    if n < 2:
        refuse("values", must_be="a table of a game with at least two players", got="one with a single player")
    exponent = safe_exponent(largest_of(table))
    table = times_power(table, exponent)
    # With the bits of both players taken out of every id, the coalitions of the others are 0 .. 2**(n-2) - 1 for each
    # pair alike, and the number of set bits is still their size: one array of weights serves all pairs.
    weights = np.array([1.0 / ((n - 1) * math.comb(n - 2, s)) for s in range(n - 1)])[coalition_sizes(n - 2)]
    found = [
        # Summed by numpy, not by BLAS, whose last digits depend on the number of threads.
        (weights * _differences(gains, second - 1)).sum()
        for first in range(n)
        for gains in [_differences(table, first)]
        for second in range(first + 1, n)
    ]
    return times_power(np.array(found), -exponent)


def _differences(table: Values, bit: int) -> Values:
    """Return f(S with the bit) - f(S) for all S without it, in the order of their ids.

    Differences come before weights, so that a large common baseline cancels exactly.
    """
    halves = table.reshape(-1, 2, 2**bit)
    difference: Values = (halves[:, 1] - halves[:, 0]).reshape(-1)
    return difference
