"""Global importance of a trained model: the features are the players, and the value is a reduction of the loss."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import check_coalitions
from topshap.core.errors import GameError
from topshap.core.fingerprints import check_fingerprint, fingerprint_of, named_fingerprint_of
from topshap.core.validation import front_door
from topshap.games.losses import Loss, default_loss, prediction_for_loss
from topshap.games.predictions import PredictionsGame
from topshap.games.scoring import check_target
from topshap.games.tables import dense_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from topshap.core.typing import Coalitions, Matrix, Players, Values
    from topshap.games.imputers import ImputerName
    from topshap.games.losses import LossName

_MOST_VALUES = 2**22
"""The largest number of predictions that are kept at a time, which bounds memory."""


@front_door
class LossGame:
    """Global importance without retraining: v(S) is the loss that a model loses when the features in S become known.

    The value is the mean loss over the rows of X if no feature is known, minus the mean loss if those in S are known
    and the others are imputed. Its Shapley values are the SAGE values (Covert, Lundberg and Lee, 2020): they add up to
    the total reduction of the loss. `topshap.Explainer.importance` estimates them from a part of the rows.

    Parameters
    ----------
    model
        A fitted model with ``predict_proba`` or ``predict``, a torch module, or a function from rows to numbers.
    X
        The rows that the loss is averaged over, preferably not those that the model was trained on: an array or a data
        frame. The columns of a frame are matched by name.
    y
        The target of these rows: numbers; for ``"log-loss"`` the model's classes, or 0 and 1 or positions if it is a
        function; anything that a loss function of your own takes.
    background
        Rows that replace absent features; see `PredictionGame`. Large backgrounds are usually sampled.
    loss
        ``"mse"``, ``"mae"``, ``"log-loss"``, or a function of (y, prediction) that returns one number per row, where
        the prediction has one column per output if the model has several. By default ``"log-loss"`` for a model with
        ``predict_proba``, otherwise ``"mse"``. Probabilities are clipped to [1e-12, 1].
    imputer
        The values of features outside S: ``"marginal"``, ``"conditional"``, ``"mean-mode"``, ``"baseline"``,
        ``"missing"``, ``"gaussian"`` or ``"gaussian-copula"``; see `PredictionGame`. The loss is that of the averaged
        prediction.
    groups, always, categorical, feature_names, draws, missing_value, random_state, batch_bytes
        See `PredictionsGame`.
    fingerprint
        A name for the model and the loss in stores, if they cannot be fingerprinted.

    Attributes
    ----------
    n_rows : int
        The number of rows.
    output_name : str
        What is explained, such as ``"reduction of the log-loss"``.

    Examples
    --------
    >>> import topshap
    >>> X = np.array([[1.0, 0.0], [-1.0, 1.0], [2.0, 0.0], [-2.0, 1.0]])
    >>> game = LossGame(lambda X: 2.0 * X[:, 0], X, y=[2.0, -2.0, 4.0, -3.0], background=X)
    >>> game(np.array([[False, False], [True, False], [True, True]]))
    array([0., 8., 8.])
    >>> topshap.identify(game, k=1, player_names=["size", "colour"]).names
    ('size',)
    """

    deterministic = True
    """Whether a coalition has the same value every time."""

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        background: Any,
        *,
        loss: LossName | Callable[..., Any] | None = None,
        imputer: ImputerName = "marginal",
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        categorical: Iterable[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        draws: int = 100,
        missing_value: Any = None,
        random_state: int = 0,
        batch_bytes: int = 2**26,
        fingerprint: str | None = None,
    ) -> None:
        self._loss_option = default_loss(model) if loss is None else loss
        self._prediction = prediction_for_loss(model, self._loss_option)
        self._table = dense_table("X", X)
        self._target = check_target("y", y, self._table.n_rows)
        self._background = background
        self._options = {
            "imputer": imputer,
            "groups": groups,
            "always": always,
            "categorical": categorical,
            "feature_names": feature_names,
            "draws": draws,
            "missing_value": missing_value,
            "random_state": random_state,
            "batch_bytes": batch_bytes,
        }
        self._name = check_fingerprint(fingerprint)
        self._game = PredictionsGame(
            self._prediction, self._table.data, background, fingerprint=fingerprint, **self._options
        )
        self.n_rows = self._game.n_rows
        self._loss = Loss(self._loss_option, self._target, self._prediction, self._game.outputs_per_row)
        self.output_name = f"reduction of the {self._loss.name}"

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self._game.n_players

    @property
    def player_names(self) -> tuple[str, ...] | None:
        """One name per player."""
        return self._game.player_names

    @property
    def player_of(self) -> Players:
        """The player of each column; n_players for columns that are always known."""
        return self._game.player_of

    @property
    def fingerprint(self) -> str | None:
        """The identifier of this game in stores, or None; see `topshap.core.fingerprints`."""
        kind, inner = type(self).__name__, self._game.fingerprint
        if self._name is not None:
            return named_fingerprint_of(kind, self._name, game=inner, y=self._target, loss=self._loss_option)
        return None if inner is None else fingerprint_of(kind, game=inner, y=self._target, loss=self._loss_option)

    def __call__(self, coalitions: Coalitions, /) -> Values:
        """Return the value of each row of `coalitions`, a bool array of shape (m, n)."""
        return np.asarray(self.row_values(coalitions).mean(axis=1))

    def __repr__(self) -> str:
        return f"LossGame({self._loss.name}, {self.n_rows} rows, n_players={self.n_players})"

    def row_values(self, coalitions: Coalitions) -> Matrix:
        """Return the reduction of the loss of each row, shape (m, rows): the values that the game averages.

        Examples
        --------
        >>> game = LossGame(lambda X: X[:, 0], [[1.0], [3.0]], y=[1.0, 3.0], background=[[0.0]])
        >>> game.row_values(np.array([[True]]))
        array([[1., 9.]])
        """
        return self._losses_without - self.row_losses(coalitions)

    def row_losses(self, coalitions: Coalitions) -> Matrix:
        """Return the loss of each row if only the features of a coalition are known, shape (m, rows)."""
        checked = check_coalitions(coalitions, self.n_players)
        step = max(1, _MOST_VALUES // (self.n_rows * self._game.outputs_per_row))
        blocks = [self._losses(checked[start : start + step]) for start in range(0, len(checked), step)]
        return np.concatenate(blocks) if blocks else np.empty((0, self.n_rows))

    @property
    def predictions(self) -> PredictionsGame:
        """The game of the predictions that the loss is of, with one value per row and output."""
        return self._game

    def predictions_of(self, rows: Players) -> PredictionsGame:
        """Return the game of the predictions for some of the rows, given by their positions."""
        part = self._table.rows(np.asarray(rows)).data
        return PredictionsGame(self._prediction, part, self._background, fingerprint=self._name, **self._options)

    def losses_of(self, predictions: Matrix, rows: Players) -> Values:
        """Return the loss of each prediction.

        Parameters
        ----------
        predictions
            One line of outputs per prediction.
        rows
            The position of the row that each prediction is for.
        """
        losses = self._loss(predictions, rows)
        infinite = ~np.isfinite(losses)
        if infinite.any():
            place = int(np.flatnonzero(infinite)[0])
            got = f"{losses[place]} for a prediction of {predictions[place].tolist()}"
            raise GameError(f"The loss must be a finite number. {self._loss.name} returned {got}.")
        return losses

    def residuals_of(self, predictions: Matrix, rows: Players) -> Matrix:
        """Return the target minus each prediction, one column per output; see `losses_of`.

        With the log-loss, the target is 1 for the class of a row and 0 for the others. A loss function of your own has
        no residuals, so there are no columns.
        """
        return self._loss.residuals(predictions, rows)

    @cached_property
    def _losses_without(self) -> Values:
        """The loss of each row if no feature is known."""
        return self._losses(np.zeros((1, self.n_players), dtype=np.bool_))[0]

    def _losses(self, coalitions: Coalitions) -> Matrix:
        predictions = self._game(coalitions).reshape(-1, self._game.outputs_per_row)
        losses = self.losses_of(predictions, np.tile(np.arange(self.n_rows), len(coalitions)))
        return losses.reshape(len(coalitions), self.n_rows)
