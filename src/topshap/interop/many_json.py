"""Explanations of many rows as JSON files, exact to the last bit.

Fields of `TopK` that all results share are saved once. The arrays of a result are always saved with it, so that a file
that is read takes memory in proportion to its size; covariances that results share are in `many_covariances`. Files of
version 1 have none of these.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.covariances import CovarianceParts
from topshap.core.errors import ParameterError
from topshap.core.explained_rows import covariance_parts_of
from topshap.core.explanations import Explanations
from topshap.core.result import TopK
from topshap.interop.json_fields import FieldError, read_result, shorten_value
from topshap.interop.json_pairs import read_pairs
from topshap.interop.json_values import plain
from topshap.interop.many_covariances import SharedResults, read_matrices, take_shared, write_shared

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from topshap.core.typing import Matrix

MANY_FORMAT, MANY_VERSION = "topshap.Explanations", 2
PER_RESULT = frozenset(
    {"players", "estimates", "std_errors", "covariance", "history", "player_values", "shapley_values"}
)
"""The fields of a result whose size grows with the number of players; they are never shared."""
_FIELDS = {"shared", "results", "n_outputs", "data", "row_names", "output_names"}


def save_many(tops: Explanations, path: str | os.PathLike[str]) -> None:
    """Write explanations to a JSON file."""
    Path(path).write_text(many_as_text(tops) + "\n", encoding="utf-8")


def many_as_text(tops: Explanations) -> str:
    """Return explanations as JSON. Numbers that JSON does not have are strings: "nan", "inf"."""
    results = [_written(top) for row in tops for top in ([row] if isinstance(row, TopK) else row)]
    parts = covariance_parts_of(tops._rows.results)  # noqa: SLF001 - the results know what they share
    matrices = write_shared(parts, results)
    shared = _shared(results)
    values = None if tops.data is None else [_row(row) for row in tops.data.tolist()]
    if results and values == [top.get("player_values") for top in results[:: tops.n_outputs or 1]]:
        values = None  # the results have them
    content = {
        "format": MANY_FORMAT,
        "version": MANY_VERSION,
        "covariances": matrices,
        "n_outputs": tops.n_outputs,
        "row_names": tops.row_names,
        "output_names": tops.output_names,
        "shared": shared,
        "data": values,
        "results": [{name: value for name, value in top.items() if name not in shared} for top in results],
    }
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


def read_many(content: Mapping[str, Any]) -> Explanations:
    """Return explanations from the fields of a file; raise a `FieldError` if one is missing, unknown or invalid."""
    known = _FIELDS | {"covariances"}  # not in files of version 1
    for wrong, what in ((set(content) - known, "unknown"), (_FIELDS - set(content), "missing")):
        if wrong:
            raise FieldError(f"the field {shorten_value(min(wrong))} is {what}")
    matrices = read_matrices(content.get("covariances", []))
    shared, results = content["shared"], content["results"]
    _require(isinstance(shared, dict), "shared", "an object", shared)
    _require(_is_list_of(results, dict), "results", "a list of objects", results)
    if forbidden := PER_RESULT & set(shared):
        raise FieldError(f"the field 'shared' must not have {min(forbidden)!r}, which each result has for itself")
    tops, of, factors = [], [], []
    for i, result in enumerate(results):
        top, position, factor = _result(i, result, shared, matrices)
        tops.append(top)
        of.append(position)
        factors.append(factor)
    n_outputs = content["n_outputs"]
    valid = n_outputs is None or (type(n_outputs) is int and n_outputs > 0 and len(tops) % n_outputs == 0)
    _require(valid, "n_outputs", "null or a number of outputs that divides the number of results", n_outputs)
    rows = tops if n_outputs is None else [tops[i : i + n_outputs] for i in range(0, len(tops), n_outputs)]
    data = _data(content["data"], len(rows), tops[0].n_candidates if tops else 0)
    for name in ("row_names", "output_names"):
        names = content[name]
        _require(names is None or _is_list_of(names, str), name, "a list of strings or null", names)
    try:
        names = {name: content[name] for name in ("row_names", "output_names")}
        found = Explanations(rows, data=data, **names)
        if not matrices:
            return found
        parts = CovarianceParts(matrices, np.array(of, dtype=np.intp), np.array(factors))
        return Explanations(_folded(SharedResults(tops, parts), found), data=found.data, **names)
    except ParameterError as error:
        raise FieldError(f"its results do not fit together: {error}") from None


def _folded(results: Sequence[TopK], like: Explanations) -> Sequence[Any]:
    """Return results as `Explanations` takes them: in one sequence, or in one list per row without names of outputs."""
    n = like.n_outputs
    if n is None or (n > 1 and like.output_names is not None):
        return results
    return [[results[row * n + output] for output in range(n)] for row in range(len(like))]


def _written(top: TopK) -> dict[str, Any]:
    """Return the fields of a result for JSON."""
    values = getattr(top, "player_values", None)
    return plain(top) | ({} if values is None else {"player_values": _row(values)})


def _of_pairs(content: Mapping[str, Any]) -> bool:
    """Return whether a result is for pairs: it then has a field that other results do not have."""
    return "left_out" in content


def _row(values: Iterable[Any]) -> list[Any]:
    return [_cell(value) for value in values]


def _shared(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields that are equal in all results; player_names always are."""
    if not results:
        return {}
    first = results[0]
    equal = [name for name in first if name not in PER_RESULT and all(_same(top[name], first[name]) for top in results)]
    return {name: first[name] for name in equal}


