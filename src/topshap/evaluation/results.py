"""The result of evaluating a batch: the values, and the coalitions that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.errors import AnswerShapeError, GameError
from topshap.core.values import check_values

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Values


class Failure(NamedTuple):
    """A coalition that has no value."""

    row: int
    error: Exception


class BatchResult(NamedTuple):
    """The values of a batch of coalitions."""

    values: Values
    """One value per coalition, nan where it has none."""
    failures: list[Failure]
    """The failures in the order of the coalitions. Coalitions after the last one may be missing without a failure."""


def split_valid(answer: Any, coalitions: Coalitions, player_names: tuple[str, ...] | None) -> BatchResult:
    """Return the valid values of a game's answer, and a failure for each of the others.

    Examples
    --------
    >>> values, failures = split_valid([1.0, None], np.array([[True, False], [True, True]]), ("age", "bmi"))
    >>> values, failures[0].error
    (array([ 1., nan]), GameError('A game must return real numbers. Got ... None for {age, bmi}.'))
    """
    try:
        return BatchResult(check_values(answer, coalitions, player_names), [])
    except GameError as error:
        values, whole = np.full(len(coalitions), np.nan), error
    singles = _one_by_one(answer, len(coalitions))
    if all(
        hasattr(type(single), "__len__") for single in singles
    ):  # not one entry per coalition, or no entry is a number
        whole = AnswerShapeError(str(whole))
    failures = []
    for row, single in enumerate(singles):
        try:
            values[row] = check_values([single], coalitions[row : row + 1], player_names)[0]
        except GameError as error:
            failures.append(Failure(row, error))
    if failures and len(failures) < len(coalitions):
        return BatchResult(values, failures)
    return BatchResult(np.full(len(coalitions), np.nan), [Failure(0, whole)])


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
