"""Models of any library as functions from a table to one number per row, or to one number per row and output."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import GameError, ParameterError
from topshap.core.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topshap.core.typing import Matrix, Values
    from topshap.games.tables import Table


ALL_OUTPUTS = "all"
"""The name that stands for all outputs of a model."""


class Prediction:
    """A predict function and the output to explain.

    Parameters
    ----------
    predict
        A function from a table to one number per row, or to one number per row and class.
    output
        The class to explain: its name if the model names its classes, otherwise its position. None for a single output,
        and ``"all"`` for all outputs, unless a class has this name.
    output_name
        A description of the output; by default the names of the function and of the output.

    Attributes
    ----------
    predict, output
        As given.
    output_name : str
        The description of the output.
    several : bool
        Whether all outputs are explained.

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
            hint = "a function from rows to numbers, such as model.predict_proba; topshap.Explainer takes a model"
            refuse("predict", predict, must_be=hint)
        self.predict, self.output = predict, _check_output(output)
        classes = self.classes
        self.several = isinstance(output, str) and output == ALL_OUTPUTS and not (classes and output in classes)
        self._column = None if self.several else self._column_of(output)
        name = getattr(predict, "__name__", type(predict).__name__)
        self.output_name = output_name or (name if output is None else f"{name}, output {output!r}")

    @property
    def classes(self) -> list[Any] | None:
        """The names of the outputs if `predict` is a method of a classifier, otherwise None."""
        classes = getattr(getattr(self.predict, "__self__", None), "classes_", None)
        return None if classes is None or getattr(self.predict, "__name__", "") == "predict" else list(classes)

    def __call__(self, data: Any) -> Values:
        """Return one number per row, or with all outputs one row of numbers per row."""
        answer = self.outputs(data)
        return answer if self.several else answer[:, 0]

    def names(self, n_outputs: int) -> tuple[str, ...]:
        """Return one name for each of all outputs: the names of the classes, or numbers.

        Examples
        --------
        >>> Prediction(lambda X: X, output="all").names(2)
        ('output 0', 'output 1')
        """
        classes = self.classes
        if classes is not None and len(classes) == n_outputs:
            return tuple(str(each) for each in classes)
        return tuple(f"output {i}" for i in range(n_outputs))

    def outputs(self, data: Any) -> Matrix:
        """Return one column for each output that is explained, shape (rows, outputs).

        Examples
        --------
        >>> Prediction(lambda X: np.stack([1 - X[:, 0], X[:, 0]], axis=1), output="all").outputs(np.array([[0.25]]))
        array([[0.75, 0.25]])
        """
        answer = as_array(self.predict(data))
        if answer.dtype.kind not in "biuf":
            raise GameError(
                f"The model must predict numbers. Got {answer.dtype} instead, starting with "
                f"{answer.ravel()[:1].tolist()}. For a classifier, use predict_proba and name a class as 'output'."
            )
        if answer.ndim == 2 and answer.shape[1] > 1:
            answer = answer if self.several else answer[:, [self._column_within(answer.shape[1])]]
        elif self._column not in (None, 0) or answer.ndim > 2:
            refuse("output", self.output, must_be="None for a model with one output")
        if answer.ndim == 0:
            raise GameError(f"The model must return one number per row. Got {answer} instead.")
        return answer.reshape(len(answer), -1 if len(answer) else 1).astype(np.float64)

    def try_on(self, table: Table, rows: np.ndarray[Any, Any]) -> Matrix:
        """Predict a few rows to check early that the model accepts the table, and return the outputs."""
        return self.try_on_data(table.mix(rows), len(rows))

    def try_on_data(self, data: Any, n_rows: int) -> Matrix:
        """Predict data of a few rows, to check early that the model accepts it, and return the outputs."""
        with explained_errors():
            answer = self.outputs(data)
        if len(answer) != n_rows:
            refuse("predict", len(answer), must_be=f"a function that returns one number per row, {n_rows} here")
        return answer

    def _column_of(self, output: Any) -> int | None:
        classes = self.classes
        if output is None:
            return None
        if classes is not None and output in classes:
            return classes.index(output)
        if not isinstance(output, int | np.integer) or isinstance(output, bool) or output < 0:
            must_be = "the position of an output, since the outputs have no names"
            refuse("output", output, must_be=_one_of(classes) if classes is not None else must_be)
        return int(output)

    def _column_within(self, n_outputs: int) -> int:
        if self._column is None or self._column >= n_outputs:
            known = self.classes
            must_be = _one_of(known) if known is not None else f"the position of one of the {n_outputs} outputs"
            refuse("output", self.output, must_be=must_be)
        return self._column


