"""Global feature importance: the columns of a table are the players, and a model is trained for each coalition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import check_choice, check_int, check_probability, front_door, refuse
from topshap.games.base import PlayerGroups
from topshap.games.scoring import (
    ScoreGame,
    check_estimator,
    check_scorer,
    check_target,
    constant_model,
    effective_seed,
    seeded,
)
from topshap.games.tables import as_table, column_labels
from topshap.games.tables.cells import ordinal_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from topshap.core.typing import Coalition
    from topshap.games.tables import Table


class Split(NamedTuple):
    """Rows to train on and rows to score on."""

    X_train: Table
    y_train: NDArray[Any]
    X_test: Table
    y_test: NDArray[Any]


@front_door
class RetrainingGame(ScoreGame):
    """Global importance: v(S) is the score of a model trained on the features in S minus that of a constant prediction.

    The constant is the most frequent class or the mean of the target, so the empty coalition has the value 0.

    Parameters
    ----------
    estimator
        A scikit-learn classifier or regressor. It is cloned for each coalition.
    X, y
        The data, as an array, a sparse matrix or a data frame (needs the extra ``topshap[frames]``), and the target.
    scoring
        The name of a scikit-learn scorer, a function of (estimator, X, y), or None for the estimator's ``score`` method
        (accuracy or R^2).
    cv
        The splits for cross-validation, the same for all coalitions: an int, a splitter, an iterable of (train, test)
        positions, or None for 5 folds. A float is the fraction of the rows in a single test split.
    test
        A pair ``(X_test, y_test)`` to score on, instead of `cv`. The models are then trained on all of X.
    groups
        A dict from a player's name to its columns. Each column that is not in a group is a separate player.
    always
        Columns or groups that every model uses and that are therefore not players.
    feature_names
        The names of the columns, if the data has none or repeated ones.
    random_state
        A seed for every ``random_state`` of the estimator that is None, so that a coalition always has the same value,
        and for the split of a float `cv`. With None, the estimator stays random, and `deterministic` is False.
    fingerprint
        A name for the estimator in stores, if it cannot be fingerprinted. It replaces the estimator only: data, splits,
        options and players are always part of the fingerprint.

    Examples
    --------
    >>> import topshap
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> game = RetrainingGame(LinearRegression(), X, y, cv=3)
    >>> topshap.identify(game, k=2, budget=100, random_state=0).names
    ('bmi', 's5')
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        scoring: Any = None,
        cv: Any = None,
        test: tuple[Any, Any] | None = None,
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        random_state: int | None = 0,
        fingerprint: str | None = None,
    ) -> None:
        table = as_table("X", X)
        target = check_target("y", y, table.n_rows)
        if random_state is not None:
            check_int("random_state", random_state, low=0)
        super().__init__(
            PlayerGroups(column_labels(table, feature_names), groups, always),
            fingerprint,
        )
        self._estimator, self.deterministic = seeded(check_estimator(estimator), random_state)
        self._scorer = check_scorer(self._estimator, scoring)
        self._seed, self._scoring = effective_seed(estimator, random_state), scoring
        self._splits = _splits(self._estimator, table, target, cv=cv, test=test, seed=random_state)
        constant = constant_model(self._estimator)
        self._nothing_known = self._mean_score(constant, np.zeros(0, dtype=np.intp))

    @classmethod
    @front_door
    def random_forest(
        cls,
        X: Any,
        y: Any,
        *,
        task: Literal["classification", "regression"],
        n_trees: int = 20,
        test_size: float = 0.3,
        random_state: int = 0,
        **options: Any,
    ) -> Self:
        """Return the global game of "Antithetic Sampling for Top-k Shapley Identification" for a table.

        For each coalition, a random forest of 20 trees is trained on its features and scored on a test split by
        accuracy or R^2. Columns that are not numeric are converted to ordinal codes in the order of their values.
        Missing values are kept, since scikit-learn's forests support them.

        Parameters
        ----------
        X, y
            The data.
        task
            Whether y holds classes or numbers.
        n_trees
            The number of trees of a forest.
        test_size
            The fraction of the rows to score on.
        random_state
            A seed for the split and for every forest.
        **options
            Other options of `RetrainingGame`: `groups`, `always` and `fingerprint`.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> game = RetrainingGame.random_forest(X, y, task="classification")
        >>> game.n_players, game(np.zeros((1, 13), dtype=bool))
        (13, array([0.]))
        """
        check_choice("task", task, ("classification", "regression"))
        ensemble = import_extra("sklearn.ensemble", extra="sklearn", needed_by="RetrainingGame.random_forest")
        forest = ensemble.RandomForestClassifier if task == "classification" else ensemble.RandomForestRegressor
        estimator = forest(check_int("n_trees", n_trees, low=1))
        table = as_table("X", X)
        options.setdefault("feature_names", [str(label) for label in table.labels])
        cv = check_probability("test_size", test_size)
        return cls(estimator, ordinal(table), y, cv=cv, random_state=random_state, **options)

    def _score(self, present: Coalition) -> float:
        columns = np.flatnonzero(present)
        return self._mean_score(self._estimator, columns) - self._nothing_known if len(columns) else 0.0

    def _mean_score(self, estimator: Any, columns: NDArray[np.intp]) -> float:
        clone = import_extra("sklearn.base", extra="sklearn", needed_by=type(self).__name__).clone
        scores = []
        for X_train, y_train, X_test, y_test in self._splits:
            # A constant model uses no column, but scikit-learn requires one.
            train, test = (
                X.columns(columns).data if len(columns) else np.zeros((X.n_rows, 1)) for X in (X_train, X_test)
            )
            scores.append(self._scorer(clone(estimator).fit(train, y_train), test, y_test))
        return float(np.mean(scores))

    def _parts(self) -> dict[str, Any]:
        data = [(split.X_train.data, split.y_train, split.X_test.data, split.y_test) for split in self._splits]
        return {"estimator": self._estimator, "scorer": self._scorer, "splits": data}


