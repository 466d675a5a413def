"""A result as a JSON file: text that anything can read, with a version, and exact to the last bit."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from topshap.core.errors import ParameterError
from topshap.core.history import History
from topshap.core.result import Stopped, TopK
from topshap.statistics.ranking import RANK_BY

if TYPE_CHECKING:
    import os

FORMAT, VERSION = "topshap.TopK", 1

_KINDS: dict[str, Any] = {
    "evaluations": int,
    "calls": int,
    "budget": int | None,
    "epsilon": float | int | None,
    "delta": float | int | None,
    "algorithm": str,
    "counting": str,
}

_ARRAYS = {"players": np.intp, "estimates": np.float64, "std_errors": np.float64, "covariance": np.float64}


def save(top: TopK, path: str | os.PathLike[str]) -> None:
    """Write a result to a JSON file."""
    Path(path).write_text(as_text(top) + "\n", encoding="utf-8")


def as_text(top: TopK) -> str:
    """Return a result as JSON; numbers that JSON does not have are written as text ("nan", "inf")."""
    return json.dumps({"format": FORMAT, "version": VERSION, **_plain(top)}, allow_nan=False, indent=1)


def load(path: str | os.PathLike[str]) -> TopK:
    """Read a result that `TopK.save` wrote. Nothing in the file is ever executed.

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
        raise ParameterError(f"{must_be} Got {str(path)!r}, which is of another kind.")
    version = content.pop("version", None)
    if version != VERSION:
        raise ParameterError(f"{must_be} Got one of version {version!r}, and this topshap reads version {VERSION}.")
    try:
        return _built(content)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ParameterError(f"{must_be} Got {str(path)!r} with other content ({error}).") from error


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def _check_fields(content: dict[str, Any]) -> None:
    needed = {field.name for field in fields(TopK) if field.default is MISSING}
    wrong = (needed - set(content)) | (set(content) - {field.name for field in fields(TopK)})
    if wrong:
        raise ValueError(f"fields {sorted(wrong)} are missing or unknown")
    for name, kind in _KINDS.items():
        if not isinstance(content[name], kind):
            raise TypeError(f"{name!r} is {content[name]!r}")
    if content.get("rank_by", "value") not in RANK_BY:
        raise ValueError("it does not say what players are ranked by")
    if content["stopped"] not in get_args(Stopped) or (content["epsilon"] is None) != (content["delta"] is None):
        raise ValueError("it does not say why the race ended")


def _built(content: dict[str, Any]) -> TopK:
    _check_fields(content)
    for name, dtype in _ARRAYS.items():
        unknown = name == "covariance" and content[name] is None
        content[name] = None if unknown else np.array(content[name], dtype=dtype)
    for name in ("player_names", "value_range"):
        content[name] = None if content.get(name) is None else tuple(content[name])
    if content.get("history") is not None:
        past = content["history"]
        content["history"] = History(
            evaluations=np.array(past["evaluations"], dtype=np.intp),
            estimates=np.array(past["estimates"], dtype=np.float64),
            std_errors=np.array(past["std_errors"], dtype=np.float64),
        )
    for name in ("empty", "grand"):
        content[name] = float(content[name])
    top = TopK(**content)
    n, k = top.n_players, top.k
    shapes_fit = top.estimates.shape == top.std_errors.shape == (n,) and top.players.shape == (k,)
    if not shapes_fit or not 1 <= k <= n or not ((top.players >= 0) & (top.players < n)).all():
        raise ValueError("players, estimates and standard errors do not fit together")
    if top.covariance is not None and top.covariance.shape != (n, n):
        raise ValueError("the covariance does not fit the estimates")
    if top.player_names is not None and len(top.player_names) != n:
        raise ValueError("the names do not fit the estimates")
    return top
