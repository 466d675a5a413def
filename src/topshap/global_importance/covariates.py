"""Covariates: numbers that are known for every row and predict how much a player contributes to it.

What a feature contributes to a row depends mostly on its value in this row, and on how far the prediction is from its
average and from the target. The covariates of a player are functions of its columns, the scores of the rows, and
products of both. They make estimates more accurate and may be anything: no statement depends on how well they predict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Players
    from topshap.games.tables import Table

KNOTS = (0.25, 0.5, 0.75)
"""The knots of the linear spline of a numeric column, as fractions of its sorted distinct values."""
FREQUENT = 0.3
"""The most frequent value of a numeric column gets an indicator if it has more than this share of the rows."""
FEW = 5
"""A column with at most this many distinct values has one indicator per value, others have this many at most."""
MOST_COLUMNS = 8
"""The largest number of columns of a group that are used."""


def covariates_of(table: Table, player_of: Players, n_players: int, scores: Matrix, factors: Matrix) -> list[Matrix]:
    """Return the covariates of each player in units of standard deviations, one array of shape (rows, p) per player.

    Parameters
    ----------
    table
        The rows.
    player_of
        The player of each column.
    n_players
        The number of players.
    scores
        Covariates of all players, shape (rows, q).
    factors
        Numbers that the functions of a player's columns are multiplied by, shape (rows, r).
    """
    found = []
    for player in range(n_players):
        columns = np.flatnonzero(player_of == player)
        own = _basis_of_columns(table, columns)
        products = [own * factor[:, None] for factor in standardised(factors).T]
        found.append(standardised(np.concatenate([scores, own, *products], axis=1)))
    return found


def standardised(columns: Matrix) -> Matrix:
    """Return columns with mean 0 and standard deviation 1, without those that are constant.

    Examples
    --------
    >>> standardised(np.array([[1.0, 7.0], [3.0, 7.0]]))
    array([[-1.],
           [ 1.]])
    """
    finite = columns[:, np.isfinite(columns).all(axis=0)]
    deviations = finite - finite.mean(axis=0)
    spread = np.sqrt(np.mean(deviations**2, axis=0))
    varying = spread > 1e-12 * np.abs(finite).max(axis=0, initial=0.0)
    return np.asarray(deviations[:, varying] / spread[varying])


def column_basis(values: NDArray[np.object_] | NDArray[np.float64]) -> Matrix:
    """Return functions of a column: a linear spline of its ranks, or indicators of its values, shape (rows, p).

    Equal values share a rank, so that the ranks of a column that is 0 in most rows still tell the others apart.

    Examples
    --------
    >>> column_basis(np.array([3.0, 1.0, 3.0]))
    array([[0.],
           [1.],
           [0.]])
    >>> column_basis(np.arange(9.0))[:3]
    array([[0.   , 0.   , 0.   , 0.   ],
           [0.125, 0.   , 0.   , 0.   ],
           [0.25 , 0.   , 0.   , 0.   ]])
    """
    is_number = values.dtype != object
    comparable = values if is_number else np.array([str(value) for value in values])
    distinct, ranks, counts = np.unique(comparable, return_inverse=True, return_counts=True)
    ranks = ranks.reshape(-1)
    by_frequency = np.argsort(-counts, kind="stable")
    if len(distinct) <= FEW or not is_number:
        return np.asarray((ranks[:, None] == by_frequency[1 : FEW + 1]).astype(np.float64))
    scaled = ranks[:, None] / (len(distinct) - 1)
    parts = [scaled, np.maximum(0.0, scaled - np.array(KNOTS))]
    if counts.max() > FREQUENT * len(values):
        parts.append((ranks == by_frequency[0])[:, None].astype(np.float64))
    return np.concatenate(parts, axis=1)


def _basis_of_columns(table: Table, columns: Players) -> Matrix:
    each = [column_basis(table.column(int(j))) for j in columns[:MOST_COLUMNS]]
    if len(each) > 1:  # a group: one function per column
        each = [basis[:, :1] for basis in each]
    return np.concatenate(each, axis=1) if each else np.empty((table.n_rows, 0))
