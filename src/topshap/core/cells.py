"""The values of players in the explained rows, as numbers for colours and as text for labels."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Values

_LONGEST_INT = 1000
"""The length of the largest int that is kept as a number, in bits."""


class NumericCells(NamedTuple):
    """The values of one player as numbers: as they are, or the positions of categories among `labels`."""

    numbers: Values
    """One number per row, nan where the value is missing."""
    labels: tuple[str, ...] | None
    """The categories in order, None if the values are numbers."""


def check_cells(data: Any, n_rows: int, n_players: int) -> NDArray[Any] | None:
    """Return one value per row and player as a read-only array of numbers or objects, None if there are none."""
    if data is None:
        return None
    cells = np.array(data) if hasattr(data, "dtype") else np.array(data, dtype=object)
    if cells.shape != (n_rows, n_players):
        must_be = f"an array of shape ({n_rows}, {n_players}): one value per row and player"
        refuse("data", must_be=must_be, got=f"shape {cells.shape}")
    if cells.dtype.kind not in "biuf":
        cells = _without_long_ints(cells.astype(object))
    cells.flags.writeable = False
    return cells


def _without_long_ints(cells: NDArray[Any]) -> NDArray[Any]:
    """Replace ints that are not floats, and may be too long to print, by text."""
    for place, cell in np.ndenumerate(cells):
        if type(cell) is int and cell.bit_length() > _LONGEST_INT:
            cells[place] = f"int of {cell.bit_length()} bits"
    return cells


def stacked_cells(rows: Iterable[Sequence[Any] | None], n_players: int) -> NDArray[Any] | None:
    """Return the values of several rows as an array of objects; None if a row has none.

    Examples
    --------
    >>> stacked_cells([(39, "Private"), (50, None)], 2).tolist()
    [[39, 'Private'], [50, None]]
    """
    lists = list(rows)
    if not lists or any(row is None for row in lists):
        return None
    cells = np.empty((len(lists), n_players), dtype=object)
    for i, row in enumerate(lists):
        for j, value in enumerate(row or ()):
            cells[i, j] = value
    cells.flags.writeable = False
    return cells


def numeric_cells(values: NDArray[Any]) -> NumericCells:
    """Return the values of one player in all rows as numbers; other values than numbers are categories.

    Examples
    --------
    >>> numeric_cells(np.array([39, None, 50.5], dtype=object))
    NumericCells(numbers=array([39. ,  nan, 50.5]), labels=None)
    >>> numeric_cells(np.array(["b", "a", "b"], dtype=object))
    NumericCells(numbers=array([1., 0., 1.]), labels=('a', 'b'))
    """
    if values.dtype.kind in "biuf":
        return NumericCells(values.astype(np.float64), None)
    cells = values.tolist()
    missing = [cell is None or cell != cell for cell in cells]  # noqa: PLR0124 - nan and NaT differ from themselves
    if all(absent or isinstance(cell, Real) for cell, absent in zip(cells, missing, strict=True)):
        return NumericCells(np.array([np.nan if cell is None else float(cell) for cell in cells]), None)
    labels = sorted({str(cell) for cell, absent in zip(cells, missing, strict=True) if not absent})
    code = {label: float(i) for i, label in enumerate(labels)}
    numbers = [np.nan if absent else code[str(cell)] for cell, absent in zip(cells, missing, strict=True)]
    return NumericCells(np.array(numbers), tuple(labels))


def numeric_table(cells: NDArray[Any]) -> Matrix:
    """Return the values of all players as numbers, see `numeric_cells`, shape (rows, players)."""
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    table = np.empty(cells.shape)
    for j in range(cells.shape[1]):
        table[:, j] = numeric_cells(cells[:, j]).numbers
    return table
