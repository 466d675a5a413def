"""The results of many rows as arrays, and lazy views of the results themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from topshap.core.cells import stacked_cells
from topshap.core.result import TopK
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.covariances import CovarianceParts
    from topshap.core.typing import Players, Values

ARRAYS = ("players", "estimates", "std_errors", "empty", "grand")
"""The attributes of a sequence of results that hold the numbers of all of them, one row each."""


class Results(Protocol):
    """One result per row, or one per row and output."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> Any: ...


@dataclass(frozen=True, eq=False)
class Picked:
    """Some of the results, by position."""

    results: Results
    positions: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, row: int, /) -> Any:
        return self.results[int(self.positions[row])]


@dataclass(frozen=True, eq=False)
class Folded:
    """Results for each output of each row, given in one sequence: the outputs of the first row come first."""

    results: Results
    n_outputs: int

    def __len__(self) -> int:
        return len(self.results) // self.n_outputs

    def __getitem__(self, row: int, /) -> tuple[TopK, ...]:
        return tuple(self.results[row * self.n_outputs + output] for output in range(self.n_outputs))


@dataclass(frozen=True, eq=False)
class OneOutput:
    """The results for one output of several."""

    results: Results
    output: int

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, row: int, /) -> TopK:
        top: TopK = self.results[row][self.output]
        return top


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """The numbers of all rows as arrays; with several outputs, the second axis is the output.

    Examples
    --------
    >>> import topshap
    >>> tops = [topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, x]), k=1) for x in (2.0, 4.0)]
    >>> rows = ExplainedRows.of(tops)
    >>> rows.players.tolist(), rows.take(np.array([1])).estimates
    ([[0], [2]], array([[3., 1., 4.]]))
    """

    results: Results
    players: Players
    estimates: Values
    std_errors: Values
    empty: Values
    grand: Values
    evaluations: NDArray[np.intp]

    def __post_init__(self) -> None:
        for name in (*ARRAYS, "evaluations"):
            getattr(self, name).flags.writeable = False

    @classmethod
    def of(cls, results: Sequence[Any], n_outputs: int | None = None) -> ExplainedRows:
        """Return the arrays of results: taken from the attributes of the sequence if it has them, else stacked."""
        if len(results) == 0:
            none, nobody = np.empty((0, 0)), np.empty((0, 0), dtype=np.intp)
            return cls(results, nobody, none, none, np.empty(0), np.empty(0), np.empty(0, dtype=np.intp))
        one_per_row = isinstance(results[0], TopK)
        arrays = _arrays(results) if one_per_row else _stacked([_arrays(outputs) for outputs in results])
        evaluations = _evaluations(results)
        if n_outputs is not None:
            arrays = {name: array.reshape(-1, n_outputs, *array.shape[1:]) for name, array in arrays.items()}
            evaluations = evaluations.reshape(-1, n_outputs).max(axis=1)
            return cls(Folded(results, n_outputs), **arrays, evaluations=evaluations)
        return cls(results, **arrays, evaluations=evaluations)

    def take(self, positions: NDArray[np.intp]) -> ExplainedRows:
        """Return some of the rows, in this order."""
        inner = self.results
        picked = Picked(inner.results, inner.positions[positions]) if isinstance(inner, Picked) else None
        changed = {name: getattr(self, name)[positions] for name in (*ARRAYS, "evaluations")}
        return replace(self, results=picked or Picked(inner, positions), **changed)

    def output(self, output: int) -> ExplainedRows:
        """Return one of several outputs of all rows."""
        changed = {name: getattr(self, name)[:, output] for name in ARRAYS}
        return replace(self, results=OneOutput(self.results, output), **changed)


def first_result(results: Results) -> TopK | None:
    """Return the first result, None if there are none."""
    if len(results) == 0:
        return None
    first = results[0]
    top: TopK = first if isinstance(first, TopK) else first[0]
    return top


def player_values_of(results: Results) -> NDArray[Any] | None:
    """Return the value of each player in each row that the results bring with them, None if they have none."""
    first = first_result(results)
    if first is None:
        return None
    together = getattr(results, "player_values", None)
    if isinstance(together, np.ndarray):
        return together
    if getattr(first, "player_values", None) is None:
        return None
    tops = (first_result(Picked(results, np.array([row]))) for row in range(len(results)))
    return stacked_cells((getattr(top, "player_values", None) for top in tops), first.n_players)