def ordinal(table: Table) -> NDArray[np.float64]:
    """Convert a table to numbers: numeric columns are unchanged, others become codes in the order of their values.

    Examples
    --------
    >>> ordinal(as_table("X", np.array([["b", 2], ["a", 1], [None, 3]], dtype=object)))
    array([[ 1.,  1.],
           [ 0.,  0.],
           [nan,  2.]])
    """
    return np.stack([ordinal_codes(table.column(j)) for j in range(len(table.labels))], axis=1)


def _splits(
    estimator: Any,
    table: Table,
    target: NDArray[Any],
    *,
    cv: Any,
    test: Any,
    seed: int | None,
) -> list[Split]:
    if test is not None:
        if cv is not None:
            refuse("cv", cv, must_be="None if 'test' is given")
        if not isinstance(test, tuple | list) or len(test) != 2:
            refuse("test", test, must_be="a pair (X_test, y_test)")
        X_test = as_table("test", test[0])
        if X_test.labels != table.labels:
            refuse("test", X_test.labels, must_be=f"a table with the columns of X, {table.labels}")
        return [Split(table, target, X_test, check_target("test", test[1], X_test.n_rows))]
    pairs = _positions(estimator, target, cv, seed)
    return [Split(table.rows(train), target[train], table.rows(test), target[test]) for train, test in pairs]


def _positions(
    estimator: Any, target: NDArray[Any], cv: Any, seed: int | None
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return the training and test positions of each split; all coalitions use the same splits."""
    selection = import_extra("sklearn.model_selection", extra="sklearn", needed_by="a game that trains models")
    base = import_extra("sklearn.base", extra="sklearn", needed_by="a game that trains models")
    classifier = base.is_classifier(estimator)
    if isinstance(cv, float):
        share = check_probability("cv", cv)
        stratify = target if classifier else None
        return [
            selection.train_test_split(np.arange(len(target)), test_size=share, random_state=seed, stratify=stratify)
        ]
    if cv is None or isinstance(cv, int | np.integer):
        cv = 5 if cv is None else check_int("cv", cv, low=2)
    try:
        splitter = selection.check_cv(cv, target, classifier=classifier)
        rows = np.zeros((len(target), 1))
        return [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(rows, target)]
    except (TypeError, ValueError) as error:
        must_be = f"an int, a fraction of the rows, a splitter or (train, test) positions that fit the data ({error})"
        refuse("cv", cv, must_be=must_be)
