"""Data valuation: the training points are the players."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.extras import import_extra
from topshap.core.validation import (
    check_bool,
    check_choice,
    check_int,
    check_names,
    check_vector,
    front_door,
    refuse,
)
from topshap.games.base import PlayerGroups
from topshap.games.incremental import Sweep, is_exact
from topshap.games.knn_shapley import knn_shapley
from topshap.games.point_features import mean_of_players, scaled_columns, sums_of_players, with_target
from topshap.games.scoring import (
    ScoreGame,
    check_estimator,
    check_scorer,
    check_target,
    constant_model,
    effective_seed,
    seeded,
)
from topshap.games.tables import as_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topshap.core.typing import Coalition, Coalitions, Matrix, Values

INFORMED_BEYOND = 2000
"""The number of players beyond which a game has a prior and features by default."""


@front_door
class DataGame(ScoreGame):
    """Training points as players: v(S) is the test score of a model trained on the points in S.

    If a model cannot be trained on a coalition, because it has fewer than `min_points` points or only one class, v(S)
    is the score of a constant prediction: the class frequencies or the mean of the points in S. For the empty
    coalition, these are computed from all training points.

    Parameters
    ----------
    estimator
        A scikit-learn classifier or regressor. It is cloned for each coalition.
    X, y
        The training data; each row is a player.
    X_test, y_test
        The data to score the models on.
    scoring
        The name of a scikit-learn scorer, a function of (estimator, X, y), or None for the estimator's ``score``
        method.
    groups
        A dict from a player's name to its rows, such as all points from one source. Each row that is not in a group is
        a separate player.
    always
        Rows or groups that every model is trained on and that are therefore not players.
    min_points
        The minimum number of points for training, for example the number of neighbours of a nearest-neighbour model.
    point_names
        The names of the rows; by default their positions.
    prior
        Cheap values of the points, which ``algorithm="player-gp"`` learns the difference to: one number per player; a
        cheap game, such as a `DataGame` of a faster model; or ``"knn"``, the exact values for a nearest-neighbour
        classifier (`knn_shapley`) on columns scaled to variance 1, with categories as one column each and 0, the mean,
        for missing numbers. ``"auto"`` is ``"knn"`` for classifiers with more than 2000 players, and otherwise None.
    incremental
        Whether to train with ``partial_fit``: a model learns only the new points if a coalition contains the one before
        it in the same call, as those of a permutation do (``algorithm="approshapley"``). With naive Bayes models that
        count, the values are the same. For any other estimator they depend on the order of the points, and the game is
        not `deterministic`.
    random_state
        A seed for every ``random_state`` of the estimator that is None. With None, the estimator stays random.
    fingerprint
        A name for the estimator in stores, if it cannot be fingerprinted. It replaces the estimator only: data, options
        and players are always part of the fingerprint.

    Examples
    --------
    The point with the wrong label has the lowest value.

    >>> import topshap
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [0.1], [0.9], [1.0], [0.05]], [0, 0, 1, 1, 1]
    >>> game = DataGame(KNeighborsClassifier(1), X, y, X_test=[[0.04], [0.06], [0.2], [0.95]], y_test=[0, 0, 0, 1])
    >>> int(topshap.exact.shapley_values(game).argmin())
    4
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        scoring: Any = None,
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        min_points: int = 1,
        point_names: Sequence[str] | None = None,
        prior: Any = "auto",
        incremental: bool = False,
        random_state: int | None = 0,
        fingerprint: str | None = None,
    ) -> None:
        self._X = as_table("X", X)
        self._y = check_target("y", y, self._X.n_rows)
        self._X_test = as_table("X_test", X_test)
        if self._X_test.labels != self._X.labels:
            refuse("X_test", self._X_test.labels, must_be=f"a table with the columns of X, {self._X.labels}")
        self._y_test = check_target("y_test", y_test, self._X_test.n_rows)
        self._min_points = check_int("min_points", min_points, low=1)
        names = check_names(point_names, self._X.n_rows) or range(self._X.n_rows)
        super().__init__(PlayerGroups(list(names), groups, always, element="row"), fingerprint)
        self._estimator, self.deterministic = seeded(check_estimator(estimator), random_state)
        self._constant = constant_model(self._estimator)
        self._scorer = check_scorer(self._estimator, scoring)
        self._seed, self._scoring = effective_seed(estimator, random_state), scoring
        base = import_extra("sklearn.base", extra="sklearn", needed_by="DataGame")
        self._classifies: bool = base.is_classifier(self._estimator)
        self._prior = self._check_prior(prior)
        self._incremental = check_bool("incremental", incremental)
        if self._incremental:
            if not hasattr(self._estimator, "partial_fit"):
                refuse("incremental", incremental, must_be="False for an estimator without partial_fit")
            self.deterministic = self.deterministic and is_exact(self._estimator)

    @property
    def prior(self) -> Any:
        """Cheap values of the players, or a cheap game; None if there are none. ``"knn"`` is computed when read."""
        if not isinstance(self._prior, str):
            return self._prior
        train, test = scaled_columns(self._X, self._X_test)
        of_rows = knn_shapley(train, self._y, test, self._y_test)
        return sums_of_players(of_rows, self.player_of, self.n_players)

    @property
    def player_features(self) -> Matrix | None:
        """The columns and the target of every player on a common scale, its mean row if it has several rows.

        None up to 2000 players, unless a prior is given.
        """
        if self._prior is None and self.n_players <= INFORMED_BEYOND:
            return None
        columns, _ = scaled_columns(self._X, self._X_test)
        rows = with_target(columns, self._y, classifies=self._classifies)
        return mean_of_players(rows, self.player_of, self.n_players)

    def _check_prior(self, prior: Any) -> Any:
        """Return the prior as given, with ``"knn"`` or None in place of ``"auto"``."""
        if isinstance(prior, str):
            check_choice("prior", prior, ("auto", "knn"))
            if prior == "auto":
                return "knn" if self._classifies and self.n_players > INFORMED_BEYOND else None
            if not self._classifies:
                refuse("prior", prior, must_be="one number per player, a game or None for a regressor")
        elif prior is not None and not callable(prior):
            prior = check_vector("prior", prior)
            if len(prior) != self.n_players:
                refuse("prior", got=f"{len(prior)} numbers", must_be=f"one number for each of {self.n_players} players")
        return prior

    def _values(self, present: Coalitions) -> Values:
        if not self._incremental:
            return super()._values(present)
        sweep = Sweep(self._estimator, self._X, self._y, classifies=self._classifies)
        score = partial(self._score, sweep=sweep)
        return np.array([self._checked_score(row, score) for row in present], dtype=np.float64)

    def _score(self, present: Coalition, sweep: Sweep | None = None) -> float:
        clone = import_extra("sklearn.base", extra="sklearn", needed_by=type(self).__name__).clone
        rows = present if present.any() else np.ones_like(present)
        target = self._y[rows]
        trainable = present.sum() >= self._min_points and (not self._classifies or len(np.unique(target)) > 1)
        if trainable and sweep is not None:
            model = sweep.model(rows)
        else:
            model = clone(self._estimator if trainable else self._constant).fit(self._X.rows(rows).data, target)
        return float(self._scorer(model, self._X_test.data, self._y_test))

    def _parts(self) -> dict[str, Any]:
        data = (self._X.data, self._y, self._X_test.data, self._y_test)
        parts = {"estimator": self._estimator, "scorer": self._scorer, "data": data, "min_points": self._min_points}
        return parts | {"incremental": True} if self._incremental else parts
