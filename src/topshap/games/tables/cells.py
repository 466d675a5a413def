"""Single rows and single columns of tables: their cells in order, what is missing, what is typical."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import ParameterError
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cells_of(x: Any, labels: list[Any]) -> list[Any]:
    """Return the cells of one row in the order of the labels, whether it is a frame, a series, a dict or an array."""
    if hasattr(x, "iloc"):
        if not hasattr(x, "columns"):
            x = dict(x.items())
        else:  # cell by cell, since a row of different dtypes as a whole would have one for all
            x = {label: x.iloc[0, j] for j, label in enumerate(x.columns)} if len(x) == 1 else {}
    elif hasattr(x, "to_dicts"):
        x = x.to_dicts()[0] if len(x) == 1 else {}
    if isinstance(x, Mapping):
        missing = [label for label in labels if label not in x]
        extra = [label for label in x if label not in labels]
        if missing or extra:
            differ = (
                f"without {missing}" * bool(missing) + " and " * bool(missing and extra) + f"with {extra}" * bool(extra)
            )
            must_be = "one row with the same columns as the background"
            refuse("x", got=f"one {differ}" if x else "another number of rows", must_be=must_be)
        return [x[label] for label in labels]
    cells = np.asarray(x, dtype=object)
    if cells.size != len(labels):
        must_be = f"one row with the {len(labels)} columns of the background"
        refuse("x", got=f"an array of shape {cells.shape}", must_be=must_be)
    return cells.ravel().tolist()


def refuse_category(label: Any, cell: Any, categories: list[Any]) -> None:
    """Say that x has a category that the background does not know."""
    must_be = f"made of known categories, and column {label!r} has {categories}"
    refuse("x", cell, must_be=must_be)


def refuse_cell(label: Any, cell: Any, dtype: Any, *, error: Exception) -> Any:
    """Say that a value of x is not of the dtype its column has."""
    complaint = f"must have values of the background's dtypes, and column {label!r} has {dtype}. Got {cell!r} instead."
    raise ParameterError.about("x", complaint) from error


def is_missing(cell: Any) -> bool:
    """Return whether a cell has no value: None, nan, or what pandas has for it."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)  # noqa: PLR0124 - nan is not itself


def numbers_or_objects(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array as floats if it has numbers, else as objects."""
    return values.astype(np.float64) if values.dtype.kind in "biuf" else objects(values.tolist())


def objects(values: list[Any]) -> NDArray[Any]:
    """Return a list as an array of objects, whatever these are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def codes_of(values: NDArray[Any]) -> NDArray[np.int32]:
    """Return a number for each cell, the same for equal ones."""
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1].astype(np.int32)
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(None if is_missing(cell) else cell, len(seen)) for cell in values], dtype=np.int32)


def ordinal_codes(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column as numbers: others by their place in the order of all values, missing ones as nan."""
    if values.dtype != object:
        return values
    known = {cell for cell in values.tolist() if not is_missing(cell)}
    place = {cell: float(i) for i, cell in enumerate(sorted(known, key=_by_type_and_value))}
    return np.array([np.nan if is_missing(cell) else place[cell] for cell in values.tolist()])


def typical_of(values: NDArray[Any], dtype: Any, *, frequent: bool) -> Any:
    """Return the mean of numbers, rounded if the dtype is of whole ones; else the most frequent, the least on ties."""
    if values.dtype != object and not frequent:
        known = values[~np.isnan(values)]
        mean = known.mean() if len(known) else np.nan
        return round(mean) if dtype.kind in "iu" else mean
    known = [cell for cell in values.tolist() if not is_missing(cell)]
    if not known:
        return np.nan if values.dtype != object else None
    count: dict[Any, int] = {}
    for cell in known:
        count[cell] = count.get(cell, 0) + 1
    most = max(count.values())
    return min((cell for cell in count if count[cell] == most), key=_by_type_and_value)


def _by_type_and_value(cell: Any) -> tuple[str, Any]:
    return type(cell).__name__, cell
