"""Models that learn more points without starting anew, for coalitions that contain the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalition
    from topshap.games.tables.base import Table

ORDER_DOES_NOT_MATTER = ("BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB")
"""The estimators of scikit-learn whose ``partial_fit`` only adds up counts."""


class Sweep:
    """Models of one coalition after the other; a coalition that contains the last one only learns its new points.

    Parameters
    ----------
    estimator
        An estimator with ``partial_fit``; it is cloned.
    table, target
        The training data.
    classifies
        Whether the estimator is a classifier, which needs the list of all classes.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from topshap.games.tables import as_table
    >>> sweep = Sweep(BernoulliNB(), as_table("X", [[0], [1], [1]]), np.array([0, 1, 1]), classifies=True)
    >>> first = sweep.model(np.array([True, True, False]))
    >>> sweep.model(np.array([True, True, True])) is first
    True
    """

    def __init__(self, estimator: Any, table: Table, target: NDArray[Any], *, classifies: bool) -> None:
        self._estimator, self._table, self._target = estimator, table, target
        self._first: dict[str, Any] = {"classes": np.unique(target)} if classifies else {}
        self._points: Coalition = np.ones(len(target), dtype=np.bool_)
        self._model: Any = None

    def model(self, points: Coalition) -> Any:
        """Return a model that has learned these points; it may learn others later."""
        more = self._first if self._model is None else {}
        if self._model is None or (self._points & ~points).any():
            clone = import_extra("sklearn.base", extra="sklearn", needed_by="DataGame").clone
            self._model, more, new = clone(self._estimator), self._first, points
        else:
            new = points & ~self._points
        if new.any():
            self._model.partial_fit(self._table.rows(new).data, self._target[new], **more)
        self._points = points
        return self._model


def is_exact(estimator: Any) -> bool:
    """Return whether learning points in several steps gives the same model in every order."""
    return type(estimator).__name__ in ORDER_DOES_NOT_MATTER
