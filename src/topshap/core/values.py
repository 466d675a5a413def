"""Checks of a game's answer: one finite number per coalition, or one per coalition and output."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import names_of
from topshap.core.errors import AnswerShapeError, GameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values

LARGEST_VALUE = 1e300
"""The largest absolute value of a coalition: sums of many such values, and intervals around them, are still finite."""


def check_values(
    values: Any,
    coalitions: Coalitions,
    player_names: tuple[str, ...] | None = None,
    n_outputs: int | None = None,
) -> Values:
    """Return a game's answer as floats, one per coalition, or a row of them per coalition if it has several outputs.

    A value that is missing or invalid is a `GameError`. A single number is accepted for a single coalition, and so are
    tensors that require gradients.

    Parameters
    ----------
    values
        The answer: m numbers, or an array of shape (m, R) for R outputs. A column, of shape (m, 1), is more often a
        mistake than a game with one output, and is accepted only if `n_outputs` says so.
    coalitions
        The m coalitions.
    player_names
        The names of the players, for messages.
    n_outputs
        The number of outputs that the game declares, None if it declares none.

    Examples
    --------
    >>> check_values([[1, 2, 3], [4, 5, 6]], np.array([[True, False], [True, True]]))
    array([[1., 2., 3.],
           [4., 5., 6.]])
    >>> check_values([1.0, float("nan")], np.array([[True, False], [True, True]]), ("age", "bmi"))
    Traceback (most recent call last):
    ...
    topshap.core.errors.GameError: The value of a coalition must be a finite number. Got nan for {age, bmi} instead.
    """
    array = _to_array(values)
    if array.ndim == 0 and len(coalitions) == 1 and array.dtype.kind in "biuf":
        array = array.reshape(1)  # the value of the only coalition
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise GameError(
            "A game must return a number for every coalition. Got a masked array with masked values instead."
        )
    if not _fits(array.shape, len(coalitions), n_outputs):
        raise GameError(
            f"A game must return {_shapes(len(coalitions), n_outputs)}. "
            f"Got {_kind(values, array)} of shape {array.shape} instead, for {_whom(coalitions, player_names)}."
            + _for_one_at_a_time(array)
        )
    if array.dtype.kind not in "biuf":
        first = array.reshape(-1)[0] if array.size else None
        raise GameError(
            f"A game must return real numbers. Got {_kind(values, array)} of dtype {array.dtype} instead, "
            f"{short_repr(first)} for {names_of(coalitions[0], player_names)}."
        )
    # In one layout, so that results do not depend on it; -0.0 becomes 0.0, since a store does not keep its sign.
    numbers = np.add(array, 0.0, dtype=np.float64, order="C")
    usable = np.abs(numbers) <= LARGEST_VALUE  # False for nan
    if not np.logical_and.reduce(usable, axis=None):
        number, which = _first(numbers, ~usable, coalitions, player_names)
        within = f" in [-{LARGEST_VALUE:g}, {LARGEST_VALUE:g}]" if math.isfinite(number) else ""
        raise GameError(f"The value of a coalition must be a finite number{within}. Got {number} for {which} instead.")
    return numbers


def is_missing(values: Values) -> NDArray[np.bool_]:
    """Return which coalitions have no value: nan, or a row of nan in a game with several outputs.

    Examples
    --------
    >>> is_missing(np.array([1.0, np.nan])), is_missing(np.array([[1.0, 2.0], [np.nan, np.nan]]))
    (array([False,  True]), array([False,  True]))
    """
    return np.isnan(values if values.ndim == 1 else values[:, 0])


def put_values(values: Values, rows: Any, new: Values) -> Values:
    """Put new values into some rows of an array, and return it; nan stands for values that are missing.

    If all values of the array are missing, it is replaced by one for the number of outputs of the new values. An
    answer with another number of outputs than before is an `AnswerShapeError`.

    Examples
    --------
    >>> put_values(np.full(3, np.nan), slice(1, 3), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[nan, nan],
           [ 1.,  2.],
           [ 3.,  4.]])
    """
    if new.shape[1:] != values.shape[1:]:
        if np.isnan(new).all():
            new = np.full((len(new), *values.shape[1:]), np.nan)
        elif np.isnan(values).all():
            values = np.full((len(values), *new.shape[1:]), np.nan)
        else:
            raise other_outputs(values.shape[1:], new.shape[1:])
    values[rows] = new
    return values


def other_outputs(before: tuple[int, ...], now: tuple[int, ...]) -> AnswerShapeError:
    """Return the error of a game whose number of outputs changes; the shapes are those of one coalition's value.

    Examples
    --------
    >>> other_outputs((3,), ())
    AnswerShapeError('The number of outputs of a game must not change: it returned 3 numbers per coalition before and
    one number per coalition now.')
    """
    return AnswerShapeError(
        f"The number of outputs of a game must not change: it returned {_per_coalition(before)} before and "
        f"{_per_coalition(now)} now."
    )


def check_within(
    values: Values,
    value_range: tuple[float, float],
    coalitions: Coalitions,
    player_names: tuple[str, ...] | None = None,
) -> None:
    """Raise a `GameError` for a value outside the stated range, since guarantees depend on the range.

    Examples
    --------
    >>> check_within(np.array([0.5, 1.5]), (0.0, 1.0), np.array([[False, False], [True, False]]))
    Traceback (most recent call last):
    ...
    topshap.core.errors.GameError: The value of a coalition must lie in the stated value_range (0.0, 1.0).
    Got 1.5 for {0} instead.
    """
    low, high = value_range
    outside = (values < low) | (values > high)
    if outside.any():
        number, which = _first(values, outside, coalitions, player_names)
        raise GameError(
            f"The value of a coalition must lie in the stated value_range {value_range}. "
            f"Got {number} for {which} instead."
        )


def short_repr(value: Any) -> str:
    """Return the repr of any object in one short line, or its type if it has no repr.

    Examples
    --------
    >>> short_repr(list(range(100)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16...'
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - a user's object may do anything
        text = f"<{type(value).__name__} object>"
    return text if len(text) <= 60 else text[:57] + "..."


def _fits(shape: tuple[int, ...], rows: int, n_outputs: int | None) -> bool:
    """Return whether an answer has one number per coalition, or one per coalition and output."""
    if n_outputs is not None:
        return shape == (rows, n_outputs)
    return shape == (rows,) or (len(shape) == 2 and shape[0] == rows and shape[1] > 1)


def _shapes(rows: int, n_outputs: int | None) -> str:
    """Return the shapes that an answer may have, in words."""
    if n_outputs is not None:
        return f"{_per_coalition((n_outputs,))}, an array of shape ({rows}, {n_outputs})"
    return (
        f"one number per coalition, an array of shape ({rows},), "
        f"or one per coalition and output, an array of shape ({rows}, R) with R >= 2"
    )


def _per_coalition(shape: tuple[int, ...]) -> str:
    """Return in words how many numbers a coalition has."""
    if not shape:
        return "one number per coalition"
    return f"{shape[0]} {'number' if shape[0] == 1 else 'numbers'} per coalition"


def _first(
    values: Values, wrong: NDArray[np.bool_], coalitions: Coalitions, player_names: tuple[str, ...] | None
) -> tuple[float, str]:
    """Return the first wrong number, and the coalition and output that it belongs to, in words."""
    row, *output = (int(i[0]) for i in np.nonzero(wrong))
    of_output = f" in output {output[0]}" if output else ""
    return float(values[(row, *output)]), names_of(coalitions[row], player_names) + of_output


def _to_array(values: Any) -> np.ndarray[Any, Any]:
    """Return a game's answer as an array, without the gradients that a tensor carries."""
    try:
        return np.asarray(values)
    except ValueError:  # rows of different lengths
        return np.array(None)
    except Exception as error:  # noqa: BLE001 - a user's object may do anything
        failed = error
    try:
        return np.asarray(_detached(values))
    except Exception as error:
        raise GameError(
            "A game must return one number per coalition, such as a list or an array of floats. Got "
            f"{short_repr(values)} of type {type(values).__name__} instead, which cannot be converted to an array: "
            f"{type(failed).__name__}: {failed}"
        ) from error


def _detached(values: Any) -> Any:
    """Return a tensor that requires gradients as an array, and a list of them as a list of arrays."""
    if isinstance(values, list | tuple):
        return [_detached(value) for value in values]
    return np.asarray(values.detach()) if getattr(values, "requires_grad", False) else values


def _whom(coalitions: Coalitions, player_names: tuple[str, ...] | None) -> str:
    more = len(coalitions) - 1
    return names_of(coalitions[0], player_names) + (f" and {more} more" if more else "") if more >= 0 else "none"


def _for_one_at_a_time(array: np.ndarray[Any, Any]) -> str:
    is_one_number = array.ndim == 0 and array.dtype.kind in "biuf"
    return " Use topshap.games.per_coalition for a function of one coalition." if is_one_number else ""


def _kind(values: Any, array: np.ndarray[Any, Any]) -> str:
    if isinstance(values, np.ndarray) or array.ndim > 0:
        return f"an array {short_repr(values)}"
    return f"{short_repr(values)}, an object of type {type(values).__name__},"
