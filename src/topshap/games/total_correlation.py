"""Unsupervised feature importance: the columns of a table are the players, valued by their shared information."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from topshap.core.errors import ParameterError
from topshap.core.validation import check_choice, check_int, front_door, refuse
from topshap.games.base import GroupedGame, PlayerGroups, in_blocks
from topshap.games.tables import column_labels, dense_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Values
    from topshap.games.tables import Table

_BLOCK_CELLS = 2**21


@front_door
class UnsupervisedGame(GroupedGame):
    """Total correlation: v(S) is the information that the columns in S share, in nats.

    It is the sum of their entropies minus their joint entropy, which is 0 for independent columns and for a single one.

    Parameters
    ----------
    X
        The data, as an array or a data frame (needs the extra ``topshap[frames]``).
    method
        The estimator of the entropies. ``"gaussian"``: from the correlations of numeric columns; v(S) is -1/2 of the
        log determinant of their correlation matrix. ``"discrete"``: from the frequencies of values, with numeric
        columns binned at quantiles. With many columns, the joint entropy approaches its upper limit, the logarithm of
        the number of rows.
    bins
        The number of bins of a numeric column.
    shrinkage
        The shrinkage of correlations towards zero, in [0, 1]. Without it, the value is infinite if a column is a linear
        combination of others.
    groups
        A dict from a player's name to its columns. Each column that is not in a group is a separate player.
    always
        Columns or groups that are in every coalition and are therefore not players.
    feature_names
        The names of the columns, if the data has none or repeated ones.
    fingerprint
        A name for stores, in addition to the data, options and players, which are always part of the fingerprint.

    Examples
    --------
    >>> import topshap
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> X = np.stack([a, b, a + 0.1 * rng.normal(size=500)], axis=1)
    >>> game = UnsupervisedGame(X)
    >>> game(np.array([[True, True, False], [True, False, True]])).round(1)
    array([0. , 1.8])
    """

    def __init__(
        self,
        X: Any,
        *,
        method: Literal["gaussian", "discrete"] = "gaussian",
        bins: int = 10,
        shrinkage: float = 0.01,
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        fingerprint: str | None = None,
    ) -> None:
        check_choice("method", method, ("gaussian", "discrete"))
        table = dense_table("X", X)
        super().__init__(PlayerGroups(column_labels(table, feature_names), groups, always), fingerprint)
        if not 0.0 <= shrinkage <= 1.0:
            refuse("shrinkage", shrinkage, must_be="a number in [0, 1]")
        bins = check_int("bins", bins, low=2)
        gaussian = method == "gaussian"
        self._correlations = _correlations(table, shrinkage) if gaussian else np.empty((0, 0))
        self._codes = _binned(table, bins) if not gaussian else np.empty((0, 0), dtype=np.int32)

    def _values(self, present: Coalitions) -> Values:
        if self._correlations.size:
            return in_blocks(self._gaussian, present, _BLOCK_CELLS // present.shape[1] ** 2)
        single = np.array([_entropy(self._codes[:, [j]]) for j in range(present.shape[1])])
        return np.array([single[row].sum() - _entropy(self._codes[:, row]) for row in present])

    def _gaussian(self, present: Coalitions) -> Values:
        both = present[:, :, None] & present[:, None, :]
        # Absent columns are replaced by those of the identity matrix, which does not change the determinant.
        _, log_determinant = np.linalg.slogdet(np.where(both, self._correlations, np.eye(present.shape[1])))
        return np.maximum(-0.5 * log_determinant, 0.0)

    def _parts(self) -> dict[str, Any]:
        return {"correlations": self._correlations, "codes": self._codes}


def _correlations(table: Table, shrinkage: float) -> Matrix:
    columns = [table.column(j) for j in range(len(table.labels))]
    for label, column in zip(table.labels, columns, strict=True):
        if column.dtype == object or not np.isfinite(column).all() or np.ptp(column) == 0.0:
            complaint = (
                "must have columns of finite numbers that are not constant for method='gaussian'. "
                f"Drop or impute the column {label!r}, or use method='discrete'."
            )
            raise ParameterError.about("X", complaint)
    correlations = np.atleast_2d(np.corrcoef(np.stack(columns)))
    shrunk: Matrix = (1.0 - shrinkage) * correlations + shrinkage * np.eye(len(columns))
    if len(columns) > 1 and np.linalg.eigvalsh(shrunk)[0] <= len(columns) * np.finfo(float).eps:
        refuse("shrinkage", shrinkage, must_be="larger, since a column is a linear combination of others")
    return shrunk


def _binned(table: Table, bins: int) -> NDArray[np.int32]:
    """Return codes of the values, or of their bins in numeric columns; missing values have their own code."""
    codes = table.codes()
    for j in range(codes.shape[1]):
        values = table.column(j)
        if values.dtype != object and codes[:, j].max() >= bins:
            known = ~np.isnan(values)
            edges = np.quantile(values[known], np.arange(1, bins) / bins)
            codes[:, j] = np.where(known, np.searchsorted(edges, values, side="right"), bins)
    return codes


def _entropy(codes: NDArray[np.int32]) -> float:
    if codes.shape[1] == 0:
        return 0.0
    rows = np.ascontiguousarray(codes).view(f"V{codes.shape[1] * codes.itemsize}").ravel()
    frequencies = np.unique(rows, return_counts=True)[1] / len(rows)
    return float(-(frequencies * np.log(frequencies)).sum())
