"""How rows and outputs are counted and selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.result import TopK
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def outputs_in_one_sequence(results: Sequence[Any], output_names: tuple[str, ...] | None) -> int | None:
    """Return the number of outputs if these are in one sequence with the rows, else None."""
    if output_names is None or len(output_names) < 2 or len(results) == 0 or not isinstance(results[0], TopK):
        return None
    if len(results) % len(output_names):
        must_be = f"one result per row and output, a multiple of {len(output_names)}"
        refuse("results", must_be=must_be, got=f"{len(results)} results")
    return len(output_names)


def selected_positions(index: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the positions that a slice, positions or a bool array select, as numpy does."""
    if isinstance(index, slice):
        return np.arange(n_rows)[index]
    chosen = np.asarray(index) if np.size(index) else np.empty(0, dtype=np.intp)  # an empty list has no type
    if isinstance(index, tuple) or chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise TypeError(f"Rows are selected by an int, a slice, a list of ints or a bool array, not by {index!r}.")
    return np.arange(n_rows)[chosen]


def named_players(players: list[Any], names: tuple[str, ...]) -> Any:
    """Return the names of players in place of their indices, in nested lists."""
    if players and isinstance(players[0], int):
        return tuple(names[i] for i in players)
    return [named_players(each, names) for each in players]
