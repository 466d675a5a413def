"""The result of evaluating a batch: the values, and the coalitions that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.errors import AnswerShapeError, GameError
from topshap.core.values import check_values, other_outputs

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Values


class Failure(NamedTuple):
    """A coalition that has no value."""

    row: int
    error: Exception


class BatchResult(NamedTuple):
    """The values of a batch of coalitions."""

    values: Values
    """One value per coalition, nan where it has none; a row per coalition in a game with several outputs."""
    failures: list[Failure]
    """The failures in the order of the coalitions. Coalitions after the last one may be missing without a failure."""


def split_valid(
    answer: Any,
    coalitions: Coalitions,
    player_names: tuple[str, ...] | None,
    n_outputs: int | None = None,
) -> BatchResult:
    """Return the valid values of a game's answer, and a failure for each of the others.

    Examples
    --------
    >>> values, failures = split_valid([1.0, None], np.array([[True, False], [True, True]]), ("age", "bmi"))
    >>> values, failures[0].error
    (array([ 1., nan]), GameError('A game must return real numbers. Got ... None for {age, bmi}.'))
    """
    try:
        return BatchResult(check_values(answer, coalitions, player_names, n_outputs), [])
    except GameError as error:
        whole = error
    singles = _one_by_one(answer, len(coalitions))
    checked = [
        _check_single(single, coalitions[row : row + 1], player_names, n_outputs) for row, single in enumerate(singles)
    ]
    shapes = {each.shape[1:] for each in checked if not isinstance(each, GameError)}
    shape = () if () in shapes else min(shapes, default=())
    values, failures = np.full((len(coalitions), *shape), np.nan), []
    for row, each in enumerate(checked):
        if isinstance(each, GameError):
            failures.append(Failure(row, each))
        elif each.shape[1:] != shape:
            failures.append(Failure(row, other_outputs(shape, each.shape[1:])))
        else:
            values[row] = each[0]
    if failures and len(failures) < len(coalitions) and not _is_ragged(singles):
        return BatchResult(values, failures)
    if all(_has_length(single) for single in singles) and not _is_about_numbers(answer, n_outputs):
        whole = AnswerShapeError(str(whole))  # not one entry per coalition, or no entry is a number
    return BatchResult(np.full(len(coalitions), np.nan), [Failure(0, whole)])


def _check_single(
    single: Any, coalition: Coalitions, player_names: tuple[str, ...] | None, n_outputs: int | None
) -> Values | GameError:
    """Return the value of one coalition, or the error if it is not valid."""
    try:
        return check_values([single], coalition, player_names, n_outputs)
    except GameError as error:
        return error


def _has_length(single: Any) -> bool:
    return hasattr(type(single), "__len__")


def _is_ragged(singles: list[Any]) -> bool:
    """Return whether the entries are rows of different lengths."""
    try:
        return all(map(_has_length, singles)) and len(set(map(len, singles))) > 1
    except Exception:  # noqa: BLE001 - a user's object may do anything
        return True


def _is_about_numbers(answer: Any, n_outputs: int | None) -> bool:
    """Return whether an answer has the shape of several outputs, so that its numbers are wrong and not its shape."""
    shape: tuple[int, ...] = answer.shape if isinstance(answer, np.ndarray) else ()
    return len(shape) == 2 and (shape[1] > 1 if n_outputs is None else shape[1] == n_outputs)


def _one_by_one(answer: Any, count: int) -> list[Any]:
    """Return the entries of a game's answer, or nothing if there is not one per coalition."""
    if isinstance(answer, np.ma.MaskedArray) and answer.shape == (count,):
        masked = np.ma.getmaskarray(answer)
        return [None if hidden else single for single, hidden in zip(answer.data, masked, strict=True)]
    if isinstance(answer, str | bytes | dict):
        return []
    try:
        return list(answer) if len(answer) == count else []
    except Exception:  # noqa: BLE001 - a number, an array without dimensions, a generator, or a user's object
        return []
