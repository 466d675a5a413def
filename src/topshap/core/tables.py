"""Complete tables of games, and the exact Shapley values they give.

A *table* is the array of all 2**n values of a game. Entry b is the value of the coalition whose members are
the set bits of b, so player i is bit i.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from topshap.core.coalitions import from_ids
from topshap.core.powers_of_two import largest_of, safe_exponent
from topshap.core.validation import check_reals, front_door, refuse
from topshap.core.values import check_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from topshap.core.typing import Matrix, Values

NUMBERS_AT_A_TIME = 2**22
"""The largest number of values of several outputs that are computed with at a time, to bound the memory."""


@front_door
def shapley_from_table(values: ArrayLike) -> Values:
    """Return the exact Shapley value of every player of a game whose values are all known.

    Parameters
    ----------
    values
        The complete table: entry b is the value of the coalition whose members are the set bits of b. For a game with
        R outputs it has the shape (2**n, R).

    Returns
    -------
    Values
        One Shapley value per player. They add up to the value of the grand coalition minus that of the empty
        one. For a game with R outputs, the shape is (R, n).

    Raises
    ------
    ParameterError
        If the length is not 2**n for some n >= 1.
    GameError
        If a value is NaN or infinite; the message names the coalition.

    Examples
    --------
    Player 0 alone is worth 1, player 1 alone 2, both together 5.

    >>> shapley_from_table([0.0, 1.0, 2.0, 5.0])
    array([2., 3.])
    """
    table = check_table("values", values, outputs=True)
    if table.ndim == 2:
        block = max(1, NUMBERS_AT_A_TIME // len(table))
        starts = range(0, table.shape[1], block)
        return np.concatenate([_shapley_of_outputs(table[:, start : start + block]) for start in starts])
    return _shapley_of_outputs(table[:, None])[0]


def _shapley_of_outputs(table: Matrix) -> Matrix:
    """Return the Shapley values of some outputs, shape (R, n); they do not depend on the other outputs."""
    rows = np.ascontiguousarray(table.T)
    exponents = np.array([safe_exponent(largest_of(row)) for row in rows])[:, None]
    if exponents.any():
        rows = np.ldexp(rows, exponents)
    n = n_players_of(table)
    # With bit i taken out of every id, the coalitions without i are 0 .. 2**(n-1) - 1 for each player alike,
    # and the number of set bits is still their size: one array of weights serves all players.
    weights = _weight_of_size(n)[coalition_sizes(n - 1)]
    # Summed by numpy, not by BLAS, whose last digits depend on the number of threads.
    sums = np.stack([(weights * _marginals(rows, i)).sum(axis=1) for i in range(n)], axis=1)
    return np.ldexp(sums, -exponents) if exponents.any() else sums


def coalition_sizes(n: int) -> NDArray[np.uint8]:
    """Return the size of each of the 2**n coalitions, ordered by id.

    Examples
    --------
    >>> coalition_sizes(3)
    array([0, 1, 1, 2, 1, 2, 2, 3], dtype=uint8)
    """
    sizes = np.zeros(1, dtype=np.uint8)
    for _ in range(n):
        sizes = np.concatenate([sizes, sizes + np.uint8(1)])
    return sizes


def n_players_of(table: Values) -> int:
    """Return the number of players of a table that has been checked.

    Examples
    --------
    >>> n_players_of(np.zeros(8))
    3
    """
    return len(table).bit_length() - 1


def check_table(name: str, values: ArrayLike, *, outputs: bool = False) -> Values:
    """Return a complete table as a float64 array, or raise an error if it is not valid.

    With `outputs`, it may have a column for each of several outputs.

    Examples
    --------
    >>> check_table("values", [0, 1, 2])
    Traceback (most recent call last):
        ...
    topshap.core.errors.ParameterError: The 'values' parameter must be a one-dimensional array of 2**n
    numbers with n >= 1. Got an array of shape (3,) instead.
    """
    table = check_reals(name, values)
    has_columns = outputs and table.ndim == 2 and table.shape[1] > 0
    if not (table.ndim == 1 or has_columns) or len(table) < 2 or len(table).bit_count() != 1:
        must_be = "a one-dimensional array of 2**n numbers with n >= 1"
        must_be += ", or an array of shape (2**n, R) for R outputs" if outputs else ""
        refuse(name, must_be=must_be, got=f"an array of shape {table.shape}")
    finite = np.isfinite(table)
    wrong = np.flatnonzero(~(finite if table.ndim == 1 else finite.all(axis=1)))[:1]
    declared = None if table.ndim == 1 else table.shape[1]
    check_values(table[wrong], from_ids(wrong, n_players_of(table)), n_outputs=declared)  # names the first invalid one
    return table


def _weight_of_size(n: int) -> Values:
    """Return, for s = 0 .. n-1, the probability that exactly a given set of s players precedes a given player."""
    return np.array([1.0 / (n * math.comb(n - 1, s)) for s in range(n)])


def _marginals(rows: Matrix, player: int) -> Matrix:
    """Return v(S with player) - v(S) for all S without the player, in the order of their ids, one row per output."""
    pairs = rows.reshape(len(rows), -1, 2, 2**player)
    # Differences come before weights, so that a large common baseline cancels exactly.
    return (pairs[:, :, 1] - pairs[:, :, 0]).reshape(len(rows), -1)
