"""Local explanation by recontextualisation: the model is fitted again on the features that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import GameError, ParameterError
from topshap.core.extras import import_extra
from topshap.core.validation import check_int, front_door, refuse
from topshap.games.base import PlayerGroups
from topshap.games.links import apply_link, check_link
from topshap.games.outputs import prediction_of
from topshap.games.player_values import values_of_players
from topshap.games.scoring import ScoreGame, check_estimator, check_target, constant_model, effective_seed, seeded
from topshap.games.tables import column_labels, dense_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalition
    from topshap.games.links import LinkName


@front_door
class RecontextGame(ScoreGame):
    """A local explanation: v(S) is the prediction for x of a model that is fitted on the features in S only.

    No feature is replaced, so the model is not asked about rows that do not exist (Rundel et al., 2024). An evaluation
    is a fit. For in-context models such as TabPFN, which keep the training data as their context, it is a forward pass.
    Without features, the model predicts the mean of y or the class frequencies.

    Parameters
    ----------
    estimator
        A scikit-learn regressor, or a classifier with ``predict_proba``. It is cloned for each coalition.
    X, y
        The training data, as an array or a data frame (needs the extra ``topshap[frames]``), and the target.
    x
        The row to explain: an array, a Series, a dict, or a data frame of one row. Named values are matched by name.
    output
        The class to explain; by default the one that a model with all features predicts for x, which takes one fit.
    groups
        A dict from a player's name to its columns. Each column that is not in a group is a separate player.
    always
        Columns or groups that every model uses and that are therefore not players.
    feature_names
        The names of the columns, if the data has none or repeated ones.
    link
        The scale of the values. ``"identity"``: the prediction. ``"logit"``: the log-odds of a probability.
    random_state
        A seed for every ``random_state`` of the estimator that is None, so that a coalition always has the same value.
        With None, the estimator stays random, and `deterministic` is False.
    fingerprint
        A name for the estimator in stores, if it cannot be fingerprinted. It replaces the estimator only: data,
        options and players are always part of the fingerprint.

    Attributes
    ----------
    output_name : str
        The description of the output that is explained.
    player_values : tuple
        The value of each player in x; None for groups, except for one-hot columns, where it is the category.

    Examples
    --------
    >>> import topshap
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> game = RecontextGame(LinearRegression(), X, y, X.iloc[0])
    >>> bool(np.isclose(game(np.zeros((1, 10), dtype=bool))[0], y.mean()))
    True
    >>> topshap.identify(game, k=2, budget=100, random_state=0).names
    ('bmi', 's5')
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        x: Any,
        *,
        output: Any = None,
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        link: LinkName = "identity",
        random_state: int | None = 0,
        fingerprint: str | None = None,
    ) -> None:
        self._context = dense_table("X", X)
        self._target = check_target("y", y, self._context.n_rows)
        self._own = self._context.like(x)
        if random_state is not None:
            check_int("random_state", random_state, low=0)
        players = PlayerGroups(column_labels(self._context, feature_names), groups, always)
        super().__init__(players, fingerprint)
        self._estimator, self.deterministic = seeded(check_estimator(estimator), random_state)
        self._seed, self._link = effective_seed(estimator, random_state), check_link(link)
        constant = self._fit(constant_model(self._estimator), np.zeros(0, dtype=np.intp))
        self._check_output(constant, output)
        self._output = self._predicted_class() if output is None and hasattr(constant, "classes_") else output
        nothing_known = prediction_of(constant, self._output)
        self._nothing_known = float(nothing_known(np.zeros((1, 1)))[0])
        self.output_name = nothing_known.output_name
        self.player_values = values_of_players(self._own, self._context, players)
        try:
            self._linked(self._nothing_known)
        except GameError as error:
            raise ParameterError.about("link", f"must be 'identity' for this model: {error}") from error

    def _check_output(self, constant: Any, output: Any) -> None:
        classes = getattr(constant, "classes_", None)
        if classes is None:
            if output is not None:
                refuse("output", output, must_be="None for a regressor")
            return
        if not hasattr(self._estimator, "predict_proba"):
            refuse("estimator", self._estimator, must_be="a regressor, or a classifier with predict_proba")
        if output is not None and output not in classes.tolist():
            refuse("output", output, must_be=f"one of the classes, {', '.join(map(repr, classes.tolist()))}")

    def _predicted_class(self) -> Any:
        columns = np.arange(len(self._context.labels))
        return self._fit(self._estimator, columns).predict(self._own.columns(columns).data).tolist()[0]

    def _fit(self, estimator: Any, columns: NDArray[np.intp]) -> Any:
        """Return a clone of an estimator, fitted on some columns."""
        clone = import_extra("sklearn.base", extra="sklearn", needed_by=type(self).__name__).clone
        # A constant model uses no column, but scikit-learn requires one.
        known = self._context.columns(columns).data if len(columns) else np.zeros((self._context.n_rows, 1))
        return clone(estimator).fit(known, self._target)

    def _score(self, present: Coalition) -> float:
        columns = np.flatnonzero(present)
        if not len(columns):
            return self._linked(self._nothing_known)
        model = self._fit(self._estimator, columns)
        return self._linked(float(prediction_of(model, self._output)(self._own.columns(columns).data)[0]))

    def _linked(self, prediction: float) -> float:
        return float(apply_link(self._link, np.array([prediction]))[0])

    def _options(self) -> dict[str, Any]:
        return {"random_state": self._seed, "output": self._output, "link": self._link}

    def _parts(self) -> dict[str, Any]:
        data = {"X": self._context.data, "y": self._target, "x": self._own.data}
        return {"estimator": self._estimator, "output": self._output, "link": self._link} | data
