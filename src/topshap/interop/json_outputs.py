"""Results of several outputs from the fields of a JSON file.

Every output is checked as a result of its own, with the conditions of `topshap.interop.json_fields`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.covariances import SharedCovariance, stacked
from topshap.core.history import History
from topshap.core.outputs import check_outputs
from topshap.core.results import TopKs
from topshap.interop.json_fields import FieldError, read_result, shorten_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topshap.core.covariances import Covariances
    from topshap.core.result import TopK

_PER_OUTPUT = ("players", "estimates", "std_errors", "empty", "grand", "rare_contributions")
_IN_HISTORY = ("estimates", "std_errors")


def read_results(content: Mapping[str, Any]) -> TopKs:
    """Return the results of all outputs from the fields of a file; raise a `FieldError` if one is not valid.

    Examples
    --------
    >>> read_results({"estimates": []})
    Traceback (most recent call last):
    ...
    topshap.interop.json_fields.FieldError: the field 'estimates' must be a list with one list per output, not []
    """
    estimates = content.get("estimates")
    if not isinstance(estimates, list) or len(estimates) == 0:
        raise FieldError(
            f"the field 'estimates' must be a list with one list per output, not {shorten_value(estimates)}"
        )
    n_outputs = len(estimates)
    shared = {name: value for name, value in content.items() if name not in (*_PER_OUTPUT, "output_names")}
    columns = {name: _per_output(name, content[name], n_outputs) for name in _PER_OUTPUT if name in content}
    factors = _take_factors(shared, n_outputs)
    covariances = shared.pop("covariance", None)
    if factors is None and covariances is not None:
        covariances = _per_output("covariance", covariances, n_outputs)
    tops = []
    for output in range(n_outputs):
        own = {name: column[output] for name, column in columns.items()}
        own |= {"covariance": covariances if covariances is None or factors is not None else covariances[output]}
        own |= {"history": _history_of(shared.get("history"), output, n_outputs)} if "history" in shared else {}
        tops.append(_read(shared | own, output))
    return _together(tops, _output_names(content, n_outputs), factors)


def _read(content: dict[str, Any], output: int) -> TopK:
    try:
        return read_result(content)
    except FieldError as error:
        raise FieldError(f"in output {output}, {error}") from error


def _per_output(name: str, column: Any, n_outputs: int) -> list[Any]:
    if not isinstance(column, list) or len(column) != n_outputs:
        must_be = f"a list with one entry for each of the {n_outputs} outputs"
        raise FieldError(f"the field {name!r} must be {must_be}, not {shorten_value(column)}")
    return column


def _take_factors(shared: dict[str, Any], n_outputs: int) -> list[float] | None:
    """Return the factors of a shared covariance and leave its matrix in the fields; None if it is not shared."""
    covariance = shared.get("covariance")
    if not isinstance(covariance, dict):
        return None
    if set(covariance) != {"matrix", "factors"}:
        raise FieldError("the field 'covariance' must have the fields 'matrix' and 'factors'")
    factors = _per_output("covariance.factors", covariance["factors"], n_outputs)
    if not all(type(factor) in (int, float) and 0.0 <= factor < np.inf for factor in factors):
        raise FieldError("the field 'covariance.factors' must be a list of finite numbers of at least 0")
    shared["covariance"] = covariance["matrix"]
    return factors


def _history_of(history: Any, output: int, n_outputs: int) -> Any:
    """Return the history of one output as it would be in the file of a single result."""
    if not isinstance(history, dict):
        return history
    own = dict(history)
    for name in _IN_HISTORY:
        if isinstance(own.get(name), list):
            own[name] = [_per_output(f"history.{name}", moment, n_outputs)[output] for moment in own[name]]
    return own


def _output_names(content: Mapping[str, Any], n_outputs: int) -> tuple[str, ...] | None:
    names = content.get("output_names", "missing")
    try:
        return check_outputs(n_outputs, names)[1]
    except ValueError:
        must_be = f"a list of {n_outputs} distinct strings or null"
        raise FieldError(f"the field 'output_names' must be {must_be}, not {shorten_value(names)}") from None


def _together(tops: list[TopK], output_names: tuple[str, ...] | None, factors: list[float] | None) -> TopKs:
    """Return the results of all outputs as one object."""
    first = tops[0]
    different = {"covariance", "history", "output_name", "clear_gap", *_PER_OUTPUT}
    if len({(top.k, top.n_players) for top in tops}) > 1:
        raise FieldError("the fields 'players' and 'estimates' must have rows of the same length")
    covariances: Covariances | None = None
    if factors is not None and isinstance(first.covariance, np.ndarray):
        covariances = SharedCovariance(first.covariance, np.array(factors, dtype=np.float64))
    else:
        covariances = stacked(top.covariance for top in tops)
    histories = [top.history for top in tops if top.history is not None]
    history = None
    if histories:
        estimates, std_errors = (np.stack([getattr(h, name) for h in histories], axis=1) for name in _IN_HISTORY)
        history = History(histories[0].evaluations, estimates, std_errors)
    own: dict[str, Any] = {name: np.array([getattr(top, name) for top in tops]) for name in _PER_OUTPUT}
    shared = {each.name: getattr(first, each.name) for each in fields(first) if each.name not in different}
    return TopKs(covariance=covariances, history=history, output_names=output_names, **own, **shared)
