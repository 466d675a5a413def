"""Exact Shapley values by enumeration: the answer to which every estimate is compared.

A *table* is the array of all 2**n values of a game. Entry b is the value of the coalition whose members are
the set bits of b, so player i is bit i.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from topshap._validation import check_int, check_reals, check_values, resolve_n_players
from topshap.coalitions import from_ids
from topshap.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from topshap.typing import Game, Values


def shapley_from_table(values: ArrayLike) -> Values:
    """Return the exact Shapley value of every player of a game whose values are all known.

    Parameters
    ----------
    values
        The complete table: entry b is the value of the coalition whose members are the set bits of b.

    Returns
    -------
    Values
        One Shapley value per player. They add up to the value of the grand coalition minus that of the empty
        one.

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
    table = check_table("values", values, owner="shapley_from_table")
    n = n_players_of(table)
    # With bit i taken out of every id, the coalitions without i are 0 .. 2**(n-1) - 1 for each player alike,
    # and the number of set bits is still their size: one array of weights serves all players.
    weights = _weight_of_size(n)[coalition_sizes(n - 1)]
    # Summed by numpy, not by BLAS, whose last digits depend on the number of threads.
    return np.array([(weights * _marginals(table, i)).sum() for i in range(n)])


def shapley_values(
    game: Game, n_players: int | None = None, *, max_players: int = 24, batch_bytes: int = 2**24
) -> Values:
    """Return the exact Shapley values of a game by evaluating every coalition once.

    Parameters
    ----------
    game, n_players, max_players, batch_bytes
        See `value_table`.

    Returns
    -------
    Values
        One Shapley value per player.

    Examples
    --------
    >>> shapley_values(lambda coalitions: coalitions.sum(axis=1) ** 2, n_players=3)
    array([3., 3., 3.])
    """
    return shapley_from_table(value_table(game, n_players, max_players=max_players, batch_bytes=batch_bytes))


def value_table(game: Game, n_players: int | None = None, *, max_players: int = 24, batch_bytes: int = 2**24) -> Values:
    """Return the complete table of a game by evaluating every coalition once.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n) to m numbers.
    n_players
        The number of players, the game's attribute `n_players` if None.
    max_players
        The largest number of players to accept, since n players take 2**n evaluations.
    batch_bytes
        About how large the array of coalitions in one call of the game may be.

    Returns
    -------
    Values
        The values of all coalitions, ordered by id: player i is bit i.

    Raises
    ------
    ParameterError
        If there are more than `max_players` players, or nothing says how many there are.
    GameError
        If the game returns anything but one finite number per coalition.

    Examples
    --------
    >>> value_table(lambda coalitions: coalitions @ [1.0, 10.0], n_players=2)
    array([ 0.,  1., 10., 11.])
    """
    n = _resolve_n_players(game, n_players, max_players)
    rows = max(1, check_int("batch_bytes", batch_bytes, owner="value_table", low=1) // n)
    table = np.empty(2**n)
    for start in range(0, len(table), rows):
        coalitions = from_ids(np.arange(start, min(start + rows, len(table))), n)
        table[start : start + rows] = check_values(game(coalitions), coalitions, getattr(game, "player_names", None))
    return table


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


def check_table(name: str, values: ArrayLike, *, owner: str) -> Values:
    """Return a complete table as a float64 array, or say what is wrong with it.

    Examples
    --------
    >>> check_table("values", [0, 1, 2], owner="TableGame")
    Traceback (most recent call last):
        ...
    topshap.errors.ParameterError: The 'values' parameter of TableGame must be a one-dimensional array of 2**n
    numbers with n >= 1. Got an array of shape (3,) instead.
    """
    table = check_reals(name, values, owner=owner)
    if table.ndim != 1 or len(table) < 2 or len(table).bit_count() != 1:
        raise ParameterError(
            f"The {name!r} parameter of {owner} must be a one-dimensional array of 2**n numbers with n >= 1. "
            f"Got an array of shape {table.shape} instead."
        )
    wrong = np.flatnonzero(~np.isfinite(table))[:1]
    check_values(table[wrong], from_ids(wrong, n_players_of(table)))  # raises if there is one, and names it
    return table


def _weight_of_size(n: int) -> Values:
    """Return the chance that just a given set of s players comes before a given other, for s = 0 .. n-1."""
    return np.array([1.0 / (n * math.comb(n - 1, s)) for s in range(n)])


def _marginals(table: Values, player: int) -> Values:
    """Return v(S with player) - v(S) for all S without the player, in the order of their ids."""
    pairs = table.reshape(-1, 2, 2**player)
    # Differences come before weights, so that a large common baseline cancels exactly.
    return (pairs[:, 1] - pairs[:, 0]).ravel()


def _resolve_n_players(game: Game, n_players: int | None, max_players: int) -> int:
    n = resolve_n_players(game, n_players, owner="value_table")
    if n > max_players:
        raise ParameterError(
            f"The 'n_players' parameter of value_table must be an int in [1, {max_players}], up to "
            f"'max_players'. Got {n} instead, for which 2**{n} evaluations would be needed."
        )
    return n
