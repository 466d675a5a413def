"""Models with fixed predictions, for scikit-learn's scorers."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class FixedRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A regressor with fixed predictions."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> FixedRegressor:  # noqa: ARG002 - the interface of a model
        """Return the model unchanged."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:  # noqa: ARG002 - the predictions are fixed
        """Return the fixed predictions for any data."""
        return self.answer


class FixedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier with fixed probabilities, one column per class."""

    def __init__(self, answer: Any, classes: Any) -> None:
        self.answer = answer
        self.classes = classes

    @property
    def classes_(self) -> Any:
        """The classes, in the order of the columns."""
        return self.classes

    def fit(self, X: Any, y: Any) -> FixedClassifier:  # noqa: ARG002 - the interface of a model
        """Return the model unchanged."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> Any:  # noqa: ARG002 - the predictions are fixed
        """Return the fixed probabilities for any data."""
        return self.answer

    def predict(self, X: Any) -> Any:  # noqa: ARG002 - the predictions are fixed
        """Return the most probable classes; ties go to the first class."""
        return self.classes[self.answer.argmax(axis=1)]
