"""Exact Shapley values and interactions by enumeration, to compare estimates with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.core.interactions import interactions_from_table
from topshap.core.outputs import check_outputs
from topshap.core.tables import shapley_from_table
from topshap.core.validation import check_int, front_door, resolve_n_players
from topshap.core.values import check_values, put_values

if TYPE_CHECKING:
    from topshap.core.typing import Game, Values

__all__ = ["interactions_from_table", "shapley_from_table", "shapley_interactions", "shapley_values", "value_table"]


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
        One Shapley value per player; for R outputs, the shape is (R, n).

    Examples
    --------
    >>> shapley_values(lambda coalitions: coalitions.sum(axis=1) ** 2, n_players=3)
    array([3., 3., 3.])
    """
    return shapley_from_table(value_table(game, n_players, max_players=max_players, batch_bytes=batch_bytes))


def shapley_interactions(
    game: Game, n_players: int | None = None, *, max_players: int = 24, batch_bytes: int = 2**24
) -> Values:
    """Return the exact Shapley interaction index of every pair of players by evaluating every coalition once.

    Parameters
    ----------
    game, n_players, max_players, batch_bytes
        See `value_table`. The game has one number per coalition, and at least two players.

    Returns
    -------
    Values
        One number per pair, in the order (0, 1), (0, 2), ..., (n - 2, n - 1); see `interactions_from_table`.

    Examples
    --------
    >>> shapley_interactions(lambda coalitions: coalitions.sum(axis=1) ** 2, n_players=3)
    array([2., 2., 2.])
    """
    return interactions_from_table(value_table(game, n_players, max_players=max_players, batch_bytes=batch_bytes))


@front_door
def value_table(game: Game, n_players: int | None = None, *, max_players: int = 24, batch_bytes: int = 2**24) -> Values:
    """Return the complete table of a game by evaluating every coalition once.

    Parameters
    ----------
    game
        Any callable from a bool array of shape (m, n) to m numbers.
    n_players
        The number of players; by default the game's attribute ``n_players``.
    max_players
        The largest number of players to accept, since n players take 2**n evaluations.
    batch_bytes
        The approximate size in bytes of the array of coalitions in one call of the game.

    Returns
    -------
    Values
        The values of all coalitions, ordered by id: player i is bit i. For R outputs, the shape is (2**n, R).

    Raises
    ------
    ParameterError
        If there are more than `max_players` players, or their number is not given.
    GameError
        If the game returns anything but one finite number per coalition.

    Examples
    --------
    >>> value_table(lambda coalitions: coalitions @ [1.0, 10.0], n_players=2)
    array([ 0.,  1., 10., 11.])
    """
    n = _resolve_n_players(game, n_players, max_players)
    rows = max(1, check_int("batch_bytes", batch_bytes, low=1) // n)
    declared, _ = check_outputs(getattr(game, "n_outputs", None), getattr(game, "output_names", None))
    table = np.full(2**n, np.nan)
    for start in range(0, len(table), rows):
        coalitions = from_ids(np.arange(start, min(start + rows, len(table))), n)
        values = check_values(game(coalitions), coalitions, getattr(game, "player_names", None), declared)
        table = put_values(table, slice(start, start + rows), values)
    return table


def _resolve_n_players(game: Game, n_players: int | None, max_players: int) -> int:
    n = resolve_n_players(game, n_players)
    if n > max_players:
        raise ParameterError(
            f"The 'n_players' parameter of value_table must be an int in [1, {max_players}], the "
            f"limit 'max_players'. Got {n} instead, which needs 2**{n} evaluations."
        )
    return n
