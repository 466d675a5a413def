"""The base class of games that train models, and checks of estimators, scorers and targets."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.coalitions import names_of
from topshap.core.extras import import_extra
from topshap.core.validation import refuse
from topshap.games.base import GroupedGame

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from topshap.core.typing import Coalition, Coalitions, Values


class ScoreGame(GroupedGame):
    """A game whose values are scores of models."""

    _functions = ("estimator", "scorer")
    _seed: int | None
    _scoring: Any

    @abstractmethod
    def _score(self, present: Coalition) -> float:
        """Return the score of a model trained on these elements."""

    def _values(self, present: Coalitions) -> Values:
        return np.array([self._checked_score(row) for row in present], dtype=np.float64)

    def _options(self) -> dict[str, Any]:
        return {"random_state": self._seed, "scoring": self._scoring}

    def _checked_score(self, present: Coalition, score: Callable[[Coalition], float] | None = None) -> float:
        try:
            return float((score or self._score)(present))
        except Exception as error:
            who = names_of(present, tuple(str(label) for label in self._groups.labels))
            error.add_note(f"The error occurred while scoring a model with {who}.")
            raise


def check_estimator(estimator: Any) -> Any:
    """Return the estimator; raise an error if it is not one."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        must_be = "a scikit-learn estimator: an object with fit and get_params"
        refuse("estimator", estimator, must_be=must_be)
    return estimator


def check_scorer(estimator: Any, scoring: Any) -> Any:
    """Return the scorer for a name, a function of (estimator, X, y), or None for the estimator's ``score`` method."""
    metrics = import_extra("sklearn.metrics", extra="sklearn", needed_by="a game that trains models")
    try:
        return metrics.check_scoring(estimator, scoring)
    except (TypeError, ValueError) as error:
        must_be = f"the name of a scikit-learn scorer, a function of (estimator, X, y), or None ({error})"
        refuse("scoring", scoring, must_be=must_be)


def seeded(estimator: Any, seed: int | None) -> tuple[Any, bool]:
    """Return a clone with the seed in place of every ``random_state`` of None, and whether it is deterministic."""
    base = import_extra("sklearn.base", extra="sklearn", needed_by="a game that trains models")
    copy = base.clone(estimator)
    parameters = copy.get_params(deep=True)
    names = [name for name in parameters if name == "random_state" or name.endswith("__random_state")]
    unset = [name for name in names if parameters[name] is None]
    if seed is not None:
        copy.set_params(**dict.fromkeys(unset, seed))
    moving = [name for name in names if isinstance(parameters[name], np.random.RandomState | np.random.Generator)]
    return copy, not moving and (seed is not None or not unset)


def effective_seed(estimator: Any, seed: int | None) -> int | None:
    """Return the seed if the estimator uses it, or None if the scores do not depend on it."""
    parameters = estimator.get_params(deep=True)
    names = [name for name in parameters if name == "random_state" or name.endswith("__random_state")]
    return seed if any(parameters[name] is None for name in names) else None


def constant_model(estimator: Any) -> Any:
    """Return a model that ignores the features and predicts the class frequencies or the mean."""
    base = import_extra("sklearn.base", extra="sklearn", needed_by="a game that trains models")
    dummy = import_extra("sklearn.dummy", extra="sklearn", needed_by="a game that trains models")
    if base.is_classifier(estimator):
        return dummy.DummyClassifier(strategy="prior")
    if not base.is_regressor(estimator):
        must_be = "a classifier or a regressor, since the value of the empty coalition is that of a constant prediction"
        refuse("estimator", estimator, must_be=must_be)
    return dummy.DummyRegressor(strategy="mean")


def check_target(name: str, y: Any, n_rows: int) -> NDArray[Any]:
    """Return the target as an array with one element per row."""
    target = np.asarray(y)
    if target.ndim == 0 or len(target) != n_rows:
        must_be = f"one target for each of the {n_rows} rows"
        refuse(name, got=f"an array of shape {target.shape}", must_be=must_be)
    return target
