"""One output of the model for each row: the class that is predicted for it, for example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.fingerprints import fingerprint_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players
    from topshap.games.predictions import PredictionsGame


class RowOutputs:
    """A game of many rows in which each row has an output of its own.

    Parameters
    ----------
    game
        The game of all outputs of the rows.
    positions
        The position of each row's output. If the model has a single output, as the decision function of two classes
        has, the output at position 0 is its negative.

    Examples
    --------
    >>> from topshap.games import PredictionsGame
    >>> def predict(X):
    ...     return np.stack([X[:, 0], 10.0 * X[:, 0]], axis=1)
    >>> both = PredictionsGame(predict, [[1.0, 5.0], [2.0, 5.0]], [[0.0, 0.0]], output="all")
    >>> RowOutputs(both, np.array([0, 1]))(np.array([[True, True]]))
    array([[ 1., 20.]])
    """

    deterministic = True
    """Whether a coalition has the same value every time."""

    def __init__(self, game: PredictionsGame, positions: Players) -> None:
        self._game, self._positions = game, positions
        single = game.outputs_per_row == 1
        self._signs = np.where(positions == 0, -1.0, 1.0) if single else np.ones(game.n_rows)
        self._columns = np.arange(game.n_rows) * game.outputs_per_row + (0 if single else positions)
        self.n_players, self.player_names = game.n_players, game.player_names
        self.n_rows = self.n_outputs = game.n_rows
        self.n_replacing = game.n_replacing

    @property
    def output_names(self) -> tuple[str, ...]:
        """One name per row."""
        return tuple(f"row {i}" for i in range(self.n_rows))

    @property
    def player_table(self) -> NDArray[Any]:
        """The value of each player in each row, shape (rows, n)."""
        return self._game.player_table

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
        return fingerprint_of(type(self).__name__, game=whole, positions=self._positions)

    def __call__(self, coalitions: Coalitions, /) -> Matrix:
        """Return one number per coalition and row."""
        return self._own(self._game(coalitions))

    def evaluate_for(self, coalitions: Coalitions, wanted: NDArray[np.bool_]) -> Matrix:
        """Evaluate each coalition for some of the rows only; see `topshap.games.PredictionsGame.evaluate_for`."""
        return self._own(self._game.evaluate_for(coalitions, wanted))

    def _own(self, values: Matrix) -> Matrix:
        own: Matrix = values[:, self._columns] * self._signs
        return own
