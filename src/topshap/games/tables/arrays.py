"""NumPy arrays and SciPy sparse matrices as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.games.tables.base import Table
from topshap.games.tables.cells import codes_of, number_codes, objects, typical_of

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from topshap.core.typing import Players


class ArrayTable(Table):
    """A two-dimensional NumPy array."""

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

    def all_like(self, X: Any) -> Self:
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.data.shape[1]:
            must_be = f"rows with the {self.data.shape[1]} columns of the background"
            refuse("X", got=f"an array of shape {rows.shape}", must_be=must_be)
        return type(self)(rows)

    def over(self, other: Self) -> Self:
        return type(self)(np.concatenate([self.data, other.data]))

    def mix(self, row_of: NDArray[np.intp]) -> Any:
        return self.data[row_of, np.arange(self.data.shape[1])]

    def sources(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.data)

    def assembled(self, cells: NDArray[Any]) -> Any:
        return cells

    def of_floats(self, values: NDArray[np.float64]) -> Any:
        return values.astype(self.data.dtype, copy=False) if self.data.dtype.kind == "f" else values

    def nullable(self) -> Self:
        kind = self.data.dtype.kind
        if kind in ("f", "O"):
            return self
        return type(self)(self.data.astype(np.float64 if kind in "biu" else object))

    def column(self, j: int) -> NDArray[Any]:
        values = self.data[:, j]
        return values.astype(np.float64) if values.dtype.kind in "biuf" else objects(values.tolist())

    def cells(self, row: int = 0) -> list[Any]:
        return list(self.data[row].tolist())

    def column_codes(self, j: int) -> NDArray[np.int32]:
        return codes_of(self.column(j) if self.data.dtype.hasobject else self.data[:, j])

    def codes(self) -> NDArray[np.int32]:
        return number_codes(self.data) if self.data.dtype.kind in "biuf" else super().codes()

    def typical(self, categorical: set[int]) -> Self:
        whole = self.data.dtype.kind in "iu"
        row = [typical_of(self.column(j), whole=whole, frequent=j in categorical) for j in range(self.data.shape[1])]
        return type(self)(np.array([row], dtype=self.data.dtype))


class SparseTable(ArrayTable):
    """A SciPy sparse matrix or array, which supports only the selection of rows and columns."""

    def __init__(self, data: Any) -> None:
        super().__init__(data.tocsr())
