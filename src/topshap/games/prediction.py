"""Local explanation of one prediction: the features of a row are the players."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_int, front_door, refuse
from topshap.games.base import GroupedGame, PlayerGroups, in_blocks
from topshap.games.imputers import make_imputer
from topshap.games.outputs import Prediction
from topshap.games.player_values import values_of_players
from topshap.games.tables import column_labels, dense_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values
    from topshap.games.imputers import ImputerName


@front_door
class PredictionGame(GroupedGame):
    """A local explanation: v(S) is the prediction of a model for x when only the features in S are known.

    Parameters
    ----------
    predict
        A function from rows to numbers, such as ``model.predict`` or ``model.predict_proba``. Its argument has the type
        of `background`: a data frame with the same columns and dtypes, or an array with the same columns.
    x
        The row to explain: an array, a Series, a dict, or a data frame of one row. Named values are matched by name.
    background
        Rows that replace absent features, usually training data or a sample of it: an array, or a data frame of pandas,
        Polars, PyArrow or another library that narwhals supports (needs the extra ``topshap[frames]``).
    output
        The output of `predict` to explain, if it has several: the name of a class if `predict` is a method of a model
        with ``classes_``, otherwise a position.
    imputer
        The values of features outside S. ``"mean-mode"``: the mean of numeric columns, rounded for integer columns to
        keep their dtype, and the most frequent value of all others; missing values are ignored. ``"baseline"``: the
        values of the single row of `background`. ``"marginal"``: the values of each background row in turn, with the
        predictions averaged (interventional Shapley values). ``"conditional"``: the same, but rows are weighted by
        their similarity to x in the features of S, with a Gaussian kernel of 0.1 standard deviations per feature.
    groups
        A dict from a player's name to its columns, such as all columns of a one-hot encoding. Each column that is not
        in a group is a separate player.
    always
        Columns or groups that are always known and are therefore not players.
    categorical
        Numeric columns that hold categories: ``"mean-mode"`` uses their most frequent value.
    feature_names
        The names of the columns, if the background has none or repeated ones.
    batch_bytes
        The approximate memory of the rows in one call to `predict`, in bytes.
    fingerprint
        A name for `predict` in stores, if it cannot be fingerprinted; see `topshap.core.fingerprints`. It replaces the
        function only: x, background, options and players are always part of the fingerprint.

    Examples
    --------
    >>> import topshap
    >>> def predict(X):
    ...     return 2.0 * X[:, 0] + X[:, 1] * X[:, 2]
    >>> game = PredictionGame(predict, x=[1.0, 2.0, 3.0], background=[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    >>> game(np.array([[False, False, False], [False, True, True], [True, True, True]]))
    array([2., 8., 8.])
    >>> topshap.identify(game, k=2).estimates
    array([0., 3., 3.])
    """

    _functions = ("predict",)

    def __init__(
        self,
        predict: Callable[[Any], Any],
        x: Any,
        background: Any,
        *,
        output: Any = None,
        imputer: ImputerName = "mean-mode",
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        categorical: Iterable[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        batch_bytes: int = 2**26,
        fingerprint: str | None = None,
    ) -> None:
        self._predict = _as_prediction(predict, output)
        rows = dense_table("background", background)
        own = rows.like(x)
        players = PlayerGroups(column_labels(rows, feature_names), groups, always)
        super().__init__(players, fingerprint)
        as_categories = {players.find(label, "categorical") for label in categorical or ()}
        self._imputer = make_imputer(imputer, rows, own, as_categories)
        self.player_values = values_of_players(own, rows, players)
        """The value of each player in x; None for groups, except for one-hot columns, where it is the category."""
        # Row 0 is x, and the others replace absent features: a row for the model is defined by the row of each cell.
        self._table = own.over(self._imputer.rows)
        self._codes = _smallest(self._table.codes())
        n_columns = len(rows.labels)
        per_row = self._table.row_bytes + n_columns * (8 + 2 * self._codes.itemsize)
        self._max_rows = max(1, check_int("batch_bytes", batch_bytes, low=1) // per_row)
        ends = np.array([np.zeros(n_columns, dtype=np.intp), np.ones(n_columns, dtype=np.intp)])
        self._predict.try_on(self._table, ends)

    @property
    def output_name(self) -> str:
        """The description of the output that is explained."""
        return self._predict.output_name

    def _values(self, present: Coalitions) -> Values:
        return in_blocks(self._average, present, self._max_rows // self._imputer.rows.n_rows)

    def _average(self, present: Coalitions) -> Values:
        """Return the prediction for each row of present features, averaged over the rows that replace absent ones."""
        n_fill = self._imputer.rows.n_rows
        row_of = np.where(present[:, None, :], 0, np.arange(1, n_fill + 1)[:, None]).reshape(-1, present.shape[1])
        predictions = self._distinct(row_of).reshape(-1, n_fill)
        weights = self._imputer.weights(present)
        if weights is None:
            return predictions.mean(axis=1)
        average: Values = (weights * predictions).sum(axis=1)
        return average

    def _distinct(self, row_of: NDArray[np.intp]) -> Values:
        """Return the prediction for each row, predicting rows with the same content only once."""
        codes = np.ascontiguousarray(self._codes[row_of, np.arange(row_of.shape[1])])
        as_bytes = codes.view(f"V{codes.shape[1] * codes.itemsize}").ravel()
        _, first, again = np.unique(as_bytes, return_index=True, return_inverse=True)
        asked = row_of[np.sort(first)]  # in the order of the coalitions
        rank = np.empty(len(first), dtype=np.intp)
        rank[np.argsort(first)] = np.arange(len(first))
        predictions = in_blocks(lambda rows: self._predict(self._table.mix(rows)), asked, self._max_rows)
        return predictions[rank[again]]

    def _parts(self) -> dict[str, Any]:
        return {
            "predict": self._predict.predict,
            "output": self._predict.output,
            "rows": self._table.data,
            "distances": self._imputer.squared_distances,
        }


def option_names() -> tuple[str, ...]:
    """Return the names of the options of `PredictionGame` that do not depend on the row or the model.

    Examples
    --------
    >>> option_names()
    ('imputer', 'groups', 'always', 'categorical', 'feature_names', 'batch_bytes')
    """
    parameters = inspect.signature(PredictionGame).parameters.values()
    options = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    return tuple(name for name in options if name not in ("output", "fingerprint"))


def _as_prediction(predict: Callable[[Any], Any], output: Any) -> Prediction:
    if not isinstance(predict, Prediction):
        return Prediction(predict, output)
    if output is not None:
        refuse("output", output, must_be="None if 'predict' is a Prediction, which has its own output")
    return predict


def _smallest(codes: NDArray[np.int32]) -> NDArray[Any]:
    return codes.astype(np.min_scalar_type(int(codes.max())))
