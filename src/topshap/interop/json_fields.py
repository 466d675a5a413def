"""The fields of a saved result: a table of the condition that each field must meet and the function that reads it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from reprlib import Repr
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import numpy as np

from topshap.core.history import History
from topshap.core.ledger import Counting
from topshap.core.powers_of_two import safely_scaled
from topshap.core.result import Stopped, TopK
from topshap.core.stopping import GUARANTEES
from topshap.core.usage import Usage
from topshap.interop.json_player_values import read_player_values
from topshap.statistics.ranking import RANK_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from topshap.core.typing import Matrix, Players, Values

LARGEST = 1e302
"""The largest number in a file, except for covariances. Values of games are at most 1e300."""
_ROUNDING = 1e-9
"""Rounding errors in a covariance, relative to its largest entry and to the largest squared estimate."""
_SHORT = Repr()
_SHORT.maxstring = 60


class FieldError(ValueError):
    """A field of a saved result is missing, unknown or invalid; the message names it."""


@dataclass(frozen=True)
class Field:
    """A field: its condition, in words, and the function that reads it.

    The function takes the value from the file and the number of players. It raises a ValueError, TypeError or
    OverflowError if the value is invalid.
    """

    must_be: str
    read: Callable[[Any, int], Any]
    or_null: bool = False


def read_result(content: Mapping[str, Any]) -> TopK:
    """Return a result from the fields of a file; raise a `FieldError` if one is missing, unknown or invalid.

    Examples
    --------
    >>> read_result({"speed": 3})
    Traceback (most recent call last):
    ...
    topshap.interop.json_fields.FieldError: the field 'speed' is unknown
    """
    estimates = content.get("estimates")
    n = len(estimates) if isinstance(estimates, list) else 0
    top: TopK = read_fields(TopK, RESULT, content, n)
    check_together(top)
    return top


def check_together(top: TopK) -> None:
    """Raise a `FieldError` if fields contradict each other."""
    for name, must_be, holds in TOGETHER:
        if not holds(top):
            raise FieldError(f"the field {name!r} must be {must_be}")


def shorten_value(value: Any) -> str:
    """Return a value for a message, as text of bounded length with control characters escaped.

    Examples
    --------
    >>> shorten_value([1, 2, 3, 4, 5, 6, 7, 8]), len(shorten_value("long" * 1000))
    ('[1, 2, 3, 4, 5, 6, ...]', 60)
    """
    return _SHORT.repr(value)


def read_fields(kind: Any, table: Mapping[str, Field], content: Mapping[str, Any], n: int, within: str = "") -> Any:
    """Return a dataclass from its fields; those with a default may be missing."""
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
    for wrong, what in ((set(content) - set(table), "unknown"), (needed - set(content), "missing")):
        if wrong:
            several = f"the fields {_quoted(wrong)} are" if len(wrong) > 1 else f"the field {_quoted(wrong)} is"
            raise FieldError(f"{several} {what}")
    in_order = sorted(content, key=lambda name: name != "estimates")  # they give the number of players
    return kind(**{name: _read(within + name, table[name], content[name], n) for name in in_order})


def _read(name: str, field: Field, value: Any, n: int) -> Any:
    if value is None and field.or_null:
        return None
    try:
        return field.read(value, n)
    except FieldError:  # from a field within this one
        raise
    except (ValueError, TypeError, OverflowError):
        _refuse(name, field, value, n)


def _refuse(name: str, field: Field, value: Any, n: int) -> NoReturn:
    must_be = field.must_be.format(n=n) + (" or null" if field.or_null else "")
    raise FieldError(f"the field {name!r} must be {must_be}, not {shorten_value(value)}")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(shorten_value(name) for name in sorted(names)[:10])


def _require(valid: bool | np.bool_) -> None:
    if not valid:
        raise ValueError


def _is_list_of(value: Any, kinds: set[type]) -> bool:
    """Return whether a value is a list with elements of exactly these types: a bool is not an int."""
    return isinstance(value, list) and set(map(type, value)) <= kinds


def _instance_of(kind: type) -> Callable[[Any, int], Any]:
    """Return the reader of a value of this type."""

    def read(value: Any, _: int) -> Any:
        _require(isinstance(value, kind))
        return value

    return read


def one_of(choices: tuple[str, ...]) -> Field:
    """Return the field of one of some strings."""

    def read(value: Any, _: int) -> str:
        _require(isinstance(value, str) and value in choices)
        return str(value)

    return Field(f"one of {', '.join(map(repr, choices))}", read)


def _whole(value: Any, _: int) -> int:
    _require(type(value) is int and value >= 0)
    return int(value)


def _real(value: Any, _: int = 0) -> float:
    _require(type(value) in (int, float) and abs(value) <= LARGEST)
    return float(value)


def _at_least_0(value: Any, _: int) -> float:
    _require(_real(value) >= 0.0)
    return float(value)


def _between_0_and_1(value: Any, _: int) -> float:
    _require(0.0 < _real(value) < 1.0)
    return float(value)


def _low_and_high(value: Any, _: int) -> tuple[float, float]:
    _require(_is_list_of(value, {int, float}))
    low, high = map(_real, value)
    _require(low < high)
    return low, high


def _names(value: Any, n: int) -> tuple[str, ...]:
    _require(_is_list_of(value, {str}) and len(value) == len(set(value)) == n)
    return tuple(value)


def _indices(value: Any, n: int) -> Players:
    _require(_is_list_of(value, {int}) and 0 < len(value) == len(set(value)))
    _require(min(value) >= 0 and max(value) < n)
    return np.array(value, dtype=np.intp)


def _rising(value: Any, _: int) -> Players:
    _require(_is_list_of(value, {int}) and len(value) > 0 and value[0] >= 0)
    numbers = np.array(value, dtype=np.intp)
    _require((numbers[1:] > numbers[:-1]).all())
    return numbers


def _numbers(value: Any, n: int) -> Values:
    """Return n numbers; the string "nan" stands for an unknown one."""
    _require(isinstance(value, list) and len(value) == n > 0)
    if not _is_list_of(value, {int, float}):
        _require(all(type(each) in (int, float) or each == "nan" for each in value))
    numbers = np.array(value, dtype=np.float64)
    _require(~np.isinf(numbers).any())
    return numbers


def _known(value: Any, n: int) -> Values:
    numbers = _numbers(value, n)
    _require((np.abs(numbers) <= LARGEST).all())
    return numbers


def _errors(value: Any, n: int) -> Values:
    numbers = _numbers(value, n)
    _require(~((numbers < 0.0) | (numbers > LARGEST)).any())
    return numbers


def _rows_of(read_row: Callable[[Any, int], Values]) -> Callable[[Any, int], Matrix]:
    """Return the reader of a list of rows."""

    def read(value: Any, n: int) -> Matrix:
        _require(_is_list_of(value, {list}) and len(value) > 0)
        return np.array([read_row(row, n) for row in value])

    return read


def _history(value: Any, n: int) -> History:
    _require(isinstance(value, dict))
    history: History = read_fields(History, HISTORY, value, n, within="history.")
    return history


def _usage(value: Any, n: int) -> Usage:
    _require(isinstance(value, dict))
    usage: Usage = read_fields(Usage, USAGE, value, n, within="usage.")
    return usage


def _is_covariance(top: TopK) -> bool:
    """Return whether the covariance is symmetric, without negative variances, and known where standard errors are."""
    estimates, std_errors, covariance = safely_scaled(top.estimates, top.std_errors, top.covariance)
    return not isinstance(covariance, np.ndarray) or is_covariance(estimates, std_errors, covariance)


def is_covariance(estimates: Values, std_errors: Values, covariance: Matrix) -> bool:
    """Return whether a matrix may be the covariance of estimates.

    Examples
    --------
    >>> is_covariance(np.zeros(2), np.ones(2), np.array([[1.0, 0.5], [0.0, 1.0]]))
    False
    """
    if covariance.shape != (len(estimates), len(estimates)):
        return False
    known = ~np.isnan(std_errors)
    shared = covariance[np.ix_(known, known)]
    rounding = _ROUNDING * max(float(np.abs(shared).max(initial=0.0)), float(np.abs(estimates).max(initial=0.0)) ** 2)
    symmetric = (np.abs(shared - shared.T) <= rounding).all()  # False for nan
    return bool(symmetric and (np.diag(shared) >= -rounding).all())


def _has_one_length(top: TopK) -> bool:
    history = top.history
    return history is None or len(history.evaluations) == len(history.estimates) == len(history.std_errors)


_COUNT = Field("an int of at least 0", _whole)
_COUNT_OR_NULL = Field(_COUNT.must_be, _whole, or_null=True)
_STRING = Field("a string", _instance_of(str))
_NUMBER = Field(f"a number in [-{LARGEST:g}, {LARGEST:g}]", _real)

RESULT: dict[str, Field] = {
    "players": Field("a list of distinct ints from 0 to below {n}, the number of players", _indices),
    "estimates": Field("a list of finite numbers", _known),
    "std_errors": Field('a list of {n} numbers of at least 0, or "nan"', _errors),
    "covariance": Field("{n} lists of {n} numbers", _rows_of(_numbers), or_null=True),
    "player_names": Field("a list of {n} distinct strings", _names, or_null=True),
    "evaluations": _COUNT,
    "calls": _COUNT,
    "budget": _COUNT_OR_NULL,
    "epsilon": Field("a finite number of at least 0", _at_least_0, or_null=True),
    "delta": Field("a number between 0 and 1, both excluded", _between_0_and_1, or_null=True),
    "stopped": one_of(get_args(Stopped)),
    "algorithm": _STRING,
    "counting": one_of(get_args(Counting)),
    "empty": _NUMBER,
    "grand": _NUMBER,
    "deterministic": Field("true or false", _instance_of(bool)),
    "guarantee": replace(one_of(GUARANTEES), or_null=True),
    "value_range": Field("a list of two finite numbers, the lower one first", _low_and_high, or_null=True),
    "rule": Field(_STRING.must_be, _STRING.read, or_null=True),
    "history": Field("an object", _history, or_null=True),
    "random_state": _COUNT_OR_NULL,
    "rank_by": one_of(RANK_BY),
    "ordered": Field("true or false", _instance_of(bool)),
    "rare_contributions": Field("true or false", _instance_of(bool)),
    "player_values": Field(
        'a list of {n} strings, numbers, true, false, null or {{"number": "nan"}}', read_player_values, or_null=True
    ),
    "output_name": Field(_STRING.must_be, _STRING.read, or_null=True),
    "usage": Field("an object", _usage, or_null=True),
    "clear_gap": Field("true or false", _instance_of(bool)),
}
"""The fields of `TopK`."""
HISTORY: dict[str, Field] = {
    "evaluations": Field("a list of increasing ints of at least 0", _rising),
    "estimates": Field("lists of {n} finite numbers", _rows_of(_known)),
    "std_errors": Field('lists of {n} numbers of at least 0, or "nan"', _rows_of(_errors)),
}
"""The fields of `History`."""
USAGE: dict[str, Field] = {
    "requests": _COUNT,
    "prompt_tokens": _COUNT,
    "completion_tokens": _COUNT,
    "cost": Field("a finite number of at least 0", _at_least_0, or_null=True),
    "lost": _COUNT,
}
"""The fields of `Usage`."""
TOGETHER: list[tuple[str, str, Callable[[TopK], bool]]] = [
    ("delta", "null if and only if 'epsilon' is null", lambda top: (top.epsilon is None) == (top.delta is None)),
    (
        "epsilon",
        "a number if 'stopped' is 'confident'",
        lambda top: top.epsilon is not None or top.stopped != "confident",
    ),
    (
        "covariance",
        "a symmetric matrix with variances of at least 0, without \"nan\" where 'std_errors' are known",
        _is_covariance,
    ),
    ("history", "lists of the same length", _has_one_length),
]
"""Conditions across fields: the field to name, its condition in words, and the check."""
