"""The interface of tables: the operations that games need.

A table keeps its type: a model gets an object of the user's library, with the user's columns and dtypes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from topshap.core.typing import Players


class Table(ABC):
    """A table with rows and named columns; `data` is the user's object or one of the same type."""

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    @abstractmethod
    def labels(self) -> list[Any]:
        """The labels of the columns, or their positions if they have no labels."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.data.shape[0])

    @property
    def row_bytes(self) -> int:
        """The approximate memory of a row; cells that are not numbers are counted as short strings."""
        return 64 * len(self.labels)

    @abstractmethod
    def rows(self, index: NDArray[Any]) -> Self:
        """Return a table of these rows, given as positions or as a bool mask."""

    @abstractmethod
    def columns(self, index: Players) -> Self:
        """Return a table of the columns at these positions."""

    @abstractmethod
    def like(self, x: Any) -> Self:
        """Return one row, given in any form, as a table with the columns and dtypes of this table."""

    @abstractmethod
    def all_like(self, X: Any) -> Self:
        """Return rows, given in any form, as a table with the columns and dtypes of this table."""

    @abstractmethod
    def over(self, other: Self) -> Self:
        """Return the rows of this table above those of another table with the same columns and dtypes."""

    @abstractmethod
    def mix(self, row_of: NDArray[np.intp]) -> Any:
        """Return data of the user's type whose cell (r, j) is this table's cell (row_of[r, j], j)."""

    def sources(self) -> NDArray[Any]:
        """Return an array of the table's shape; `assembled` makes rows from cells of its columns.

        By default, each cell is the position of its row; a table whose values fit into one array returns the values.
        """
        return np.repeat(np.arange(self.n_rows)[:, None], len(self.labels), axis=1)

    def assembled(self, cells: NDArray[Any]) -> Any:
        """Return data of the user's type with one row for each row of `cells`, whose columns are cells of `sources`."""
        return self.mix(cells)

    @abstractmethod
    def of_floats(self, values: NDArray[np.float64]) -> Any:
        """Return numbers as data of the user's type with the columns of this table."""

    @abstractmethod
    def nullable(self) -> Self:
        """Return the table with columns that can hold missing values: integers and bools become floats if necessary."""

    def sample(self, at_most: int, random_state: int | np.random.Generator) -> Self:
        """Return a random sample of the rows without replacement, in the order of the table.

        Parameters
        ----------
        at_most
            The number of rows; a table with no more rows is returned as it is.
        random_state
            A seed, which always gives the same rows, or a generator.

        Examples
        --------
        >>> from topshap.games.tables import as_table
        >>> as_table("X", [[0.0], [1.0], [2.0], [3.0]]).sample(2, random_state=0).data.tolist()
        [[2.0], [3.0]]
        """
        if self.n_rows <= at_most:
            return self
        chosen = np.random.default_rng(random_state).choice(self.n_rows, size=at_most, replace=False)
        return self.rows(np.sort(chosen))

    @abstractmethod
    def column(self, j: int) -> NDArray[Any]:
        """Return a numeric column as floats, with nan for missing values, or any other column as objects."""

    def cells(self, row: int = 0) -> list[Any]:
        """Return the cells of a row as Python objects."""
        return [self.column(j)[row] for j in range(len(self.labels))]

    @abstractmethod
    def column_codes(self, j: int) -> NDArray[np.int32]:
        """Return an integer for each cell of a column; equal values, and all missing values, have the same integer."""

    @abstractmethod
    def typical(self, categorical: set[int]) -> Self:
        """Return one row: the mean of each numeric column, the most frequent value of all others."""

    def codes(self) -> NDArray[np.int32]:
        """Return `column_codes` of all columns, as an array of the table's shape."""
        return np.stack([self.column_codes(j) for j in range(len(self.labels))], axis=1)
