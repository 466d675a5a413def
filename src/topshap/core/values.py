"""Checks of a game's answer: one finite number per coalition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import names_of
from topshap.core.errors import GameError

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Values

LARGEST_VALUE = 1e300
"""The largest absolute value of a coalition: sums of many such values, and intervals around them, are still finite."""


def check_values(values: Any, coalitions: Coalitions, player_names: tuple[str, ...] | None = None) -> Values:
    """Return a game's answer as one float per coalition; raise a `GameError` if a value is missing or invalid.

    A single number is accepted for a single coalition, and so are tensors that require gradients.

    Examples
    --------
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
    if array.shape != (len(coalitions),):
        raise GameError(
            f"A game must return one number per coalition, an array of shape ({len(coalitions)},). "
            f"Got {_kind(values, array)} of shape {array.shape} instead, for {_whom(coalitions, player_names)}."
            + _for_one_at_a_time(array)
        )
    if array.dtype.kind not in "biuf":
        first = array.reshape(-1)[0] if array.size else None
        raise GameError(
            f"A game must return real numbers. Got {_kind(values, array)} of dtype {array.dtype} instead, "
            f"{short_repr(first)} for {names_of(coalitions[0], player_names)}."
        )
    numbers = np.add(array, 0.0, dtype=np.float64)  # -0.0 becomes 0.0: a store does not keep the sign of zero
    usable = np.abs(numbers) <= LARGEST_VALUE  # False for nan
    if not np.logical_and.reduce(usable):
        row = int(np.flatnonzero(~usable)[0])
        within = f" in [-{LARGEST_VALUE:g}, {LARGEST_VALUE:g}]" if math.isfinite(numbers[row]) else ""
        raise GameError(
            f"The value of a coalition must be a finite number{within}. "
            f"Got {numbers[row]} for {names_of(coalitions[row], player_names)} instead."
        )
    return numbers


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
    outside = np.flatnonzero((values < low) | (values > high))
    if len(outside) > 0:
        row = int(outside[0])
        raise GameError(
            f"The value of a coalition must lie in the stated value_range {value_range}. "
            f"Got {values[row]} for {names_of(coalitions[row], player_names)} instead."
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
