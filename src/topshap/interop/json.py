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

from topshap.core.covariances import covariance_of
from topshap.core.errors import ParameterError
from topshap.core.results import TopKs
from topshap.interop.json_fields import FieldError, read_result, shorten_value
from topshap.interop.json_outputs import read_results

if TYPE_CHECKING:
    import os

    from topshap.core.result import TopK

FORMAT, OF_OUTPUTS, VERSION = "topshap.TopK", "topshap.TopKs", 1
MOST_BYTES = 2**31
"""The largest file that is read: the covariance of 9,000 players takes about as much."""


def save(top: TopK | TopKs, path: str | os.PathLike[str]) -> None:
    """Write a result to a JSON file."""
    Path(path).write_text(as_text(top) + "\n", encoding="utf-8")


def as_text(top: TopK | TopKs) -> str:
    """Return a result as JSON. Numbers that JSON does not have are strings: "nan", "inf"."""
    kind = OF_OUTPUTS if isinstance(top, TopKs) else FORMAT
    content = {"format": kind, "version": VERSION, **_plain(top)}
    if isinstance(top, TopKs) and isinstance(top.covariance, np.ndarray):
        content["covariance"] = [_plain(covariance_of(top.covariance, i)) for i in range(len(top))]
    return json.dumps(content, allow_nan=False, indent=1)


def load(path: str | os.PathLike[str]) -> TopK:
    """Read a result that `TopK.save` or `TopKs.save` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path
        A JSON file.

    Returns
    -------
    TopK
        The same result, to the last bit; a `TopKs` if it has several outputs.

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
        kind, content = _without_header(_parse(Path(path)))
        read: Any = read_results if kind == OF_OUTPUTS else read_result
        result: TopK = read(content)
    except FieldError as error:
        raise ParameterError(
            f"The 'path' parameter of load must be a JSON file that TopK.save wrote. Got {str(path)!r}: {error}."
        ) from error
    return result


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


def _without_header(content: Any) -> tuple[str, dict[str, Any]]:
    """Return the format of a file, and its content without format and version; both must be those of this module."""
    kind = content.pop("format", None) if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in (FORMAT, OF_OUTPUTS):
        raise FieldError(f"the field 'format' must be {FORMAT!r} or {OF_OUTPUTS!r}")
    version = content.pop("version", None)
    if type(version) is not int or version != VERSION:
        newer = "; a newer version of topshap wrote it" if type(version) is int and version > VERSION else ""
        raise FieldError(f"the field 'version' must be {VERSION}, not {shorten_value(version)}{newer}")
    return kind, content


def _plain(value: Any) -> Any:
    """Return a value as lists, numbers and strings, for JSON."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
