"""Losses: how far the predictions of a model are from the target, one number per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from topshap.core.errors import GameError
from topshap.core.validation import check_choice, refuse
from topshap.games.outputs import ALL_OUTPUTS, Prediction, prediction_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from topshap.core.typing import Matrix, Players, Values

LossName: TypeAlias = Literal["mse", "mae", "log-loss"]
LOSSES: tuple[LossName, ...] = ("mse", "mae", "log-loss")

CLIP = 1e-12
"""Probabilities are clipped to [CLIP, 1] before the logarithm, so that a log-loss is at most 27.6."""

_ROUNDING = 1e-6
"""How far a probability may be outside [0, 1], since models compute in single precision."""


def default_loss(model: Any) -> LossName:
    """Return ``"log-loss"`` for a model with probabilities, otherwise ``"mse"``."""
    return "log-loss" if _has_probabilities(model) else "mse"


def prediction_for_loss(model: Any, loss: Any) -> Prediction:
    """Return all outputs of a model that a loss compares with the target; raise an error if they do not fit it.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    >>> prediction_for_loss(model, "mse").output_name
    'predict'
    >>> prediction_for_loss(model, "log-loss")
    Traceback (most recent call last):
    ...
    topshap.core.errors.ParameterError: The 'loss' parameter must be 'mse', 'mae' or a function of (y, prediction) for a
    model without predict_proba. Got 'log-loss' instead.
    """
    if isinstance(model, Prediction):
        return model
    if not callable(loss):
        check_choice("loss", loss, LOSSES)
    is_function = callable(model) and not hasattr(model, "predict")
    if loss in ("mse", "mae") and (_has_probabilities(model) or hasattr(model, "classes_")):
        must_be = "'log-loss' or a function of (y, prediction) for a classifier"
        refuse("loss", loss, must_be=must_be)
    if loss == "log-loss" and not (_has_probabilities(model) or is_function):
        refuse("loss", loss, must_be="'mse', 'mae' or a function of (y, prediction) for a model without predict_proba")
    of_method = getattr(model, "__self__", None) if getattr(model, "__name__", None) == "predict" else None
    if loss == "log-loss" and hasattr(of_method, "classes_"):
        must_be = "a classifier, or its method predict_proba, for the log-loss"
        refuse("model", got="its method predict", must_be=must_be)
    return prediction_of(model, ALL_OUTPUTS)


class Loss:
    """A loss with the targets of all rows.

    Parameters
    ----------
    loss
        ``"mse"``, ``"mae"``, ``"log-loss"``, or a function of (y, prediction) that returns one number per row.
    y
        The target, with one element per row.
    prediction
        The outputs of the model; its classes are the labels of the log-loss.
    n_outputs
        Their number.

    Examples
    --------
    >>> loss = Loss("mse", np.array([1.0, 3.0]), Prediction(lambda X: X[:, 0]), 1)
    >>> loss(np.array([[0.0], [0.0]]), np.array([0, 1]))
    array([1., 9.])
    """

    def __init__(
        self, loss: LossName | Callable[..., Any], y: NDArray[Any], prediction: Prediction, n_outputs: int
    ) -> None:
        self._function = None if isinstance(loss, str) else loss
        self._name = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
        self._n_outputs = n_outputs
        if loss == "log-loss":
            self._target: NDArray[Any] = _positions(y, prediction.classes, n_outputs)
        else:
            self._target = y if self._function is not None else _numbers(y, n_outputs)

    @property
    def name(self) -> str:
        """The name of the loss, or that of the function."""
        return self._name

    def __call__(self, predictions: Matrix, rows: Players) -> Values:
        """Return the loss of each prediction.

        Parameters
        ----------
        predictions
            One line of outputs per prediction.
        rows
            The row that each prediction belongs to.
        """
        target = self._target[rows]
        if self._function is not None:
            return self._of_function(target, predictions)
        if self._name == "log-loss":
            return _log_losses(target, predictions)
        error = predictions - target
        each = error**2 if self._name == "mse" else np.abs(error)
        return np.asarray(each.mean(axis=1))

    def residuals(self, predictions: Matrix, rows: Players) -> Matrix:
        """Return the target minus each prediction, one column per output; none for a function."""
        if self._function is not None:
            return np.empty((len(predictions), 0))
        target = self._target[rows]
        if self._name == "log-loss":
            classes = np.array([1]) if self._n_outputs == 1 else np.arange(self._n_outputs)
            target = (target[:, None] == classes).astype(np.float64)
        return np.asarray(target - predictions)

    def _of_function(self, target: NDArray[Any], predictions: Matrix) -> Values:
        answer = self._function(target, predictions[:, 0] if self._n_outputs == 1 else predictions)  # type: ignore[misc]
        losses = np.asarray(answer, dtype=np.float64)
        if losses.shape != (len(target),):
            must_be = "The loss must be a function of (y, prediction) that returns one number per row."
            raise GameError(f"{must_be} {self._name} returned an array of shape {losses.shape} for {len(target)} rows.")
        return losses


def _has_probabilities(model: Any) -> bool:
    return hasattr(model, "predict_proba") or getattr(model, "__name__", None) == "predict_proba"


def _numbers(y: NDArray[Any], n_outputs: int) -> Matrix:
    """Return a numeric target, shape (rows, outputs)."""
    if y.dtype.kind not in "biuf":
        must_be = "numbers for the losses 'mse' and 'mae'"
        refuse("y", got=f"an array of {y.dtype}", must_be=must_be)
    numbers = y.astype(np.float64).reshape(len(y), -1)
    if numbers.shape[1] != n_outputs:
        must_be = f"one number per row and output of the model, shape ({len(y)}, {n_outputs})"
        refuse("y", got=f"an array of shape {y.shape}", must_be=must_be)
    if not np.isfinite(numbers).all():
        refuse("y", got="missing or infinite values", must_be="finite numbers")
    return numbers


def _positions(y: NDArray[Any], classes: list[Any] | None, n_outputs: int) -> Players:
    """Return the position of the class of each row."""
    if y.ndim != 1:
        refuse("y", got=f"an array of shape {y.shape}", must_be="one class per row for the log-loss")
    known = classes if classes is not None else list(range(max(2, n_outputs)))
    position = {label: i for i, label in enumerate(known)}
    unknown = [label for label in dict.fromkeys(y.tolist()) if label not in position]
    if unknown:
        of_model = "the model's classes" if classes is not None else "the positions of the model's outputs"
        refuse("y", unknown[0], must_be=f"one of {of_model} in each row, {', '.join(map(repr, known[:20]))}")
    return np.array([position[label] for label in y.tolist()], dtype=np.intp)


def _log_losses(positions: Players, predictions: Matrix) -> Values:
    outside = (predictions < -_ROUNDING) | (predictions > 1.0 + _ROUNDING)
    if outside.any():
        got = float(predictions[outside].ravel()[0])
        raise GameError(f"The log-loss needs probabilities. Got a prediction of {got} instead.")
    if predictions.shape[1] == 1:
        chances = np.where(positions == 1, predictions[:, 0], 1.0 - predictions[:, 0])
    else:
        chances = predictions[np.arange(len(predictions)), positions]
    return np.asarray(-np.log(np.clip(chances, CLIP, 1.0)))