def explained_outputs(results: Results) -> tuple[str, ...] | None:
    """Return the name of the output of each row, None if rows have several outputs, or outputs have no names."""
    if isinstance(results, Picked):
        inner = explained_outputs(results.results)
        return None if inner is None else tuple(inner[i] for i in results.positions.tolist())
    if not isinstance(results, Sequence) or len(results) == 0 or not isinstance(results[0], TopK):
        return None
    together = getattr(results, "names_of_outputs", None)
    names = [top.output_name for top in results] if together is None else list(together)
    known = tuple(name for name in names if name is not None)
    return known if len(known) == len(results) else None


def confidence_of(results: Results) -> Values:
    """Return the confidence of each result, from the sequence that holds them if it knows all of them."""
    together = _shared_confidence(results)
    if together is not None:
        return np.asarray(together, dtype=np.float64)
    rows = [results[row] for row in range(len(results))]
    return np.array([row.confidence if isinstance(row, TopK) else confidence_of(row) for row in rows], dtype=np.float64)


def covariance_parts_of(results: Results) -> CovarianceParts | None:
    """Return the covariances that results share, from the sequence that holds them; None if it does not know them."""
    if not isinstance(results, Picked | Folded | OneOutput):
        found: CovarianceParts | None = getattr(results, "covariance_parts", None)
        return found
    inner = covariance_parts_of(results.results)
    if inner is None:
        return None
    if isinstance(results, Folded):
        return inner.of(np.arange(len(inner.which)).reshape(-1, results.n_outputs))
    return inner.of(results.positions if isinstance(results, Picked) else (slice(None), results.output))


def _shared_confidence(results: Results) -> Any:
    if not isinstance(results, Picked | Folded | OneOutput):
        return getattr(results, "confidence", None)
    inner = _shared_confidence(results.results)
    if inner is None or isinstance(results, Folded):
        return inner if inner is None else np.reshape(inner, (-1, results.n_outputs))  # type: ignore[union-attr]
    return inner[results.positions] if isinstance(results, Picked) else inner[:, results.output]


def _arrays(results: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a sequence of `TopK`."""
    if all(hasattr(results, name) for name in ARRAYS):
        return {name: np.array(getattr(results, name)) for name in ARRAYS}
    tops = list(results)
    _check_alike(tops)
    return {name: np.array([getattr(top, name) for top in tops]) for name in ARRAYS}


def _stacked(rows: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    shapes = {(row["estimates"].shape, row["players"].shape) for row in rows}
    if len(shapes) > 1:
        got = f"{len(shapes)} different numbers of outputs, players or k"
        refuse("results", must_be="results for the same outputs, the same players and the same k", got=got)
    return {name: np.stack([row[name] for row in rows]) for name in ARRAYS}


def _check_alike(tops: list[Any]) -> None:
    """Refuse results that cannot be compared: of other players, for another k, or ranked in another way."""
    for top in tops:
        if not isinstance(top, TopK):
            refuse("results", must_be="a sequence of TopK, or of sequences of TopK", got=f"a {type(top).__name__}")
    first = tops[0]
    same = {"order": "order", "n_players": "players", "player_names": "players", "k": "k", "rank_by": "rank_by"}
    for name, what in same.items():
        other = next((top for top in tops if getattr(top, name) != getattr(first, name)), None)
        if other is not None:
            got = f"{name}={getattr(first, name)!r} and {name}={getattr(other, name)!r}"
            refuse("results", must_be=f"results for the same {what}", got=got)


def _evaluations(results: Results) -> NDArray[np.intp]:
    """Return the evaluations of each row; a coalition is paid for once, whatever the number of outputs."""
    shared = getattr(results, "evaluations", None)
    if shared is not None:
        return np.broadcast_to(shared, len(results)).astype(np.intp)
    return np.array([_spent(results[row]) for row in range(len(results))], dtype=np.intp)


def _spent(result: Any) -> int:
    return int(result.evaluations) if hasattr(result, "evaluations") else max(int(top.evaluations) for top in result)
