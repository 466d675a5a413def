"""Tables of any kind, numpy, pandas, polars or sparse, behind the few things that games do with them.

A table keeps its kind: what a model gets has the columns and dtypes that the user's table has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap._validation import Words, check_names, refuse
from topshap.games.cells import (
    cells_of,
    codes_of,
    is_missing,
    numbers_or_objects,
    objects,
    refuse_category,
    refuse_cell,
    typical_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from topshap.typing import Players


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
    def like(self, x: Any, *, owner: str) -> Self:
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
        """Return a number for each cell of a column."""
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

    def like(self, x: Any, *, owner: str) -> Self:
        row = np.asarray(x)
        if row.size != self.data.shape[1] or row.ndim not in (1, 2):
            must_be = f"one row with the {self.data.shape[1]} columns of the background"
            refuse("x", Words(f"an array of shape {row.shape}"), owner=owner, must_be=must_be)
        return type(self)(row.reshape(1, -1))

    def over(self, other: Self) -> Self:
        return type(self)(np.concatenate([self.data, other.data]))

    def mix(self, row_of: NDArray[np.intp]) -> Any:
        return self.data[row_of, np.arange(self.data.shape[1])]

    def column(self, j: int) -> NDArray[Any]:
        return numbers_or_objects(self.data[:, j])

    def typical(self, categorical: set[int]) -> Self:
        row = [
            typical_of(self.column(j), self.data.dtype, frequent=j in categorical) for j in range(self.data.shape[1])
        ]
        return type(self)(np.array([row], dtype=self.data.dtype))


class SparseTable(ArrayTable):
    """A scipy sparse matrix or array; its cells are never mixed."""

    def __init__(self, data: Any) -> None:
        super().__init__(data.tocsr())


class PandasTable(Table):
    """A pandas DataFrame."""

    @property
    def labels(self) -> list[Any]:
        return list(self.data.columns)

    def rows(self, index: NDArray[Any]) -> Self:
        return type(self)(self.data.iloc[index])

    def columns(self, index: Players) -> Self:
        return type(self)(self.data.iloc[:, index])

    def like(self, x: Any, *, owner: str) -> Self:
        cells = cells_of(x, self.labels, owner=owner)
        row = self.data.iloc[[0]].copy()
        for j, (label, cell) in enumerate(zip(self.labels, cells, strict=True)):
            dtype = self.data.dtypes.iloc[j]
            categories = getattr(dtype, "categories", None)
            if categories is not None and not is_missing(cell) and cell not in set(categories):
                refuse_category(label, cell, list(categories), owner=owner)
            row.isetitem(j, self._column_of(cell, label, dtype, owner=owner))
        return type(self)(row.reset_index(drop=True))

    def _column_of(self, cell: Any, label: Any, dtype: Any, *, owner: str) -> Any:
        try:
            return type(self.data.iloc[:, 0])([cell], dtype="object", index=self.data.index[:1]).astype(dtype)
        except (TypeError, ValueError) as error:
            refuse_cell(label, cell, dtype, owner=owner, error=error)

    def over(self, other: Self) -> Self:
        positions = np.concatenate([np.zeros(self.n_rows, dtype=np.intp), np.arange(other.n_rows)])
        both = other.data.iloc[positions].reset_index(drop=True)
        for j in range(both.shape[1]):
            cells = both.iloc[:, j].array.copy()
            cells[: self.n_rows] = self.data.iloc[:, j].array
            both.isetitem(j, cells)
        return type(self)(both)

    def mix(self, row_of: NDArray[np.intp]) -> Any:
        mixed = {j: self.data.iloc[:, j].array.take(row_of[:, j]) for j in range(row_of.shape[1])}
        frame = type(self.data)(mixed, copy=False)
        frame.columns = self.data.columns
        return frame

    def column(self, j: int) -> NDArray[Any]:
        series = self.data.iloc[:, j]
        if series.dtype.kind in "biuf":
            return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(series.astype(object).to_numpy())

    def typical(self, categorical: set[int]) -> Self:
        row = self.data.iloc[[0]].copy()
        for j, dtype in enumerate(self.data.dtypes):
            frequent = j in categorical or dtype.kind == "b"
            cell = typical_of(self.column(j), dtype, frequent=frequent)
            row.isetitem(j, self._column_of(cell, self.labels[j], dtype, owner="PredictionGame"))
        return type(self)(row.reset_index(drop=True))


class PolarsTable(Table):
    """A polars DataFrame."""

    @property
    def labels(self) -> list[Any]:
        return list(self.data.columns)

    def rows(self, index: NDArray[Any]) -> Self:
        index = np.flatnonzero(index) if index.dtype == np.bool_ else index
        return type(self)(self.data[index])

    def columns(self, index: Players) -> Self:
        return type(self)(self.data[:, index.tolist()])

    def like(self, x: Any, *, owner: str) -> Self:
        cells = cells_of(x, self.labels, owner=owner)
        return type(self)(self._frame(cells, owner=owner))

    def _frame(self, cells: Sequence[Any], *, owner: str) -> Any:
        Series = type(self.data.to_series(0))
        columns = []
        for (label, dtype), cell in zip(self.data.schema.items(), cells, strict=True):
            known = None if is_missing(cell) else cell
            categories = getattr(dtype, "categories", None)  # of an Enum
            if categories is not None and known is not None and hasattr(categories, "to_list"):
                allowed = categories.to_list()
                if known not in allowed:
                    refuse_category(label, known, allowed, owner=owner)
            try:
                columns.append(Series(label, [known.item() if isinstance(known, np.generic) else known]).cast(dtype))
            except Exception as error:  # noqa: BLE001 - polars' own errors, without importing it
                refuse_cell(label, cell, dtype, owner=owner, error=error)
        return type(self.data)(columns)

    def over(self, other: Self) -> Self:
        return type(self)(self.data.vstack(other.data))

    def mix(self, row_of: NDArray[np.intp]) -> Any:
        columns = self.data.get_columns()
        return type(self.data)([column.gather(row_of[:, j]) for j, column in enumerate(columns)])

    def column(self, j: int) -> NDArray[Any]:
        series = self.data.to_series(j)
        if series.dtype.is_numeric():
            return np.array([np.nan if cell is None else float(cell) for cell in series.to_list()])
        return objects(series.to_list())

    def typical(self, categorical: set[int]) -> Self:
        cells = []
        for j, dtype in enumerate(self.data.dtypes):
            as_numpy = np.dtype(np.int64) if dtype.is_integer() else np.dtype(np.float64)
            cells.append(typical_of(self.column(j), as_numpy, frequent=j in categorical))
        return type(self)(self._frame(cells, owner="PredictionGame"))


def as_table(name: str, data: Any, *, owner: str) -> Table:
    """Return a table of any kind behind one face; what is no table, or has no rows or columns, is refused.

    Examples
    --------
    >>> as_table("X", [[1.0, 2.0], [3.0, 4.0]], owner="RetrainingGame").labels
    [0, 1]
    """
    package = type(data).__module__.partition(".")[0]
    is_frame = type(data).__name__ == "DataFrame"
    if package == "pandas" and is_frame:
        table: Table = PandasTable(data)
    elif package == "polars" and is_frame:
        table = PolarsTable(data)
    elif package == "scipy" and hasattr(data, "tocsr"):
        table = SparseTable(data)
    else:
        table = ArrayTable(_two_dimensional(name, data, owner=owner))
    if 0 in table.data.shape:
        must_be = "a table with at least one row and one column"
        refuse(name, Words(f"a {type(data).__name__} of shape {table.data.shape}"), owner=owner, must_be=must_be)
    return table


def column_labels(table: Table, feature_names: Sequence[str] | None, *, owner: str) -> list[Any]:
    """Return what the columns are called: the names that are given, else the table's own."""
    return (
        table.labels
        if feature_names is None
        else list(check_names(feature_names, len(table.labels), owner=owner) or ())
    )


def _two_dimensional(name: str, data: Any, *, owner: str) -> NDArray[Any]:
    try:
        array = np.asarray(data)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.ndim != 2:
        must_be = "a table: a pandas or polars DataFrame or an array with two dimensions"
        refuse(name, Words(f"a {type(data).__name__} of shape {array.shape}"), owner=owner, must_be=must_be)
    return array
