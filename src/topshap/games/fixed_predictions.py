"""Models whose predictions are given beforehand, so that scikit-learn's scorers can score them."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class KnownRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A regressor that predicts what it was given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> KnownRegressor:  # noqa: ARG002 - the interface of a model
        """Return itself: there is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:  # noqa: ARG002 - the answer is known
        """Return what was given, whatever the data."""
        return self.answer


class KnownClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose probabilities are what it was given, one column per class."""

    def __init__(self, answer: Any, classes: Any) -> None:
        self.answer = answer
        self.classes = classes

    @property
    def classes_(self) -> Any:
        """The classes, in the order of the columns."""
        return self.classes

    def fit(self, X: Any, y: Any) -> KnownClassifier:  # noqa: ARG002 - the interface of a model
        """Return itself: there is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> Any:  # noqa: ARG002 - the answer is known
        """Return the probabilities, whatever the data."""
        return self.answer

    def predict(self, X: Any) -> Any:  # noqa: ARG002 - the answer is known
        """Return the most probable classes, the first of equal ones."""
        return self.classes[self.answer.argmax(axis=1)]
