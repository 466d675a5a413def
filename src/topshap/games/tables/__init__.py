"""Tables of named columns behind one interface: numpy arrays, sparse matrices and data frames.

Data frames of pandas, Polars, PyArrow and every other eager library that narwhals supports need the extra
``topshap[frames]``; arrays need numpy only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import check_names, refuse
from topshap.games.tables.arrays import ArrayTable, SparseTable
from topshap.games.tables.base import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["SparseTable", "Table", "as_table", "column_labels", "dense_table"]


def as_table(name: str, data: Any) -> Table:
    """Return an array, a sparse matrix or a data frame as a table with at least one row and one column.

    Parameters
    ----------
    name
        The name of the parameter, for messages.
    data
        The data.

    Examples
    --------
    >>> as_table("X", [[1.0, 2.0], [3.0, 4.0]]).labels
    [0, 1]
    """
    if type(data).__module__.partition(".")[0] == "scipy" and hasattr(data, "tocsr"):
        table: Table = SparseTable(data)
    else:
        table = _frame_table(data) or ArrayTable(_two_dimensional(name, data))
    if 0 in table.data.shape:
        must_be = "a table with at least one row and one column"
        refuse(name, got=f"a {type(data).__name__} of shape {table.data.shape}", must_be=must_be)
    return table


def dense_table(name: str, data: Any) -> Table:
    """Return an array or a data frame as a table; raise an error for a sparse matrix."""
    table = as_table(name, data)
    if isinstance(table, SparseTable):
        refuse(name, got="a sparse matrix", must_be="a dense array: call its method toarray()")
    return table


def column_labels(table: Table, feature_names: Sequence[str] | None) -> list[Any]:
    """Return the names of the columns: `feature_names` if given, otherwise the labels of the table."""
    return table.labels if feature_names is None else list(check_names(feature_names, len(table.labels)) or ())


def _frame_table(data: Any) -> Table | None:
    """Return a data frame as a table, or None if `data` is not a data frame."""
    kind = type(data)  # checked on the class, since a lazy frame would have to compute its columns
    if not (hasattr(kind, "columns") and hasattr(kind, "shape")):
        return None
    library = kind.__module__.partition(".")[0]
    narwhals = import_extra("narwhals.stable.v2", extra="frames", needed_by=f"a {kind.__name__} of {library}")
    if not narwhals.dependencies.is_into_dataframe(data):  # an unsupported library, or not in memory
        return None
    from topshap.games.tables.frames import FrameTable  # noqa: PLC0415 - needs the extra

    return FrameTable(narwhals.to_native(data, pass_through=True))


def _two_dimensional(name: str, data: Any) -> NDArray[Any]:
    try:
        array = np.asarray(data)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.ndim != 2:
        must_be = "a table: a data frame (pandas, Polars, PyArrow, ...) or an array with two dimensions"
        refuse(name, got=f"a {type(data).__name__} of shape {array.shape}", must_be=must_be)
    return array
