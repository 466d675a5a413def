"""Models of any library as one function from a table to one number per row."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import GameError, ParameterError
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from topshap.core.typing import Values
    from topshap.games.tables import Table


class Prediction:
    """A predict function and the one of its outputs that is explained.

    Parameters
    ----------
    predict
        A function from a table to one number per row, or to one number per row and class.
    output
        The class: its name if the model has names for its classes, else its position. None for a single output.
    output_name
        A description of the output; by default the name of the function and the output.

    Attributes
    ----------
    predict, output
        As given.
    output_name : str
        The description of the output.

    Examples
    --------
    >>> second = Prediction(lambda X: np.stack([1 - X[:, 0], X[:, 0]], axis=1), output=1)
    >>> second(np.array([[0.25], [0.75]]))
    array([0.25, 0.75])
    >>> second.output_name
    '<lambda>, output 1'
    """

    def __init__(self, predict: Any, output: Any = None, output_name: str | None = None) -> None:
        if not callable(predict):
            hint = "a function from rows to numbers, for example model.predict_proba; topshap.Explainer takes a model"
            refuse("predict", predict, must_be=hint)
        self.predict, self.output = predict, _check_output(output)
        self._column = self._column_of(output)
        name = getattr(predict, "__name__", type(predict).__name__)
        self.output_name = output_name or (name if output is None else f"{name}, output {output!r}")

    @property
    def classes(self) -> list[Any] | None:
        """The names of the outputs if `predict` is a method of a classifier, else None."""
        classes = getattr(getattr(self.predict, "__self__", None), "classes_", None)
        return None if classes is None or getattr(self.predict, "__name__", "") == "predict" else list(classes)

    def __call__(self, data: Any) -> Values:
        """Return one number per row."""
        answer = as_array(self.predict(data))
        if answer.dtype.kind not in "biuf":
            raise GameError(
                f"A model has to predict numbers. Got {answer.dtype} ({answer.ravel()[:1].tolist()} first): "
                "for a classifier use its predict_proba, and say which class by 'output'."
            )
        if answer.ndim == 2 and answer.shape[1] > 1:
            answer = answer[:, self._column_within(answer.shape[1])]
        elif self._column not in (None, 0) or answer.ndim > 2:
            refuse("output", self.output, must_be="None for a model with one output")
        return answer.reshape(len(answer)).astype(np.float64)

    def try_on(self, table: Table, rows: np.ndarray[Any, Any]) -> None:
        """Predict a few rows, to find out early whether the model and the table fit together."""
        try:
            answer = self(table.mix(rows))
        except (ParameterError, GameError):
            raise
        except Exception as error:
            must_be = "a function that takes rows like x"
            if any("NotFitted" in kind.__name__ for kind in type(error).__mro__):
                must_be = "of a model that is fitted: call its fit first"
            complaint = f"must be {must_be}. It raised {type(error).__name__}: {error}"
            raise ParameterError.about("predict", complaint) from error
        if len(answer) != len(rows):
            refuse("predict", len(answer), must_be=f"a function that returns one answer per row, {len(rows)} here")

    def _column_of(self, output: Any) -> int | None:
        classes = self.classes
        if output is None:
            return None
        if classes is not None and output in classes:
            return classes.index(output)
        if not isinstance(output, int | np.integer) or isinstance(output, bool) or output < 0:
            must_be = "the position of an output, since the names of the outputs are not known"
            refuse("output", output, must_be=_one_of(classes) if classes is not None else must_be)
        return int(output)

    def _column_within(self, n_outputs: int) -> int:
        if self._column is None or self._column >= n_outputs:
            known = self.classes
            must_be = _one_of(known) if known is not None else f"the position of one of the {n_outputs} outputs"
            refuse("output", self.output, must_be=must_be)
        return self._column


def prediction_of(model: Any, output: Any = None) -> Prediction:
    """Return the prediction of a model that a user most likely wants explained.

    That is the probability of the positive class for a binary classifier and of the class `output` for one with more
    classes; the decision function of a classifier without probabilities; the prediction of a regressor; the output of
    a torch module; the result of a function.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> prediction_of(model).output_name
    "predict_proba of class 'yes'"
    """
    _check_output(output)
    if hasattr(model, "predict_proba"):
        return _probability(model, output)
    if hasattr(model, "decision_function") and hasattr(model, "classes_"):
        return _decision(model, output)
    if hasattr(model, "predict"):
        return Prediction(model.predict, output, "predict")
    if hasattr(model, "forward") and hasattr(model, "parameters"):
        return Prediction(TorchPredict(model), output, f"output {output or 0} of the module")
    if not callable(model):
        refuse("model_or_predict", model, must_be="a fitted model or a function from rows to numbers")
    return Prediction(model, output)


def _check_output(output: Any) -> Any:
    """Return the output, or refuse several at once."""
    if (isinstance(output, Collection) and not isinstance(output, str | bytes)) or np.ndim(output) > 0:
        must_be = "the name of one class or the position of one output, or None; explain several outputs one by one"
        refuse("output", output, must_be=must_be)
    return output


def _probability(model: Any, output: Any) -> Prediction:
    classes = list(getattr(model, "classes_", ()))
    if output is None and len(classes) == 2:
        output = classes[1]
    elif output is None and classes:
        refuse("output", None, must_be=_one_of(classes))
    return Prediction(model.predict_proba, output, _of_class("predict_proba", output))


def _decision(model: Any, output: Any) -> Prediction:
    # The decision function of two classes is a single column, which belongs to the second one.
    column = output if len(model.classes_) > 2 or output != model.classes_[1] else None
    return Prediction(model.decision_function, column, _of_class("decision_function", output))


def _of_class(method: str, output: Any) -> str:
    return method if output is None else f"{method} of class {_plain(output)!r}"


class TorchPredict:
    """The forward pass of a torch module as a function of a table, without gradients and in evaluation mode."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __call__(self, data: Any) -> np.ndarray[Any, Any]:
        """Return the module's output for the rows, passed as a tensor of the dtype of its parameters."""
        import torch  # noqa: PLC0415 - imported by the user

        like = next(iter(self.module.parameters()), torch.zeros(()))
        rows = data.to_numpy() if hasattr(data, "to_numpy") else np.asarray(data)
        was_training = self.module.training
        self.module.eval()
        try:
            with torch.no_grad():
                return as_array(self.module(torch.as_tensor(rows).to(dtype=like.dtype, device=like.device)))
        finally:
            self.module.train(was_training)


def as_array(answer: Any) -> np.ndarray[Any, Any]:
    """Return a model's answer as an array, also if it is a torch tensor on another device."""
    if hasattr(answer, "detach") and hasattr(answer, "cpu"):
        answer = answer.detach().cpu().numpy()
    return np.asarray(answer)


def _one_of(classes: list[Any]) -> str:
    return f"one of the model's classes, {', '.join(repr(_plain(each)) for each in classes)}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
