"""A table of rows as one game, whose coalitions also have the number of the row that they are evaluated for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.fingerprints import fingerprint_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topshap.core.typing import Coalitions, Matrix, Players, Values


class NumberedRows:
    """A game whose coalitions have one further bit per binary digit of the number of a row.

    Workers and stores treat a coalition of one row like any other. Each value is the prediction for one row, or one
    number per output of the model. `WantedRows` is for coalitions that are evaluated for many rows each.

    The background may be divided into parts, each with games of its own. The number of row r and part p of P is then
    r P + p.

    Parameters
    ----------
    games_of
        For each part, a function from positions of rows to their game, with the method ``evaluate_for``, such as
        `topshap.games.PredictionsGame`.
    game
        The game of all rows with the whole background.

    Examples
    --------
    >>> from topshap.games import PredictionsGame
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> def game_of(rows):
    ...     return PredictionsGame(lambda X: X[:, 0], X[rows], [[0.0, 0.0]])
    >>> game = NumberedRows([game_of], game_of(np.arange(3)))
    >>> asked = game.asked(np.array([[True, False], [True, True], [False, True]]), np.array([2, 0, 1]))
    >>> asked.astype(int)  # two players, and two digits, the lowest first
    array([[1, 0, 0, 1],
           [1, 1, 0, 0],
           [0, 1, 1, 0]])
    >>> game(asked)
    array([5., 1., 0.])
    """

    deterministic = True
    """Whether a coalition has the same value every time."""

    def __init__(self, games_of: Sequence[Callable[[Players], Any]], game: Any) -> None:
        self._games_of, self._game = tuple(games_of), game
        self.n_rows: int = game.n_rows
        self.n_parts = len(self._games_of)
        self._n_digits = max(1, int(self.n_rows * self.n_parts - 1).bit_length())
        self._n_outputs: int = game.n_outputs // game.n_rows
        self.n_features: int = game.n_players
        self.n_players: int = game.n_players + self._n_digits
        self.n_outputs = None if self._n_outputs == 1 else self._n_outputs

    @property
    def player_names(self) -> tuple[str, ...]:
        """The names of the players and digits, for messages."""
        players = self._game.player_names or tuple(map(str, range(self.n_features)))
        return (*players, *(f"digit {2**place} of the row" for place in range(self._n_digits)))

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, None if the game of all rows has none."""
        whole = self._game.fingerprint
        # One part is left out, so that stores written before there were parts are still recognised.
        parts = {} if self.n_parts == 1 else {"parts": self.n_parts}
        return None if whole is None else fingerprint_of(type(self).__name__, game=whole, **parts)

    def asked(self, coalitions: Coalitions, numbers: Players) -> Coalitions:
        """Return coalitions of the players, each with the number of the row that it is evaluated for."""
        digits = (np.asarray(numbers)[:, None] >> np.arange(self._n_digits)) & 1
        return np.concatenate([coalitions, digits.astype(np.bool_)], axis=1)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each coalition for its row, shape (m,), or (m, outputs) if the model has several."""
        players, digits = np.split(coalitions, [self.n_features], axis=1)
        rows, parts = np.divmod(digits @ (1 << np.arange(self._n_digits)), self.n_parts)
        values = np.empty((len(players), self._n_outputs))
        for part in np.unique(parts).tolist():
            own = parts == part
            values[own] = self._of_part(part, players[own], rows[own])
        return np.asarray(values[:, 0] if self.n_outputs is None else values)

    def _of_part(self, part: int, players: Coalitions, numbers: Players) -> Matrix:
        rows, row = np.unique(numbers, return_inverse=True)
        # Rows that share a coalition are evaluated together, which merges equal masked rows.
        _, first, which = np.unique(np.packbits(players, axis=1), axis=0, return_index=True, return_inverse=True)
        row, which = row.reshape(-1), which.reshape(-1)
        wanted = np.zeros((len(first), len(rows)), dtype=np.bool_)
        wanted[which, row] = True
        game = self._game if len(rows) == self.n_rows and self.n_parts == 1 else self._games_of[part](rows)
        values = game(players[first]) if wanted.all() else game.evaluate_for(players[first], wanted)
        return np.asarray(values.reshape(len(first), len(rows), self._n_outputs)[which, row])
