"""Functions of the values of one column: missing values, codes and typical values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_missing(cell: Any) -> bool:
    """Return whether a cell is a missing value: None, nan, or pandas' NA or NaT.

    Examples
    --------
    >>> [is_missing(cell) for cell in (None, float("nan"), 0.0, "")]
    [True, True, False, False]
    """
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)  # noqa: PLR0124 - nan differs from itself


def objects(values: list[Any]) -> NDArray[Any]:
    """Return a list as a one-dimensional array of objects.

    Examples
    --------
    >>> objects([[1, 2], [3, 4]]).shape
    (2,)
    """
    return np.fromiter(values, dtype=object, count=len(values))


def codes_of(values: NDArray[Any]) -> NDArray[np.int32]:
    """Return an integer for each cell; equal values, and all missing values, have the same integer.

    Examples
    --------
    >>> codes_of(objects(["b", None, "a", "b", float("nan")]))
    array([0, 1, 2, 0, 1], dtype=int32)
    """
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1].astype(np.int32)
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(None if is_missing(cell) else cell, len(seen)) for cell in values], dtype=np.int32)


def number_codes(numbers: NDArray[Any]) -> NDArray[np.int32]:
    """Return `codes_of` for each column of a numeric array, in a few operations on the whole array.

    Examples
    --------
    >>> number_codes(np.array([[5.0, np.nan], [3.0, 0.0], [5.0, np.nan]]))
    array([[1, 1],
           [0, 0],
           [1, 1]], dtype=int32)
    """
    order = np.argsort(numbers, axis=0)
    ordered = np.take_along_axis(numbers, order, axis=0)
    lower, upper = ordered[:-1], ordered[1:]
    both_missing = (lower != lower) & (upper != upper)  # noqa: PLR0124 - nan differs from itself
    ranks = np.zeros(numbers.shape, dtype=np.int32)
    np.cumsum((lower != upper) & ~both_missing, axis=0, out=ranks[1:])
    codes = np.empty_like(ranks)
    np.put_along_axis(codes, order, ranks, axis=0)
    return codes


def ordinal_codes(values: NDArray[Any]) -> NDArray[np.float64]:
    """Convert a column to numbers: numbers are unchanged, others become their rank, and missing values become nan.

    Examples
    --------
    >>> ordinal_codes(objects(["b", None, "a", "b"]))
    array([ 1., nan,  0.,  1.])
    """
    if values.dtype != object:
        return values
    known = {cell for cell in values.tolist() if not is_missing(cell)}
    rank = {cell: float(i) for i, cell in enumerate(sorted(known, key=_by_type_and_value))}
    return np.array([np.nan if is_missing(cell) else rank[cell] for cell in values.tolist()])


def typical_of(values: NDArray[Any], *, whole: bool, frequent: bool) -> Any:
    """Return the mean of a numeric column, rounded if `whole`, or the most frequent value of any other column.

    Ties go to the smallest value. Missing values are ignored, unless the column has no other values.

    Examples
    --------
    >>> typical_of(np.array([1.0, 2.0, np.nan, 4.0]), whole=True, frequent=False)
    2
    >>> typical_of(objects(["b", "a", "b", None]), whole=False, frequent=False)
    'b'
    """
    if values.dtype != object and not frequent:
        known = values[~np.isnan(values)]
        mean = known.mean() if len(known) else np.nan
        return round(mean) if whole and len(known) else mean
    counts: dict[Any, int] = {}
    for cell in values.tolist():
        if not is_missing(cell):
            counts[cell] = counts.get(cell, 0) + 1
    if not counts:
        return np.nan if values.dtype != object else None
    most = max(counts.values())
    return min((cell for cell in counts if counts[cell] == most), key=_by_type_and_value)


def _by_type_and_value(cell: Any) -> tuple[str, Any]:
    return type(cell).__name__, cell
