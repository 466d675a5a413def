"""Which members of an ensemble matter: models as players, whose predictions are averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import front_door, refuse
from topshap.games.base import UnitGame, Units, different
from topshap.games.outputs import as_array
from topshap.games.scoring import check_scorer, check_target
from topshap.games.tables import as_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalition, Coalitions, Values


@front_door
class EnsembleGame(UnitGame):
    """The worth of an ensemble's members: v(S) is the score of the average prediction of the members in S.

    Classifiers are averaged by their class probabilities, regressors by their predictions. Nobody predicts the class
    frequencies, or the mean, of y. Every member predicts once, when the game is made; a value is arithmetic from then
    on.

    Parameters
    ----------
    members
        Fitted models, all classifiers or all regressors: a list of them, of (name, model) pairs, or a dict. Or a fitted
        forest, bagging or unweighted soft voting ensemble of scikit-learn, whose members they are.
    X, y
        The data that averages are scored on; better not what members were trained on.
    scoring
        A name of scikit-learn's scorers, a function of (estimator, X, y), or None for accuracy or R^2.
    groups
        A dict of a player's name to its members. Others stay on their own.
    always
        Members or groups that are in every average, and so no players.
    fingerprint
        A name for this game in a store, for a scoring function that cannot be seen through.

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
        super().__init__(Units(different(named), groups, always, unit="member"), fingerprint)
        self._classes, self._predictions = _predictions(members, list(named.values()), X)
        self._of_nobody = self._constant()
        self._scorer = check_scorer(_known(None, self._classes), scoring)

    def _values(self, present: Coalitions) -> Values:
        return np.array([self._score(row) for row in present], dtype=np.float64)

    def _score(self, present: Coalition) -> float:
        average = self._predictions[present].mean(axis=0) if present.any() else self._of_nobody
        rows = np.zeros((len(self._y), 1))  # the model below has its predictions and looks at no data
        return float(self._scorer(_known(average, self._classes), rows, self._y))

    def _constant(self) -> NDArray[np.float64]:
        if self._classes is None:
            return np.full(len(self._y), np.mean(self._y, dtype=np.float64))
        frequencies = (self._y[:, None] == self._classes).mean(axis=0)
        return np.tile(frequencies, (len(self._y), 1))

    def _parts(self) -> dict[str, Any]:
        return {"predictions": self._predictions, "classes": self._classes, "y": self._y, "scorer": self._scorer}


def _members(members: Any) -> dict[str, Any]:
    """Return the members by name."""
    inner = getattr(members, "estimators_", None)
    if inner is not None:
        if not _is_plain_average(members):
            must_be = "a forest, a bagging or an unweighted soft voting ensemble, or a list of fitted models"
            refuse("members", members, must_be=must_be)
        inner = [
            (name, model) for name, model in getattr(members, "named_estimators_", {}).items() if model != "drop"
        ] or inner
    elif hasattr(members, "fit") or not hasattr(members, "__iter__"):
        must_be = "a fitted ensemble or a list of fitted models"
        refuse("members", members, must_be=must_be)
    else:
        inner = members.items() if hasattr(members, "items") else members
    pairs = [each if isinstance(each, tuple) else (_kind(each), each) for each in inner]
    if not pairs:
        refuse("members", members, must_be="at least one fitted model")
    return dict(zip(different(str(name) for name, _ in pairs), (model for _, model in pairs), strict=True))


def _is_plain_average(ensemble: Any) -> bool:
    """Return whether an ensemble averages its members, as forests, bagging and voting do and boosting does not."""
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
    """Return the classes, None for regressors, and all predictions, one row of data a row and one class a column."""
    probabilities = [hasattr(model, "predict_proba") for model in models]
    if any(probabilities) != all(probabilities):
        odd = _kind(models[probabilities.index(not probabilities[0])])
        must_be = "all regressors, or all classifiers with predict_proba"
        refuse("members", got=f"{_kind(models[0])} and {odd}", must_be=must_be)
    inside = getattr(ensemble, "estimators_", None) is not None
    rows = np.asarray(X) if inside else X  # ensembles hand arrays to their members
    columns = getattr(ensemble, "estimators_features_", None)
    seen = [rows if columns is None else rows[:, columns[i]] for i in range(len(models))]
    if not all(probabilities):
        return None, np.stack([_predict(model, "predict", data) for model, data in zip(models, seen, strict=True)])
    answers = [_predict(model, "predict_proba", data) for model, data in zip(models, seen, strict=True)]
    if inside:  # members of an ensemble know classes by their position
        classes = np.asarray(ensemble.classes_)
        where = [np.asarray(model.classes_).astype(np.intp) for model in models]
    else:
        classes = np.unique(np.concatenate([model.classes_ for model in models]))
        where = [np.searchsorted(classes, model.classes_) for model in models]
    predictions = np.zeros((len(models), len(answers[0]), len(classes)))
    for each, answer, positions in zip(predictions, answers, where, strict=True):
        each[:, positions] = answer
    return classes, predictions


def _predict(model: Any, method: str, data: Any) -> NDArray[np.float64]:
    try:
        return as_array(getattr(model, method)(data)).astype(np.float64)
    except Exception as error:  # noqa: BLE001 - whatever a model raises is said to the user
        must_be = f"fitted models that take X ({type(error).__name__}: {error})"
        refuse("members", model, must_be=must_be)


def _known(answer: NDArray[np.float64] | None, classes: NDArray[Any] | None) -> Any:
    """Return a model whose predictions are given, so that any of scikit-learn's scorers can be used."""
    import_extra("sklearn", extra="sklearn", needed_by="EnsembleGame")
    from topshap.games.fixed_predictions import KnownClassifier, KnownRegressor  # noqa: PLC0415 - it needs the extra

    return KnownRegressor(answer) if classes is None else KnownClassifier(answer, classes)
