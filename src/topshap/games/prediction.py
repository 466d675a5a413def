"""Why did a model predict this: features of one row as players."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import check_int, front_door
from topshap.games.base import UnitGame, Units, in_blocks
from topshap.games.imputers import make_imputer
from topshap.games.outputs import Prediction
from topshap.games.tables import column_labels, dense_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Values
    from topshap.games.imputers import ImputerName


@front_door
class PredictionGame(UnitGame):
    """A local explanation: v(S) is what a model predicts for x when only the features in S are known.

    Parameters
    ----------
    predict
        A function from rows to numbers: ``model.predict``, ``model.predict_proba``, or one of your own. It gets rows of
        the same kind as `background`: a DataFrame has the same columns and dtypes, an array the same columns.
    x
        The row to explain: an array, a Series, a dict, or a frame of one row. Named values are matched by name.
    background
        Rows to fill in from, as an array, a pandas or a polars DataFrame; usually training data or a sample of it.
    output
        Which output of `predict`, if it has several: the name of a class where `predict` is a method of a model
        with ``classes_``, else a position.
    imputer
        What stands in for features outside S. ``"mean-mode"``: the mean of columns of numbers, rounded for columns of
        whole numbers since dtypes are kept, and the most frequent value of all others; missing values do not count.
        ``"baseline"``: the single row that `background` is. ``"marginal"``: the values of each background row in turn,
        and the predictions are averaged (interventional Shapley values). ``"conditional"``: the same, but rows count
        the more the nearer they are to x in the features of S, by a Gaussian kernel of 0.1 standard deviations a
        feature.
    groups
        A dict of a player's name to its columns, such as all columns of a one-hot encoding. Others stay on their own.
    always
        Columns or groups that are always known, and so no players.
    categorical
        Columns of numbers that are categories: ``"mean-mode"`` takes their most frequent value.
    feature_names
        What the columns are called, where they have no names of their own.
    batch_bytes
        About how much memory the rows of one call of `predict` may take.
    fingerprint
        A name for this game in a store, for a `predict` that cannot be seen through; see `topshap.core.fingerprints`.

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
        self._predict = Prediction(predict, output)
        rows = dense_table("background", background)
        own = rows.like(x)
        units = Units(column_labels(rows, feature_names), groups, always)
        super().__init__(units, fingerprint)
        as_categories = {units.find(label, "categorical") for label in categorical or ()}
        self._imputer = make_imputer(imputer, rows, own, as_categories)
        # Row 0 is x, the others fill in: a row for the model is said by where each of its cells comes from.
        self._table = own.over(self._imputer.rows)
        self._codes = _smallest(self._table.codes())
        n_columns = len(rows.labels)
        per_row = self._table.row_bytes + n_columns * (8 + 2 * self._codes.itemsize)
        self._max_rows = max(1, check_int("batch_bytes", batch_bytes, low=1) // per_row)
        ends = np.array([np.zeros(n_columns, dtype=np.intp), np.ones(n_columns, dtype=np.intp)])
        self._predict.try_on(self._table, ends)

    def _values(self, present: Coalitions) -> Values:
        return in_blocks(self._average, present, self._max_rows // self._imputer.rows.n_rows)

    def _average(self, present: Coalitions) -> Values:
        """Return the prediction for each row of features that are there, averaged over the rows that fill in."""
        n_fill = self._imputer.rows.n_rows
        row_of = np.where(present[:, None, :], 0, np.arange(1, n_fill + 1)[:, None]).reshape(-1, present.shape[1])
        predictions = self._distinct(row_of).reshape(-1, n_fill)
        weights = self._imputer.weights(present)
        if weights is None:
            return predictions.mean(axis=1)
        average: Values = (weights * predictions).sum(axis=1)
        return average

    def _distinct(self, row_of: NDArray[np.intp]) -> Values:
        """Return the prediction for each row, having asked for rows with the same content only once."""
        codes = np.ascontiguousarray(self._codes[row_of, np.arange(row_of.shape[1])])
        as_bytes = codes.view(f"V{codes.shape[1] * codes.itemsize}").ravel()
        _, first, again = np.unique(as_bytes, return_index=True, return_inverse=True)
        asked = row_of[np.sort(first)]  # in the order they came, which models may like better than a random one
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


def _smallest(codes: NDArray[np.int32]) -> NDArray[Any]:
    return codes.astype(np.min_scalar_type(int(codes.max())))
