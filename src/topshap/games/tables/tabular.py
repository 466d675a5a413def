"""What games do with a table, whatever its kind, and how a numpy array does it.

A table keeps its kind: what a model gets has the columns and dtypes that the user's table has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.games.tables.cells import codes_of, numbers_or_objects, typical_of

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from topshap.core.typing import Players


class Table(ABC):
    """Rows and named columns; `data` is the user's own object or one of the same kind."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    @abstractmethod
    def labels(self) -> list[Any]:
        """What the columns are called: their names, or positions where they have none."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.data.shape[0])

    @property
    def row_bytes(self) -> int:
        """About how much memory a row takes; a cell that is no number counts as much as a short text."""
        return 64 * len(self.labels)

    @abstractmethod
    def rows(self, index: NDArray[Any]) -> Self:
        """Return the table of these rows, by position or by a bool mask."""

    @abstractmethod
    def columns(self, index: Players) -> Self:
        """Return the table of these columns, by position."""

    @abstractmethod
    def like(self, x: Any) -> Self:
        """Return one row, given in any form, as a table with the same columns and dtypes as this one."""

    @abstractmethod
    def over(self, other: Self) -> Self:
        """Return the rows of this table above those of another one of the same columns and dtypes."""

    @abstractmethod
    def mix(self, row_of: NDArray[np.intp]) -> Any:
        """Return a table, in the user's own kind, whose cell (r, j) is this one's cell (row_of[r, j], j)."""

    @abstractmethod
    def column(self, j: int) -> NDArray[Any]:
        """Return a column's values: floats if they are numbers, with nan for missing ones, and objects otherwise."""

    @abstractmethod
    def typical(self, categorical: set[int]) -> Self:
        """Return one row: the mean of each column of numbers, the most frequent value of all others."""

    def codes(self) -> NDArray[np.int32]:
        """Return a number for each cell, the same for equal values of a column; missing values are equal."""
        return np.stack([self.column_codes(j) for j in range(len(self.labels))], axis=1)

    def column_codes(self, j: int) -> NDArray[np.int32]:
        """Return a number for each cell of a column, without any rounding on the way."""
        return codes_of(self.column(j))


class ArrayTable(Table):
    """A two-dimensional numpy array."""

    @property
    def labels(self) -> list[Any]:
        return list(range(self.data.shape[1]))

    @property
    def row_bytes(self) -> int:
        return super().row_bytes if self.data.dtype.hasobject else int(self.data.itemsize * self.data.shape[1])

    def rows(self, index: NDArray[Any]) -> Self:
        return type(self)(self.data[index])

    def columns(self, index: Players) -> Self:
        return type(self)(self.data[:, index])

    def like(self, x: Any) -> Self:
        row = np.asarray(x)
        if row.size != self.data.shape[1] or row.ndim not in (1, 2):
            must_be = f"one row with the {self.data.shape[1]} columns of the background"
            refuse("x", got=f"an array of shape {row.shape}", must_be=must_be)
        return type(self)(row.reshape(1, -1))

    def over(self, other: Self) -> Self:
        return type(self)(np.concatenate([self.data, other.data]))

    def mix(self, row_of: NDArray[np.intp]) -> Any:
        return self.data[row_of, np.arange(self.data.shape[1])]

    def column(self, j: int) -> NDArray[Any]:
        return numbers_or_objects(self.data[:, j])

    def column_codes(self, j: int) -> NDArray[np.int32]:
        return codes_of(self.column(j) if self.data.dtype.hasobject else self.data[:, j])

    def typical(self, categorical: set[int]) -> Self:
        row = [
            typical_of(self.column(j), self.data.dtype, frequent=j in categorical) for j in range(self.data.shape[1])
        ]
        return type(self)(np.array([row], dtype=self.data.dtype))


class SparseTable(ArrayTable):
    """A scipy sparse matrix or array; its cells are never mixed."""

    def __init__(self, data: Any) -> None:
        super().__init__(data.tocsr())
