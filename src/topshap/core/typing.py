"""The words of the domain, as types: what a coalition, a value and a game are to the rest of the package."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Coalition: TypeAlias = NDArray[np.bool_]
"""One coalition: a bool array of shape (n,), true for the players inside."""

Coalitions: TypeAlias = NDArray[np.bool_]
"""Several coalitions, one a row: a bool array of shape (m, n)."""

Values: TypeAlias = NDArray[np.float64]
"""Numbers: one per coalition, or one per player."""

Matrix: TypeAlias = NDArray[np.float64]
"""A float array of shape (n, n) or (m, n)."""

Players: TypeAlias = NDArray[np.intp]
"""Indices of players."""


class Game(Protocol):
    """A cooperative game: the values of the coalitions in the rows of a bool array of shape (m, n).

    Any callable of this form is a game. Where it has an attribute ``n_players`` (an int) or ``player_names`` (one
    string per player), these are used when the caller does not give them. ``deterministic = False`` says that its
    values vary from call to call.
    """

    def __call__(self, coalitions: Coalitions, /) -> Any:
        """Return one number per row of `coalitions`."""
