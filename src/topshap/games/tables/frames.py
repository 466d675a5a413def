"""Tables of any kind, numpy, pandas, polars or sparse, behind one face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_names, refuse
from topshap.games.tables.dataframes import PandasTable, PolarsTable
from topshap.games.tables.tabular import ArrayTable, SparseTable, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def as_table(name: str, data: Any) -> Table:
    """Return a table of any kind behind one face; what is no table, or has no rows or columns, is refused.

    Examples
    --------
    >>> as_table("X", [[1.0, 2.0], [3.0, 4.0]]).labels
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
        table = ArrayTable(_two_dimensional(name, data))
    if 0 in table.data.shape:
        must_be = "a table with at least one row and one column"
        refuse(name, got=f"a {type(data).__name__} of shape {table.data.shape}", must_be=must_be)
    return table


def column_labels(table: Table, feature_names: Sequence[str] | None) -> list[Any]:
    """Return what the columns are called: the names that are given, else the table's own."""
    return table.labels if feature_names is None else list(check_names(feature_names, len(table.labels)) or ())


def _two_dimensional(name: str, data: Any) -> NDArray[Any]:
    try:
        array = np.asarray(data)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.ndim != 2:
        must_be = "a table: a pandas or polars DataFrame or an array with two dimensions"
        refuse(name, got=f"a {type(data).__name__} of shape {array.shape}", must_be=must_be)
    return array
