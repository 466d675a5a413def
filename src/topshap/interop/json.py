"""Results as JSON files: readable by any program, with a version, and exact to the last bit.

A file holds the fields of `TopK`. How a field is read follows from its type, so a new field needs no change here.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from topshap.core import typing as core_types
from topshap.core.errors import ParameterError
from topshap.core.history import History
from topshap.core.result import TopK
from topshap.core.stopping import Guarantee
from topshap.statistics.ranking import RankBy

if TYPE_CHECKING:
    import os

FORMAT, VERSION = "topshap.TopK", 1

_ARRAY = get_origin(NDArray[np.float64])
"""The origin of the types of arrays: the class of arrays, or from numpy 2.5 on the alias itself."""
_NOT_FINITE = ("nan", "inf", "-inf")
"""Numbers that JSON does not have, as they are written."""
_TYPES: dict[str, Any] = {
    **vars(core_types),
    "History": History,
    "NDArray": NDArray,
    "Guarantee": Guarantee,
    "RankBy": RankBy,
}
"""The names in the annotations of `TopK` and `History` that their modules import for type checkers only."""


def save(top: TopK, path: str | os.PathLike[str]) -> None:
    """Write a result to a JSON file."""
    Path(path).write_text(as_text(top) + "\n", encoding="utf-8")


def as_text(top: TopK) -> str:
    """Return a result as JSON, with numbers that JSON does not have as text ("nan", "inf")."""
    return json.dumps({"format": FORMAT, "version": VERSION, **_plain(top)}, allow_nan=False, indent=1)


def load(path: str | os.PathLike[str]) -> TopK:
    """Read a result that `TopK.save` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path
        A JSON file.

    Returns
    -------
    TopK
        The same result, to the last bit.

    Examples
    --------
    >>> import tempfile
    >>> import topshap
    >>> top = topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     top.save(folder + "/top.json")
    ...     topshap.load(folder + "/top.json").players
    array([0, 2])
    """
    must_be = "The 'path' parameter of load must be a JSON file that TopK.save wrote."
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ParameterError(f"{must_be} Got {str(path)!r}, which cannot be read as JSON.") from error
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise ParameterError(f"{must_be} Got {str(path)!r}, which is not a saved result.")
    version = content.pop("version", None)
    if version != VERSION:
        raise ParameterError(
            f"{must_be} Got a file of version {version!r}; this version of topshap reads version {VERSION}."
        )
    try:
        top: TopK = _read_fields(TopK, content)
        _check_shapes(top)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ParameterError(f"{must_be} Got {str(path)!r} with other content ({error}).") from error
    return top


def _plain(value: Any) -> Any:
    """Return a value as the lists, numbers and texts that JSON has."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a dataclass."""
    return get_type_hints(kind, localns=_TYPES)


def _read_fields(kind: Any, content: Any) -> Any:
    """Return a dataclass from its fields."""
    types = _types_of(kind)
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    wrong = (needed - set(content)) | (set(content) - set(types))
    if wrong:
        raise ValueError(f"fields {sorted(wrong)} are missing or unknown")
    return kind(**{name: _read(name, types[name], value) for name, value in content.items()})


def _read(name: str, kind: Any, value: Any) -> Any:
    """Return the value of a field of this type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if NoneType in arguments:  # X | None
        return None if value is None else _read(name, arguments[0], value)
    if is_dataclass(kind):
        return _read_fields(kind, value)
    if origin is _ARRAY:
        return np.array(value, dtype=(get_args(arguments[-1]) or arguments)[0])
    if origin is tuple:
        return tuple(_read(name, arguments[0], each) for each in value)
    if kind is float and (type(value) is int or value in _NOT_FINITE):
        return float(value)
    if not (value in arguments if origin is Literal else isinstance(value, kind)):
        raise TypeError(f"{name!r} is {value!r}")
    return value


def _check_shapes(top: TopK) -> None:
    """Refuse a result whose arrays do not belong together."""
    n, k = top.n_players, top.k
    shapes_fit = top.estimates.shape == top.std_errors.shape == (n,) and top.players.shape == (k,)
    if not shapes_fit or not 1 <= k <= n or not ((top.players >= 0) & (top.players < n)).all():
        raise ValueError("players, estimates and standard errors do not fit together")
    if top.covariance is not None and top.covariance.shape != (n, n):
        raise ValueError("the covariance does not fit the estimates")
    if top.player_names is not None and len(top.player_names) != n:
        raise ValueError("the names do not fit the estimates")
    if (top.epsilon is None) != (top.delta is None):
        raise ValueError("epsilon and delta are not given together")
