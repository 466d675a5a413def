"""Pairs of players as candidates: their order, their positions in it, and their matrix.

A race of order 1 ranks the n players, one of order 2 the P = n (n - 1) / 2 pairs (0, 1), (0, 2), ..., (n - 2, n - 1),
in this order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values
    from topshap.statistics.partial_covariance import Covariance

TIMES = " x "
"""Between the names of the players of a pair."""
ORDERS = (1, 2)
"""The orders of candidates: players, and pairs of players."""


class PairEstimates(NamedTuple):
    """Estimated interactions of all pairs of players."""

    estimates: Values
    """One estimate per pair, shape (P,)."""
    std_errors: Values
    """Their standard errors, nan where unknown, shape (P,)."""
    covariance: Covariance | None = None
    """Their covariance, that of some of them, or None."""
    left_out: Players | None = None
    """The players whose pairs were not estimated, None if there are none."""


def n_candidates(n_players: int, order: int) -> int:
    """Return the number of candidates: players, or pairs of them.

    Examples
    --------
    >>> n_candidates(5, 1), n_candidates(5, 2)
    (5, 10)
    """
    return n_players if order == 1 else n_players * (n_players - 1) // 2


def all_pairs(n_players: int) -> Players:
    """Return the players of every pair, shape (P, 2).

    Examples
    --------
    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.stack(np.triu_indices(n_players, 1), axis=1)


def pair_positions(pairs: Players, n_players: int) -> Players:
    """Return the positions of pairs, shape (m, 2), in the order of all pairs; the players of a pair have any order.

    Examples
    --------
    >>> pair_positions(np.array([[0, 1], [2, 1]]), 3).tolist()
    [0, 2]
    """
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return cast("Players", low * (2 * n_players - low - 1) // 2 + high - low - 1)


def pair_at(position: int, n_players: int) -> tuple[int, int]:
    """Return the players of the pair at a position in the order of all pairs.

    Examples
    --------
    >>> [pair_at(position, 3) for position in range(3)]
    [(0, 1), (0, 2), (1, 2)]
    """
    after = n_candidates(n_players, 2) - 1 - position
    first = n_players - 2 - (math.isqrt(8 * after + 1) - 1) // 2
    return first, position - first * (2 * n_players - first - 1) // 2 + first + 1


def pair_name(position: int, n_players: int, player_names: tuple[str, ...] | None) -> str:
    """Return the name of a pair by its position; indices as text if the players have no names.

    Examples
    --------
    >>> pair_name(1, 3, ("age", "sex", "bmi")), pair_name(1, 3, None)
    ('age x bmi', '0 x 2')
    """
    pair = pair_at(position, n_players)
    return TIMES.join(str(i) if player_names is None else player_names[i] for i in pair)


def players_of_pairs(n_pairs: int) -> int:
    """Return the number of players that have this many pairs.

    Examples
    --------
    >>> players_of_pairs(10)
    5
    """
    return (1 + math.isqrt(1 + 8 * n_pairs)) // 2


def symmetric(values: Values, n_players: int) -> Matrix:
    """Return one number per pair as a symmetric matrix with zeros on the diagonal.

    Examples
    --------
    >>> symmetric(np.array([1.0, 2.0, 3.0]), 3)
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """
    matrix = np.zeros((n_players, n_players))
    matrix[np.triu_indices(n_players, 1)] = values
    return matrix + matrix.T