@contextmanager
def explained_errors() -> Iterator[None]:
    """Raise an error of a model as a `ParameterError` that says what is wrong with it."""
    try:
        yield
    except (ParameterError, GameError):
        raise
    except Exception as error:
        must_be = "a function that takes rows like x"
        if any("NotFitted" in kind.__name__ for kind in type(error).__mro__):
            must_be = "a method of a fitted model: call fit first"
        complaint = f"must be {must_be}. It raised {type(error).__name__}: {error}"
        raise ParameterError.about("predict", complaint) from error


def prediction_of(model: Any, output: Any = None) -> Prediction:
    """Return the prediction to explain for a model.

    For a classifier, it is the probability of the class `output`, which is by default the positive class of a binary
    classifier; without probabilities, it is the decision function. For a regressor it is the prediction, for a torch
    module its output, and for a function its result.

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
        which = "all outputs" if output == ALL_OUTPUTS else f"output {output or 0}"
        return Prediction(TorchPredict(model), output, f"{which} of the module")
    if not callable(model):
        refuse("model_or_predict", model, must_be="a fitted model or a function from rows to numbers")
    return Prediction(model, output)


def _check_output(output: Any) -> Any:
    """Return the output; raise an error if several are given."""
    if (isinstance(output, Collection) and not isinstance(output, str | bytes)) or np.ndim(output) > 0:
        must_be = "the name of one class or the position of one output, or None; explain several outputs one by one"
        refuse("output", output, must_be=must_be)
    return output


def _probability(model: Any, output: Any) -> Prediction:
    classes = list(getattr(model, "classes_", ()))
    if output == ALL_OUTPUTS and output not in classes:
        return Prediction(model.predict_proba, output, "predict_proba of all classes")
    if output is None and len(classes) == 2:
        output = classes[1]
    elif output is None and classes:
        refuse("output", None, must_be=_one_of(classes))
    return Prediction(model.predict_proba, output, _of_class("predict_proba", output))


def _decision(model: Any, output: Any) -> Prediction:
    name, classes = _of_class("decision_function", output), list(model.classes_)
    if output == ALL_OUTPUTS and output not in classes:
        return Prediction(model.decision_function, output, "decision_function of all classes")
    if len(classes) == 2 and output in classes:
        # The decision function is a single column, which belongs to the second class.
        first = output == classes[0]
        return Prediction(NegatedDecision(model) if first else model.decision_function, None, name)
    return Prediction(model.decision_function, output, name)


def _of_class(method: str, output: Any) -> str:
    return method if output is None else f"{method} of class {_plain(output)!r}"


class NegatedDecision:
    """The decision function of a classifier with two classes for the first of them."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, data: Any) -> np.ndarray[Any, Any]:
        """Return the negative decision function of the rows."""
        return -as_array(self.model.decision_function(data))


class TorchPredict:
    """The forward pass of a torch module as a function of a table, in evaluation mode and without gradients."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __call__(self, data: Any) -> np.ndarray[Any, Any]:
        """Return the output of the module for the rows, converted to a tensor with the dtype of its parameters."""
        import torch  # noqa: PLC0415 - already imported by the user

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
    """Convert the answer of a model to an array, even if it is a torch tensor on another device."""
    if hasattr(answer, "detach") and hasattr(answer, "cpu"):
        answer = answer.detach().cpu().numpy()
    return np.asarray(answer)


def _one_of(classes: list[Any]) -> str:
    return f"one of the model's classes, {', '.join(repr(_plain(each)) for each in classes)}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
