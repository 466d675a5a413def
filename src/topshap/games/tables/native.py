"""Operations on data frames that narwhals does not have, one branch per library.

- Its dtypes are common to all libraries and lack some details: the categories of a pandas categorical, the index type
  of an Arrow dictionary, the precision of a decimal, extension types. `cast_cells` and `categories_of` use the
  library's own dtypes, since models depend on them.
- It requires unique column names that are strings; pandas does not. pandas frames are passed to it under the names
  "0", "1", ... and get their labels back from `with_labels_of`.
- It gathers the index of a pandas column together with the values; `gather` avoids this, which halves the work.

This module imports only libraries that the user has already imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from topshap.games.tables.cells import is_missing, objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Players

_is_pandas_like = nw.dependencies.is_pandas_like_dataframe


def labels_of(data: Any) -> list[Any]:
    """Return the labels of the columns."""
    return list(data.column_names if nw.dependencies.is_pyarrow_table(data) else data.columns)


def with_plain_labels(data: Any) -> Any:
    """Return a shallow copy of a pandas frame with the column names "0", "1", ..., or any other frame unchanged."""
    return data.set_axis([str(j) for j in range(data.shape[1])], axis=1) if _is_pandas_like(data) else data


def with_labels_of(original: Any, data: Any, index: Players | None = None) -> Any:
    """Return a pandas frame with the labels of the original's columns at `index`, or any other frame unchanged."""
    if not _is_pandas_like(original):
        return data
    return data.set_axis(original.columns if index is None else original.columns[index], axis=1)


def stack(top: nw.DataFrame[Any], bottom: nw.DataFrame[Any], labels_from: Any) -> Any:
    """Return the rows of one frame above those of another, with the labels of a third."""
    data = nw.concat([top, bottom], how="vertical").to_native()
    if nw.dependencies.is_pandas_dataframe(data):
        return _pandas_frame(labels_from, [data.iloc[:, j].array for j in range(data.shape[1])])
    return with_labels_of(labels_from, _in_one_piece(data))


def gather(data: Any, columns: Sequence[nw.Series[Any]], rows: NDArray[np.intp]) -> Any:
    """Return a frame like `data` whose column j has the cells of ``columns[j]`` at the positions ``rows[j]``."""
    if nw.dependencies.is_pandas_dataframe(data):
        arrays = [column.to_native().array.take(taken) for column, taken in zip(columns, rows, strict=True)]
        return _pandas_frame(data, arrays)
    first, *others = (column[taken] for column, taken in zip(columns, rows, strict=True))
    frame = nw.maybe_reset_index(first.to_frame().with_columns(*others))
    return with_labels_of(data, frame.to_native())


def _pandas_frame(like: Any, arrays: list[Any]) -> Any:
    frame = type(like)(dict(enumerate(arrays)), copy=False)
    frame.columns = like.columns
    return frame


def common_dtype(data: Any) -> np.dtype[Any] | None:
    """Return the dtype of a pandas frame whose columns all have the same numeric NumPy dtype, otherwise None."""
    if not nw.dependencies.is_pandas_dataframe(data):
        return None
    dtypes = set(data.dtypes)
    dtype = dtypes.pop()
    return dtype if not dtypes and isinstance(dtype, np.dtype) and dtype.kind in "biuf" else None


def frame_of_array(like: Any, values: NDArray[Any]) -> Any:
    """Return an array as a pandas frame with the labels of another frame, without a copy."""
    return type(like)(values, columns=like.columns, copy=False)


def frame_of_floats(like: Any, values: NDArray[np.float64]) -> Any:
    """Return numbers as a frame of the same library with the labels of another frame."""
    if nw.dependencies.is_pandas_dataframe(like):
        return frame_of_array(like, values)
    names = [str(j) for j in range(values.shape[1])] if _is_pandas_like(like) else labels_of(like)
    backend = nw.get_native_namespace(like)
    return with_labels_of(like, nw.from_numpy(values, schema=names, backend=backend).to_native())


