"""Frames of pandas and polars as tables, with their dtypes kept; neither library is imported here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.games.tables.cells import cells_of, codes_of, is_missing, objects, refuse_category, refuse_cell, typical_of
from topshap.games.tables.tabular import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from topshap.core.typing import Players


class PandasTable(Table):
    """A pandas DataFrame."""

    @property
    def labels(self) -> list[Any]:
        return list(self.data.columns)

    def rows(self, index: NDArray[Any]) -> Self:
        return type(self)(self.data.iloc[index])

    def columns(self, index: Players) -> Self:
        return type(self)(self.data.iloc[:, index])

    def like(self, x: Any) -> Self:
        cells = cells_of(x, self.labels)
        row = self.data.iloc[[0]].copy()
        for j, (label, cell) in enumerate(zip(self.labels, cells, strict=True)):
            dtype = self.data.dtypes.iloc[j]
            categories = getattr(dtype, "categories", None)
            if categories is not None and not is_missing(cell) and cell not in set(categories):
                refuse_category(label, cell, list(categories))
            row.isetitem(j, self._column_of(cell, label, dtype))
        return type(self)(row.reset_index(drop=True))

    def _column_of(self, cell: Any, label: Any, dtype: Any) -> Any:
        try:
            return type(self.data.iloc[:, 0])([cell], dtype="object", index=self.data.index[:1]).astype(dtype)
        except (TypeError, ValueError) as error:
            refuse_cell(label, cell, dtype, error=error)

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

    def column_codes(self, j: int) -> NDArray[np.int32]:
        series = self.data.iloc[:, j]
        return codes_of(self.column(j) if series.dtype.kind == "f" else series.astype(object).to_numpy())

    def typical(self, categorical: set[int]) -> Self:
        row = self.data.iloc[[0]].copy()
        for j, dtype in enumerate(self.data.dtypes):
            frequent = j in categorical or dtype.kind == "b"
            cell = typical_of(self.column(j), dtype, frequent=frequent)
            row.isetitem(j, self._column_of(cell, self.labels[j], dtype))
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

    def like(self, x: Any) -> Self:
        cells = cells_of(x, self.labels)
        return type(self)(self._frame(cells))

    def _frame(self, cells: Sequence[Any]) -> Any:
        Series = type(self.data.to_series(0))
        columns = []
        for (label, dtype), cell in zip(self.data.schema.items(), cells, strict=True):
            known = None if is_missing(cell) else cell
            categories = getattr(dtype, "categories", None)  # of an Enum
            if categories is not None and known is not None and hasattr(categories, "to_list"):
                allowed = categories.to_list()
                if known not in allowed:
                    refuse_category(label, known, allowed)
            try:
                columns.append(Series(label, [known.item() if isinstance(known, np.generic) else known]).cast(dtype))
            except Exception as error:  # noqa: BLE001 - polars' own errors, without importing it
                refuse_cell(label, cell, dtype, error=error)
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

    def column_codes(self, j: int) -> NDArray[np.int32]:
        return codes_of(self.column(j) if self.data.dtypes[j].is_float() else objects(self.data.to_series(j).to_list()))

    def typical(self, categorical: set[int]) -> Self:
        cells = []
        for j, dtype in enumerate(self.data.dtypes):
            as_numpy = np.dtype(np.int64) if dtype.is_integer() else np.dtype(np.float64)
            cells.append(typical_of(self.column(j), as_numpy, frequent=j in categorical))
        return type(self)(self._frame(cells))
