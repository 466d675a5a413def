"""Results as JSON files: readable by any program, with a version, and exact to the last bit.

A file holds the fields of `TopK`. Since it may come from an untrusted source, all of it is checked when it is read.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from topshap.core.covariances import ClusteredCovariance, covariance_of
from topshap.core.errors import ParameterError
from topshap.core.importance_result import TopImportance
from topshap.core.pairs_result import TopPairs
from topshap.core.results import TopKs
from topshap.interop.json_fields import FieldError, read_result, shorten_value
from topshap.interop.json_importance import NOT_SAVED, read_importance
from topshap.interop.json_outputs import read_results
from topshap.interop.json_pairs import read_pairs
from topshap.interop.json_player_values import written_value
from topshap.interop.json_values import plain
from topshap.interop.many_json import MANY_FORMAT, MANY_VERSION, read_many

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from topshap.core.result import TopK

FORMAT, OF_OUTPUTS, OF_PAIRS, OF_IMPORTANCE = (
    "topshap.TopK",
    "topshap.TopKs",
    "topshap.TopPairs",
    "topshap.TopImportance",
)
VERSION = 1
MOST_BYTES = 2**31
"""The largest file that is read: the covariance of 9,000 players takes about as much."""


def save(top: TopK | TopKs, path: str | os.PathLike[str]) -> None:
    """Write a result to a JSON file."""
    Path(path).write_text(as_text(top) + "\n", encoding="utf-8")


def as_text(top: TopK | TopKs) -> str:
    """Return a result as JSON. Numbers that JSON does not have are strings: "nan", "inf"."""
    content = {"format": _format_of(top), "version": VERSION, **plain(top)}
    if isinstance(top, TopImportance):
        content = {name: value for name, value in content.items() if name not in NOT_SAVED}
    if isinstance(top, TopKs) and isinstance(top.covariance, np.ndarray | ClusteredCovariance):
        content["covariance"] = [plain(covariance_of(top.covariance, i)) for i in range(len(top))]
    if top.player_values is not None:
        content["player_values"] = [written_value(value) for value in top.player_values]
    return json.dumps(content, allow_nan=False, indent=1)


def _format_of(top: TopK | TopKs) -> str:
    kinds = {TopKs: OF_OUTPUTS, TopPairs: OF_PAIRS, TopImportance: OF_IMPORTANCE}
    return next((name for kind, name in kinds.items() if isinstance(top, kind)), FORMAT)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a result that `TopK.save`, `TopKs.save` or `Explanations.save` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path
        A JSON file.

    Returns
    -------
    TopK, TopPairs, TopImportance, TopKs or Explanations
        The same result, to the last bit; a `TopImportance` without the values of rows.

    Raises
    ------
    ParameterError
        If the file is not a saved result; the message names the field that is missing, unknown or invalid.

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
    try:
        return _read(_parse(Path(path)))
    except FieldError as error:
        raise ParameterError(
            "The 'path' parameter of load must be a JSON file that TopK.save, TopKs.save or Explanations.save wrote. "
            f"Got {str(path)!r}: {error}."
        ) from error


def _parse(path: Path) -> Any:
    """Return the content of a JSON file; reject invalid JSON, duplicate names and files that are too large."""
    data = bytearray()
    with path.open("rb") as file:
        while chunk := file.read(2**20):
            data += chunk
            if len(data) > MOST_BYTES:
                raise FieldError(f"it is larger than {MOST_BYTES:,} bytes")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError:
        raise FieldError("it is nested too deeply") from None
    except FieldError:
        raise
    except UnicodeDecodeError as error:
        raise FieldError(f"it is not encoded as UTF-8 at byte {error.start}") from None
    except ValueError as error:  # invalid syntax, or an int with thousands of digits
        raise FieldError(f"it is not valid JSON ({error})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of a JSON file; reject duplicate names."""
    content = dict(pairs)
    if len(content) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise FieldError(f"the field {shorten_value(twice)} occurs more than once")
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise FieldError(f"{name} is not a number in JSON")


def _read(content: Any) -> Any:
    """Return the result in a file, whose format and version must be known."""
    kind = content.pop("format", None) if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in _READERS:
        raise FieldError(f"the field 'format' must be one of {', '.join(map(repr, _READERS))}")
    known, read = _READERS[kind]
    version = content.pop("version", None)
    if type(version) is not int or not (version == known or (kind == MANY_FORMAT and version == 1)):
        newer = "; a newer version of topshap wrote it" if type(version) is int and version > known else ""
        raise FieldError(f"the field 'version' must be {known}, not {shorten_value(version)}{newer}")
    return read(content)


_READERS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    FORMAT: (VERSION, read_result),
    OF_OUTPUTS: (VERSION, read_results),
    OF_PAIRS: (VERSION, read_pairs),
    OF_IMPORTANCE: (VERSION, read_importance),
    MANY_FORMAT: (MANY_VERSION, read_many),
}
"""The version and the reader of each format."""