def nullable(data: Any) -> Any:
    """Return a frame whose columns can hold missing values: integers and bools of NumPy become floats."""
    if not nw.dependencies.is_pandas_dataframe(data):
        return data  # other libraries have missing values in columns of any dtype
    plain = [isinstance(dtype, np.dtype) and dtype.kind in "biu" for dtype in data.dtypes]
    columns = [data.iloc[:, j].astype(np.float64) if whole else data.iloc[:, j] for j, whole in enumerate(plain)]
    arrays = [column.array for column in columns]
    return _pandas_frame(data, arrays) if any(plain) else data


def _in_one_piece(data: Any) -> Any:
    """Return a frame with its rows in a single chunk, which makes gathering faster."""
    if nw.dependencies.is_pyarrow_table(data):
        return data.combine_chunks()
    return data.rechunk() if nw.dependencies.is_polars_dataframe(data) else data


def kind_of(column: nw.Series[Any]) -> str:
    """Return numpy's letter for the kind of a dtype: b, i, u or f, d for decimals, O for all others.

    Bools are numbers in pandas only.
    """
    if nw.dependencies.is_pandas_like_series(column.to_native()):
        kind = getattr(column.to_native().dtype, "kind", "O")
        return kind if kind in ("b", "i", "u", "f") else "O"
    dtype = column.dtype
    if dtype.is_integer():
        return "i"
    return "f" if dtype.is_float() else "d" if dtype.is_numeric() else "O"


def values_of(column: nw.Series[Any]) -> NDArray[Any]:
    """Return a numeric column as floats, with nan for missing values, or any other column as objects."""
    if kind_of(column) == "O":
        return objects(column.to_list())
    values = column.to_numpy()
    if values.dtype == object:  # decimals, or bools with missing values
        values = np.array([np.nan if is_missing(cell) else float(cell) for cell in column.to_list()])
    return np.asarray(values, dtype=np.float64)


def dtype_of(column: nw.Series[Any]) -> Any:
    """Return the library's own dtype."""
    data = column.to_native()
    return data.type if nw.dependencies.is_pyarrow_chunked_array(data) else data.dtype


def same_dtype(one: nw.Series[Any], other: nw.Series[Any]) -> bool:
    """Return whether two columns of the same library have the same dtype, with the same categories."""
    return bool(dtype_of(one) == dtype_of(other))


def categories_of(column: nw.Series[Any]) -> list[Any] | None:
    """Return the values that the dtype of a column allows, or None if there is no restriction."""
    if nw.dependencies.is_pandas_like_series(column.to_native()):
        categories = getattr(dtype_of(column), "categories", None)
        return None if categories is None else list(categories)
    return list(column.dtype.categories) if isinstance(column.dtype, nw.Enum) else None


def cast_cells(cells: list[Any], column: nw.Series[Any]) -> nw.Series[Any]:
    """Return a column of these cells with the name and exact dtype of another column."""
    data, dtype = column.to_native(), dtype_of(column)
    if nw.dependencies.is_pandas_like_series(data):
        made = type(data)(cells, dtype="object").astype(dtype)
    else:
        known = [None if is_missing(cell) else cell.item() if isinstance(cell, np.generic) else cell for cell in cells]
        arrow = nw.dependencies.is_pyarrow_chunked_array(data)
        made = _pyarrow_cells(known, dtype) if arrow else type(data)(known).cast(dtype)
    return nw.from_native(made, series_only=True).alias(column.name)


def _pyarrow_cells(cells: list[Any], dtype: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - already imported by the user

    try:
        array = pa.array(cells).cast(dtype)  # raises an error where a direct conversion would truncate digits
    except OverflowError:  # an integer above 2**63 - 1
        array = pa.array(cells, type=dtype)
    return pa.chunked_array([array])