def _same(a: Any, b: Any) -> bool:
    """Return whether two values are written in the same way: 1 and 1.0 are not, 0.0 and -0.0 are not."""
    return a is b or repr(a) == repr(b)


def _result(
    position: int, own: Mapping[str, Any], shared: Mapping[str, Any], matrices: Sequence[Matrix]
) -> tuple[TopK, int, float]:
    """Return a result, without a covariance that it shares, and the position and the factor of that covariance."""
    if both := set(own) & set(shared):
        raise FieldError(f"the field {shorten_value(min(both))} is both in 'shared' and in results[{position}]")
    content = {**shared, **own}
    try:
        of, factor = take_shared(content, matrices)
        top = read_pairs(content) if _of_pairs(content) else read_result(content)
    except FieldError as error:
        raise FieldError(f"in results[{position}], {error}") from None
    return (top if of < 0 else replace(top, covariance=None)), of, factor


def _data(value: Any, n_rows: int, n_players: int) -> Any:
    """Return the values of players as an array: of numbers if all are floats, ints or bools, else of objects."""
    if value is None:
        return None
    must_be = f"{n_rows} lists of {n_players} numbers, strings, bools or nulls"
    _require(_is_list_of(value, list) and len(value) == n_rows, "data", must_be, value)
    kinds: set[type] = set()
    for row in value:
        of_row = set(map(type, row))
        valid = len(row) == n_players and of_row <= {int, float, str, bool, type(None), dict}
        _require(valid, "data", must_be, row)
        kinds |= of_row
    cells = [[_number_or(cell, must_be) for cell in row] for row in value] if dict in kinds else value
    only = {type(cell) for row in cells for cell in row}
    if len(only) == 1 and only <= {float, int, bool}:
        return np.array(cells)
    return np.array(cells, dtype=object).reshape(n_rows, n_players)


def _cell(value: Any) -> Any:
    """Return a value for JSON; an object with a string stands for a number that JSON does not have."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else {"number": str(float(value))}
    return str(value)


def _number_or(cell: Any, must_be: str) -> Any:
    if not isinstance(cell, dict):
        return cell
    _require(len(cell) == 1 and cell.get("number") in ("nan", "inf", "-inf"), "data", must_be, cell)
    return float(cell["number"])


def _is_list_of(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(each) is kind for each in value)


def _require(valid: bool, name: str, must_be: str, value: Any) -> None:
    if not valid:
        raise FieldError(f"the field {name!r} must be {must_be}, not {shorten_value(value)}")
