"""Results as JSON files: readable by any program, with a version, and exact to the last bit.

A file holds the fields of `TopK`. Since it may come from an untrusted source, all of it is checked when it is read.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from topshap.core.errors import ParameterError
from topshap.interop.json_fields import FieldError, read_result, shorten_value
from topshap.interop.json_player_values import written_value

if TYPE_CHECKING:
    import os

    from topshap.core.result import TopK

FORMAT, VERSION = "topshap.TopK", 1
MOST_BYTES = 2**31
"""The largest file that is read: the covariance of 9,000 players takes about as much."""


def save(top: TopK, path: str | os.PathLike[str]) -> None:
    """Write a result to a JSON file."""
    Path(path).write_text(as_text(top) + "\n", encoding="utf-8")


def as_text(top: TopK) -> str:
    """Return a result as JSON. Numbers that JSON does not have are strings: "nan", "inf"."""
    content = _plain(top)
    if top.player_values is not None:
        content["player_values"] = [written_value(value) for value in top.player_values]
    return json.dumps({"format": FORMAT, "version": VERSION, **content}, allow_nan=False, indent=1)


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
        return read_result(_without_header(_parse(Path(path))))
    except FieldError as error:
        raise ParameterError(
            f"The 'path' parameter of load must be a JSON file that TopK.save wrote. Got {str(path)!r}: {error}."
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


def _without_header(content: Any) -> dict[str, Any]:
    """Return the content of a file without its format and version, which must be those of this module."""
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise FieldError(f"the field 'format' must be {FORMAT!r}")
    version = content.pop("version", None)
    if type(version) is not int or version != VERSION:
        newer = "; a newer version of topshap wrote it" if type(version) is int and version > VERSION else ""
        raise FieldError(f"the field 'version' must be {VERSION}, not {shorten_value(version)}{newer}")
    return content


def _plain(value: Any) -> Any:
    """Return a value as lists, numbers and strings, for JSON."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
