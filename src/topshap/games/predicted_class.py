"""The default output of a classifier: that of the class it predicts for the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.games.outputs import ALL_OUTPUTS, Prediction, TorchPredict, as_array, explained_errors, prediction_of

if TYPE_CHECKING:
    from topshap.core.typing import Players


class PredictedClass:
    """The output of the class that a classifier predicts for each row.

    The class is that of the model's ``predict``. If the model has none, or names no classes, it is the class with the
    highest output.

    Parameters
    ----------
    model
        A fitted classifier, its method ``predict_proba`` or ``decision_function``, or a torch module with several
        outputs.

    Attributes
    ----------
    output_name : str
        The description of the output.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [5.0]], ["no", "yes", "yes"])
    >>> output = PredictedClass(model)
    >>> output.output_name, output.positions(np.array([[-3.0], [4.0]]))
    ('predict_proba of the predicted class', array([0, 1]))
    >>> output.for_row(np.array([[-3.0]])).output_name
    "predict_proba of class 'no'"
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._classes = _classes_of(model)
        self._scores = _scores_of(model)
        self.output_name = _name_of(self._scores)

    def positions(self, data: Any) -> Players:
        """Return the position of the predicted class of each row."""
        predict = getattr(getattr(self._model, "__self__", self._model), "predict", None)
        if self._classes is not None and predict is not None:
            position = {label: i for i, label in enumerate(self._classes)}
            labels = np.ravel(as_array(predict(data))).tolist()
            if position.keys() >= set(labels):
                return np.array([position[label] for label in labels], dtype=np.intp)
        scores = as_array(self._scores(data))
        if scores.ndim == 2 and scores.shape[1] > 1:
            return scores.argmax(axis=1)
        # A single column belongs to the second of two classes.
        return (scores.reshape(len(scores)) > 0.0).astype(np.intp)

    @property
    def all_classes(self) -> Prediction:
        """The prediction of all classes."""
        return prediction_of(self._model, ALL_OUTPUTS)

    def at(self, position: int) -> Prediction:
        """Return the prediction of the class at a position."""
        return prediction_of(self._model, position if self._classes is None else self._classes[position])

    def for_row(self, data: Any) -> Prediction:
        """Return the prediction of the class that is predicted for a table of one row."""
        with explained_errors():
            position = int(self.positions(data)[0])
        return self.at(position)


def explained_output(model: Any, output: Any, row: Any) -> Prediction | PredictedClass:
    """Return the output to explain: `output` if it is given, by default the predicted class of a classifier.

    Parameters
    ----------
    model
        A fitted model or a function.
    output
        The name of a class or the position of an output, None for the default.
    row
        A row of the background, which shows the number of outputs of a torch module.
    """
    if output is not None or not _has_classes(model, row):
        return prediction_of(model, output)
    return PredictedClass(model)


def _has_classes(model: Any, row: Any) -> bool:
    """Return whether a model has several outputs of which one belongs to the predicted class.

    A function with a single output is explained as it is, even if it is the decision function of a classifier.
    """
    scores = _scores_of(model)
    if scores is None:
        return False
    if hasattr(model, "classes_"):
        return len(_classes_of(model) or ()) > 1
    with explained_errors():
        answer = as_array(scores(row))
    return answer.ndim == 2 and answer.shape[1] > 1


def _scores_of(model: Any) -> Any:
    """Return the function from rows to one number per class; None if the model is not a classifier."""
    if getattr(model, "__name__", None) in ("predict_proba", "decision_function") and hasattr(model, "__self__"):
        return model
    if hasattr(model, "predict_proba"):
        return model.predict_proba
    if hasattr(model, "decision_function") and hasattr(model, "classes_"):
        return model.decision_function
    if not hasattr(model, "predict") and hasattr(model, "forward") and hasattr(model, "parameters"):
        return TorchPredict(model)
    return None


def _classes_of(model: Any) -> list[Any] | None:
    """Return the names of the classes as plain objects; None if there are none, or for several targets."""
    classes = getattr(getattr(model, "__self__", model), "classes_", None)
    if classes is None or any(np.ndim(each) > 0 for each in classes):
        return None
    return np.asarray(classes).tolist()


def _name_of(scores: Any) -> str:
    if isinstance(scores, TorchPredict):
        return "the highest output of the module"
    return f"{getattr(scores, '__name__', 'output')} of the predicted class"
