"""Numbers that describe training points, so that close points can be found: columns on a common scale, and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Values
    from topshap.games.tables.base import Table


def scaled_columns(table: Table, others: Table) -> tuple[Matrix, Matrix]:
    """Return the rows of two tables with the same columns as numbers whose Euclidean distances are comparable.

    Numeric columns get the mean 0 and the variance 1 in the first table, and 0 for missing values. Any other column
    becomes one column per value in the first table.

    Examples
    --------
    >>> from topshap.games.tables import as_table
    >>> scaled_columns(as_table("X", [[1.0], [3.0]]), as_table("X", [[5.0]]))
    (array([[-1.],
           [ 1.]]), array([[3.]]))
    """
    parts = [_scaled(table.column(j), others.column(j)) for j in range(len(table.labels))]
    return np.column_stack([first for first, _ in parts]), np.column_stack([second for _, second in parts])


def _scaled(column: NDArray[Any], other: NDArray[Any]) -> tuple[Matrix, Matrix]:
    if column.dtype.kind not in "biuf" or other.dtype.kind not in "biuf":
        values = sorted({str(cell) for cell in column})
        return _indicators(column, values), _indicators(other, values)
    known = column[np.isfinite(column)]
    mean, deviation = (float(known.mean()), float(known.std())) if len(known) > 0 else (0.0, 0.0)
    both = [(each - mean) / (deviation or 1.0) for each in (column, other)]
    first, second = (np.where(np.isfinite(each), each, 0.0)[:, None] for each in both)
    return first, second


def _indicators(column: NDArray[Any], values: list[str]) -> Matrix:
    """Return one column per value, with 1 where a cell has it."""
    position = {value: j for j, value in enumerate(values)}
    found = np.array([position.get(str(cell), -1) for cell in column])
    return (found[:, None] == np.arange(len(values))).astype(np.float64)


def with_target(columns: Matrix, target: NDArray[Any], *, classifies: bool) -> Matrix:
    """Return the columns with the target, at a weight that keeps points with other targets apart.

    The squared distance of two points with different labels grows as much as if all columns differed.

    Examples
    --------
    >>> with_target(np.zeros((2, 4)), np.array(["a", "b"]), classifies=True)[:, 4:]
    array([[2., 0.],
           [0., 2.]])
    """
    weight = np.sqrt(columns.shape[1])
    if classifies:
        return np.column_stack([columns, weight * (target[:, None] == np.unique(target))])
    numbers = target.reshape(len(target), -1).astype(np.float64)
    deviation = numbers.std(axis=0)
    return np.column_stack([columns, weight * (numbers - numbers.mean(axis=0)) / np.where(deviation > 0, deviation, 1)])


def mean_of_players(rows: Matrix, player_of: NDArray[np.intp], n_players: int) -> Matrix:
    """Return the mean of the rows of each player; rows of no player have the number `n_players`.

    Examples
    --------
    >>> mean_of_players(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1]), 2)
    array([[2.],
           [5.]])
    """
    counts = np.bincount(player_of, minlength=n_players + 1)
    return sums_of_players(rows, player_of, n_players) / counts[:n_players, None]


def sums_of_players(rows: Matrix | Values, player_of: NDArray[np.intp], n_players: int) -> Any:
    """Return the sum of the rows of each player.

    Examples
    --------
    >>> sums_of_players(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), 2)
    array([4., 5.])
    """
    sums = np.zeros((n_players + 1, *rows.shape[1:]))
    np.add.at(sums, player_of, rows)
    return sums[:n_players]
