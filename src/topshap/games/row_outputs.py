"""One output of the model for each row: the class that is predicted for it, for example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.fingerprints import fingerprint_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players, Values
    from topshap.games.predictions import PredictionsGame


class RowOutputs:
    """A game of many rows in which each row has an output of its own.

    Parameters
    ----------
    game
        The game of all outputs of the rows.
    positions
        The position of each row's output.
    signs
        1, or -1 for rows whose output is the negative of the model's.

    Examples
    --------
    >>> from topshap.games import PredictionsGame
    >>> def predict(X):
    ...     return np.stack([X[:, 0], 10.0 * X[:, 0]], axis=1)
    >>> both = PredictionsGame(predict, [[1.0, 5.0], [2.0, 5.0]], [[0.0, 0.0]], output="all")
    >>> RowOutputs(both, np.array([0, 1]), np.ones(2))(np.array([[True, True]]))
    array([[ 1., 20.]])
    """

    deterministic = True
    """Whether a coalition has the same value every time."""

    def __init__(self, game: PredictionsGame, positions: Players, signs: Values) -> None:
        self._game, self._positions, self._signs = game, positions, signs
        self._columns = np.arange(game.n_rows) * game.outputs_per_row + positions
        self.n_players, self.player_names = game.n_players, game.player_names
        self.n_rows = self.n_outputs = game.n_rows

    @property
    def output_names(self) -> tuple[str, ...]:
        """One name per row."""
        return tuple(f"row {i}" for i in range(self.n_rows))

    @property
    def dummies(self) -> NDArray[np.bool_]:
        """Players known to contribute nothing to a row, shape (rows, n)."""
        return self._game.dummies

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, None if the game of all outputs has none."""
        whole = self._game.fingerprint
        if whole is None:
            return None
        return fingerprint_of(type(self).__name__, game=whole, positions=self._positions, signs=self._signs)

    def __call__(self, coalitions: Coalitions, /) -> Matrix:
        """Return one number per coalition and row."""
        return self._of_rows(self._game(coalitions))

    def _of_rows(self, values: Any) -> Matrix:
        own: Matrix = values[:, self._columns] * self._signs
        return own
