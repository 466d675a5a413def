"""Saved results for pairs of players: the fields that differ from those of a result for players."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.pairs import n_candidates, players_of_pairs
from topshap.core.pairs_result import TopPairs
from topshap.core.powers_of_two import safely_scaled
from topshap.interop.json_fields import RESULT, Field, FieldError, check_together, is_covariance, read_fields
from topshap.statistics.partial_covariance import PartialCovariance

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Matrix, Players, Values


def read_pairs(content: Mapping[str, Any]) -> TopPairs:
    """Return a result for pairs from the fields of a file; raise a `FieldError` if one is missing or invalid.

    Examples
    --------
    >>> read_pairs({"estimates": [1.0, 2.0]})
    Traceback (most recent call last):
    ...
    topshap.interop.json_fields.FieldError: the field 'estimates' must be a list of n (n - 1) / 2 numbers, not of 2
    """
    estimates = content.get("estimates")
    n = len(estimates) if isinstance(estimates, list) else 0
    if n > 0 and n_candidates(players_of_pairs(n), 2) != n:
        raise FieldError(f"the field 'estimates' must be a list of n (n - 1) / 2 numbers, not of {n}")
    top: TopPairs = read_fields(TopPairs, PAIRS_RESULT, content, n)
    check_together(top)
    estimates, std_errors, partial = safely_scaled(top.estimates, top.std_errors, top.covariance)
    if isinstance(partial, PartialCovariance):
        chosen = partial.candidates
        if not is_covariance(estimates[chosen], std_errors[chosen], partial.matrix):
            raise FieldError("the field 'covariance.matrix' must be a symmetric matrix with variances of at least 0")
    return top


def _covariance(value: Any, n: int) -> Matrix | PartialCovariance:
    """Return the covariance of all pairs, a list of lists, or that of some, an object."""
    if not isinstance(value, Mapping):
        matrix: Matrix = RESULT["covariance"].read(value, n)
        return matrix
    if set(value) != {"candidates", "matrix"}:
        raise ValueError
    candidates: Players = np.empty(0, dtype=np.intp)
    if value["candidates"] != []:
        candidates = RESULT["players"].read(value["candidates"], n)
    size = len(candidates)
    known: Matrix = np.zeros((0, 0)) if size == 0 else RESULT["covariance"].read(value["matrix"], size)
    return PartialCovariance(candidates, known)


def _of_players(read: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
    """Return the reader of a field with one entry per player."""
    return lambda value, n: read(value, players_of_pairs(n))


def _players(name: str, must_be: str) -> Field:
    return Field(must_be, _of_players(RESULT[name].read), or_null=True)


def _left_out(value: Any, n: int) -> Values:
    players: Values = RESULT["players"].read(value, players_of_pairs(n))
    return players


PAIRS_RESULT: dict[str, Field] = {
    **RESULT,
    "players": replace(RESULT["players"], must_be="a list of distinct ints from 0 to below {n}, the number of pairs"),
    "covariance": Field(
        "{n} lists of {n} numbers, or an object with 'candidates' and 'matrix'", _covariance, or_null=True
    ),
    "player_names": _players("player_names", "a list of distinct strings, one per player"),
    "player_values": _players(
        "player_values", 'a list of strings, numbers, true, false, null or {{"number": "nan"}}, one per player'
    ),
    "shapley_values": _players("estimates", "a list of finite numbers, one per player"),
    "left_out": Field("a list of distinct indices of players", _left_out, or_null=True),
}
"""The fields of `TopPairs`."""
