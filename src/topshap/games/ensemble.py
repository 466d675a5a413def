"""Ensemble valuation: the members of an ensemble are the players, and their predictions are averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import front_door, refuse
from topshap.games.base import GroupedGame, PlayerGroups, distinct_names
from topshap.games.outputs import as_array
from topshap.games.scoring import check_scorer, check_target
from topshap.games.tables import as_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalition, Coalitions, Values


@front_door
class EnsembleGame(GroupedGame):
    """Members of an ensemble as players: v(S) is the score of the average prediction of the members in S.

    Class probabilities are averaged for classifiers, and predictions for regressors. The empty coalition predicts the
    class frequencies or the mean of y. Every member predicts only once, when the game is created.

    Parameters
    ----------
    members
        Fitted models, all classifiers or all regressors: a list of models or of (name, model) pairs, or a dict.
        Alternatively, a fitted forest, bagging ensemble or unweighted soft voting ensemble of scikit-learn.
    X, y
        The data to score on, preferably not the training data of the members.
    scoring
        The name of a scikit-learn scorer, a function of (estimator, X, y), or None for accuracy (classifiers) or R^2
        (regressors).
    groups
        A dict from a player's name to its members. Each member that is not in a group is a separate player.
    always
        Members or groups that are part of every average and are therefore not players.
    fingerprint
        A name for the scoring function in stores, if it cannot be fingerprinted. It replaces the scoring function only:
        predictions, y and players are always part of the fingerprint.

    Examples
    --------
    >>> import topshap
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    >>> game = EnsembleGame(forest, X[1::2], y[1::2])
    >>> game.n_players, game(np.ones((1, 10), dtype=bool)).round(2)
    (10, array([0.95]))
    """

    _functions = ("scorer",)

    def __init__(
        self,
        members: Any,
        X: Any,
        y: Any,
        *,
        scoring: Any = None,
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        table = as_table("X", X)
        self._y = check_target("y", y, table.n_rows)
        named = _members(members)
        super().__init__(PlayerGroups(distinct_names(named), groups, always, element="member"), fingerprint)
        self._classes, self._predictions = _predictions(members, list(named.values()), X)
        self._of_empty = self._constant()
        self._scoring = scoring if isinstance(scoring, str) else None
        self._scorer = check_scorer(_fixed_model(None, self._classes), scoring)

    def _values(self, present: Coalitions) -> Values:
        return np.array([self._score(row) for row in present], dtype=np.float64)

    def _score(self, present: Coalition) -> float:
        average = self._predictions[present].mean(axis=0) if present.any() else self._of_empty
        rows = np.zeros((len(self._y), 1))  # the predictions are given, so the data is not used
        return float(self._scorer(_fixed_model(average, self._classes), rows, self._y))

    def _constant(self) -> NDArray[np.float64]:
        if self._classes is None:
            return np.full(len(self._y), np.mean(self._y, dtype=np.float64))
        frequencies = (self._y[:, None] == self._classes).mean(axis=0)
        return np.tile(frequencies, (len(self._y), 1))

    def _parts(self) -> dict[str, Any]:
        return {"predictions": self._predictions, "classes": self._classes, "y": self._y, "scorer": self._scorer}

    def _options(self) -> dict[str, Any]:
        return {"scoring": self._scoring}


def _members(members: Any) -> dict[str, Any]:
    """Return a dict from names to members."""
    pairs = [each if isinstance(each, tuple) else (_kind(each), each) for each in _listed(members)]
    if not pairs:
        refuse("members", members, must_be="at least one fitted model")
    return dict(zip(distinct_names(str(name) for name, _ in pairs), (model for _, model in pairs), strict=True))


def _listed(members: Any) -> Iterable[Any]:
    """Return the models, or pairs of a name and a model, of an ensemble or a collection."""
    models = getattr(members, "estimators_", None)
    if models is not None:
        if not _is_plain_average(members):
            must_be = "a forest, a bagging ensemble, an unweighted soft voting ensemble or a list of fitted models"
            refuse("members", members, must_be=must_be)
        named = getattr(members, "named_estimators_", {})
        return [(name, model) for name, model in named.items() if model != "drop"] or models
    if hasattr(members, "fit") or not hasattr(members, "__iter__"):
        refuse("members", members, must_be="a fitted ensemble or a list of fitted models")
    return members.items() if hasattr(members, "items") else members


def _is_plain_average(ensemble: Any) -> bool:
    """Return whether an ensemble averages its members: forests, bagging and voting do, boosting does not."""
    names = {kind.__name__ for kind in type(ensemble).__mro__}
    averaging = names & {"BaseForest", "BaseBagging", "_BaseVoting"}
    return (
        bool(averaging)
        and "IsolationForest" not in names
        and getattr(ensemble, "weights", None) is None
        and getattr(ensemble, "voting", "soft") == "soft"
    )


def _kind(model: Any) -> str:
    return type(model).__name__


def _predictions(ensemble: Any, models: Sequence[Any], X: Any) -> tuple[NDArray[Any] | None, NDArray[np.float64]]:
    """Return the classes (None for regressors) and the predictions of each member, by row and class."""
    data = _data_of_members(ensemble, len(models), X)
    if not _are_classifiers(models):
        return None, np.stack([_predict(model, "predict", rows) for model, rows in zip(models, data, strict=True)])
    probabilities = [_predict(model, "predict_proba", rows) for model, rows in zip(models, data, strict=True)]
    classes, columns = _classes(ensemble, models)
    predictions = np.zeros((len(models), len(probabilities[0]), len(classes)))
    for prediction, probability, positions in zip(predictions, probabilities, columns, strict=True):
        prediction[:, positions] = probability
    return classes, predictions


def _are_classifiers(models: Sequence[Any]) -> bool:
    with_probabilities = [hasattr(model, "predict_proba") for model in models]
    if any(with_probabilities) != all(with_probabilities):
        other = _kind(models[with_probabilities.index(not with_probabilities[0])])
        must_be = "all regressors, or all classifiers with predict_proba"
        refuse("members", got=f"{_kind(models[0])} and {other}", must_be=must_be)
    return all(with_probabilities)


def _data_of_members(ensemble: Any, n_members: int, X: Any) -> list[Any]:
    """Return the data that each member expects: ensembles pass arrays, and bagging may pass only some columns."""
    rows = X if getattr(ensemble, "estimators_", None) is None else np.asarray(X)
    columns = getattr(ensemble, "estimators_features_", None)
    return [rows if columns is None else rows[:, columns[i]] for i in range(n_members)]


def _classes(ensemble: Any, models: Sequence[Any]) -> tuple[NDArray[Any], list[NDArray[np.intp]]]:
    """Return all classes and the positions of each member's classes among them."""
    if getattr(ensemble, "estimators_", None) is not None:  # the classes of an ensemble's members are positions
        return np.asarray(ensemble.classes_), [np.asarray(model.classes_).astype(np.intp) for model in models]
    classes = np.unique(np.concatenate([model.classes_ for model in models]))
    return classes, [np.searchsorted(classes, model.classes_) for model in models]


def _predict(model: Any, method: str, data: Any) -> NDArray[np.float64]:
    try:
        return as_array(getattr(model, method)(data)).astype(np.float64)
    except Exception as error:  # noqa: BLE001 - any error of a model is reported
        refuse("members", model, must_be=f"fitted models that can predict X ({type(error).__name__}: {error})")


def _fixed_model(answer: NDArray[np.float64] | None, classes: NDArray[Any] | None) -> Any:
    """Return a model with fixed predictions, for scikit-learn's scorers."""
    import_extra("sklearn", extra="sklearn", needed_by="EnsembleGame")
    from topshap.games.fixed_predictions import FixedClassifier, FixedRegressor  # noqa: PLC0415 - needs the extra

    return FixedRegressor(answer) if classes is None else FixedClassifier(answer, classes)
