"""A game of many rows that is evaluated for some of the rows only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.fingerprints import fingerprint_of

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Matrix


class WantedRows:
    """A game whose coalitions say which outputs they are evaluated for.

    A coalition has one further bit per output, so that workers and stores treat a coalition for some rows like any
    other. The values of outputs that are not wanted are 0.

    Parameters
    ----------
    game
        A game of many rows with the method ``evaluate_for``, such as `topshap.games.PredictionsGame`.

    Examples
    --------
    >>> from topshap.games import PredictionsGame
    >>> game = WantedRows(PredictionsGame(lambda X: X[:, 0], [[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0]]))
    >>> game(np.array([[True, False, False, True]]))  # the first player, for the second row
    array([[0., 3.]])
    """

    deterministic = True
    """Whether a coalition has the same value every time."""

    def __init__(self, game: Any) -> None:
        self._game = game
        self.n_outputs: int = game.n_outputs
        self.n_players: int = game.n_players + game.n_outputs

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, None if the game has none."""
        whole = self._game.fingerprint
        return None if whole is None else fingerprint_of(type(self).__name__, game=whole)

    def __call__(self, coalitions: Coalitions, /) -> Matrix:
        """Return the values of the outputs that are wanted, and 0 for the others, shape (m, outputs)."""
        players, wanted = np.split(coalitions, [self._game.n_players], axis=1)
        n_rows = self._game.n_rows
        rows = wanted.reshape(len(wanted), n_rows, -1).any(axis=2)  # a row is predicted for all of its outputs at once
        return np.where(wanted, self._game.evaluate_for(players, rows), 0.0)
