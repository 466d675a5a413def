"""Parameter checks, with messages in one form: "The 'k' parameter of identify must be ... Got ... instead."."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import numpy as np

from topshap.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from topshap.core.typing import Game, Values


LEAST_DELTA = 1e-100
"""The smallest allowed probability of an error: far below it, quantiles of Student's t cannot be computed."""


_F = TypeVar("_F", bound=Callable[..., Any])


def front_door(door: _F) -> _F:
    """Name a public function or class in the errors about its parameters.

    A check knows the name of the parameter, but not the function that the user called. If several decorated functions
    call each other and have a parameter of that name, the outermost is named, since the user called that one.

    Examples
    --------
    >>> @front_door
    ... def choose(k):
    ...     return check_int("k", k, low=1, high=13)
    >>> choose(14)
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'k' parameter of choose must be an int in [1, 13]. Got 14 instead.
    """
    if isinstance(door, type):
        door.__init__ = _naming(door.__init__, owner=door)  # type: ignore[misc]
        return door
    return cast("_F", _naming(door, owner=door))


def _naming(function: Callable[..., Any], owner: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, wrapped so that errors about its parameters name the owner."""
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with parameters_of(owner):
                return await function(*args, **kwargs)

        return awaited

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with parameters_of(owner):
            return function(*args, **kwargs)

    return call


@contextmanager
def parameters_of(owner: Callable[..., Any]) -> Iterator[None]:
    """Name a function or class in errors about its parameters that are raised inside the context."""
    try:
        yield
    except ParameterError as error:
        if error.parameter in inspect.signature(owner).parameters:
            error.name_owner(owner.__name__)
        raise


def refuse(name: str, value: Any = None, *, must_be: str, got: str | None = None, hint: str = "") -> NoReturn:
    """Raise a `ParameterError` that names the parameter, the values it may have and the value it has.

    Examples
    --------
    >>> refuse("x", must_be="one row", got="2 rows")
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'x' parameter must be one row. Got 2 rows instead.
    """
    raise ParameterError.about(name, f"must be {must_be}. Got {repr(value) if got is None else got} instead.{hint}")


def did_you_mean(given: Any, names: Iterable[str]) -> str:
    """Return a question that names the closest of `names`, to end a message with; empty if none is close.

    Examples
    --------
    >>> did_you_mean("gredy-cmcs", ["cmcs", "greedy-cmcs"])
    " Did you mean 'greedy-cmcs'?"
    """
    close = get_close_matches(given, list(names), n=1) if isinstance(given, str) else []
    return f" Did you mean {close[0]!r}?" if close else ""


def check_int(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int within [low, high].

    Examples
    --------
    >>> check_int("k", 14, low=1, high=13)
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'k' parameter must be an int in [1, 13]. Got 14 instead.
    """
    highest = math.inf if high is None else high
    if not isinstance(value, Integral) or _is_bool(value) or not low <= int(value) <= highest:
        bounds = f"of at least {low}" if high is None else f"in [{low}, {high}]"
        refuse(name, value, must_be=f"an int {bounds}")
    return int(value)


def check_real(name: str, value: Any, *, low: float) -> float:
    """Return `value` as a finite float of at least `low`."""
    if not low <= _number(value) < math.inf:
        refuse(name, value, must_be=f"a finite number of at least {low:g}")
    return float(value)


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above zero."""
    if not 0.0 < _number(value) < math.inf:
        refuse(name, value, must_be="a finite number above 0")
    return float(value)


def check_probability(name: str, value: Any) -> float:
    """Return `value` as a float strictly between 0 and 1."""
    if not 0.0 < _number(value) < 1.0:
        refuse(name, value, must_be="a number between 0 and 1, both excluded")
    return float(value)


def check_delta(delta: Any) -> float:
    """Return `delta` as a float between 0 and 1 that is not too small to compute quantiles.

    Examples
    --------
    >>> check_delta(1e-300)
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'delta' parameter must be at least 1e-100. Got 1e-300 instead.
    """
    if check_probability("delta", delta) < LEAST_DELTA:
        refuse("delta", delta, must_be=f"at least {LEAST_DELTA:g}")
    return float(delta)


def is_async(function: Any) -> bool:
    """Return whether a function, or the call of an object, is a coroutine function."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def check_range(name: str, value: Any) -> tuple[float, float]:
    """Return a pair of finite numbers, the lower one first, as floats.

    Examples
    --------
    >>> check_range("value_range", (0, 1))
    (0.0, 1.0)
    """
    ends = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    low, high = (_number(end) for end in ends) if len(ends) == 2 else (math.nan, math.nan)
    if not -math.inf < low < high < math.inf:
        refuse(name, value, must_be="a pair of finite numbers (low, high) with low < high")
    return low, high


def check_bool(name: str, value: Any) -> bool:
    """Return a bool; refuse anything else."""
    if not _is_bool(value):
        refuse(name, value, must_be="a bool")
    return bool(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of the choices.

    Examples
    --------
    >>> check_choice("rank_by", "magnitud", ["value", "magnitude"])
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'rank_by' parameter must be 'value' or 'magnitude'. Got 'magnitud' instead.
    Did you mean 'magnitude'?
    """
    names = tuple(choices)
    if not isinstance(value, str) or value not in names:
        *others, last = (repr(choice) for choice in names)
        refuse(name, value, must_be=f"{', '.join(others)} or {last}", hint=did_you_mean(value, names))


def _number(value: Any) -> float:
    """Return a real number as a float, and nan, which lies in no interval, for anything else or a huge int."""
    try:
        return float(value) if isinstance(value, Real) and not _is_bool(value) else math.nan
    except OverflowError:
        return math.nan


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def check_names(names: Iterable[str] | None, n_players: int) -> tuple[str, ...] | None:
    """Return the players' names as a tuple of n different strings, None if there are none."""
    if names is None:
        return None
    as_tuple = () if isinstance(names, str) or not isinstance(names, Iterable) else tuple(str(name) for name in names)
    if len(as_tuple) != n_players:
        refuse("player_names", names, must_be=f"one name for each of the {n_players} players")
    if len(set(as_tuple)) != n_players:
        twice = next(name for name in as_tuple if as_tuple.count(name) > 1)
        refuse("player_names", names, must_be=f"distinct names, but {twice!r} occurs more than once")
    return as_tuple


def check_rng(random_state: Any) -> np.random.Generator:
    """Return a random generator: the given one, or a new one from a seed."""
    try:
        if not _is_bool(random_state):
            return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        pass  # the error is raised below
    must_be = "None, an int of at least 0, a numpy SeedSequence or a numpy Generator"
    refuse("random_state", random_state, must_be=must_be)


def check_vector(name: str, values: ArrayLike) -> Values:
    """Return `values` as a one-dimensional float64 array of finite numbers, at least one.

    Examples
    --------
    >>> check_vector("weights", [1, 2])
    array([1., 2.])
    """
    vector = check_reals(name, values)
    if vector.ndim != 1 or vector.size == 0 or not np.isfinite(vector).all():
        refuse(name, values, must_be="a non-empty one-dimensional array of finite numbers")
    return vector


def check_reals(name: str, values: ArrayLike) -> Values:
    """Return `values` as a contiguous float64 array; refuse text, objects and complex numbers.

    Examples
    --------
    >>> check_reals("weights", ["1", "2"])
    Traceback (most recent call last):
        ...
    topshap.core.errors.ParameterError: The 'weights' parameter must be an array of real numbers.
    Got ['1', '2'] instead.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # ragged nested lists
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        refuse(name, values, must_be="an array of real numbers")
    return np.asarray(array, dtype=np.float64, order="C")


def resolve_n_players(game: Game, n_players: int | None) -> int:
    """Return the number of players: the given number, or by default the game's attribute ``n_players``."""
    given = getattr(game, "n_players", None) if n_players is None else n_players
    if given is None:
        refuse("n_players", None, must_be="given, since the game has no attribute 'n_players'")
    return check_int("n_players", given, low=1)
