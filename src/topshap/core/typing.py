"""Types for coalitions, values, players and games."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Coalition: TypeAlias = NDArray[np.bool_]
"""One coalition: a bool array of shape (n,), true for the players inside."""

Coalitions: TypeAlias = NDArray[np.bool_]
"""Several coalitions, one per row: a bool array of shape (m, n)."""

Values: TypeAlias = NDArray[np.float64]
"""Numbers: one per coalition, or one per player."""

Matrix: TypeAlias = NDArray[np.float64]
"""A float array of shape (n, n) or (m, n)."""

Players: TypeAlias = NDArray[np.intp]
"""Indices of players."""


class Game(Protocol):
    """A cooperative game: a callable that returns one value per row of a bool array of shape (m, n).

    The optional attributes ``n_players`` (an int) and ``player_names`` (one string per player) are used if the caller
    does not give them. The optional attribute ``deterministic`` is False if the values vary from call to call. The
    optional attributes ``player_values`` (the value of each player in the explained input) and ``output_name`` (what
    the value of a coalition is) are part of the result. A game with several outputs returns an array of shape (m, R).
    The optional attributes ``n_outputs`` (R) and ``output_names`` (one string per output) declare them.
    """

    def __call__(self, coalitions: Coalitions, /) -> Any:
        """Return one number per row of `coalitions`, or one row of numbers."""
