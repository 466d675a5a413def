"""Backgrounds: the rows that replace absent features, with equal weights or with those of a summary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.games.gaussian import Gaussian
from topshap.games.tables import column_labels, dense_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topshap.core.typing import Matrix, Values
    from topshap.games.tables import Table


@dataclass(frozen=True)
class Background:
    """A table of rows, their weights if they differ, and the names of the columns if the weighted rows have some."""

    table: Table
    weights: Values | None = None
    names: tuple[str, ...] | None = None

    def labels(self, feature_names: Sequence[str] | None) -> list[Any]:
        """Return the names of the columns: `feature_names` if given, otherwise those of the background."""
        return column_labels(self.table, self.names if feature_names is None else feature_names)

    def parts(self, most: int) -> list[tuple[float, Background]]:
        """Divide the rows among parts of about equal size, at most this many; return them with their total weights.

        Examples
        --------
        >>> parts = as_background(np.arange(5.0)[:, None]).parts(2)
        >>> [(round(weight, 2), part.table.data.ravel().tolist()) for weight, part in parts]
        [(0.6, [0.0, 2.0, 4.0]), (0.4, [1.0, 3.0])]
        """
        n = self.table.n_rows
        if min(most, n) == 1:
            return [(1.0, self)]
        weights = np.full(n, 1.0 / n) if self.weights is None else self.weights
        found = []
        for start in range(min(most, n)):
            rows = np.arange(start, n, min(most, n))  # rows next to each other may be alike
            total = float(weights[rows].sum())
            own = None if self.weights is None else weights[rows] / total
            found.append((total, Background(self.table.rows(rows), own, self.names)))
        return found

    @cached_property
    def gaussian(self) -> Gaussian:
        """The normal distribution with the mean and the covariance of the rows."""
        return Gaussian(self._numbers())

    @cached_property
    def copula(self) -> Gaussian:
        """The Gaussian copula with the marginal distributions of the rows."""
        return Gaussian(self._numbers(), copula=True)

    def _numbers(self) -> Matrix:
        return numbers("background", self.table)


def as_background(background: Any) -> Background:
    """Return rows, or a weighted summary of rows such as that of ``shap.kmeans``, as a `Background`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> as_background(SimpleNamespace(data=np.eye(2), weights=[3, 1])).weights
    array([0.75, 0.25])
    """
    if isinstance(background, Background):
        return background
    is_table = hasattr(type(background), "shape")  # an array or a frame, whose columns may have any names
    if is_table or not (hasattr(background, "data") and hasattr(background, "weights")):
        return Background(dense_table("background", background))
    table = dense_table("background", background.data)
    if getattr(table.data, "dtype", np.dtype(object)).kind not in "biuf":
        refuse("background", got=f"data of type {type(table.data).__name__}", must_be="an array of numbers if weighted")
    weights = np.asarray(background.weights, dtype=np.float64)
    if weights.shape != (table.n_rows,) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        must_be = f"weighted by one number for each of its {table.n_rows} rows, none negative and not all 0"
        refuse("background", background.weights, must_be=must_be)
    used = weights > 0.0
    names = tuple(str(name) for name in getattr(background, "group_names", ()))
    named = len(names) == len(table.labels)
    return Background(table.rows(used), weights[used] / weights.sum(), names if named else None)


def numbers(parameter: str, table: Table) -> Matrix:
    """Return a table as an array of floats; raise an error if a column is not numeric or has missing values."""
    columns = [table.column(j) for j in range(len(table.labels))]
    others = [label for label, column in zip(table.labels, columns, strict=True) if column.dtype == object]
    if others:
        must_be = "numeric in all columns for a Gaussian imputer; use imputer='conditional' for categories"
        refuse(parameter, got=f"other values in {_named(others)}", must_be=must_be)
    missing = [label for label, column in zip(table.labels, columns, strict=True) if not np.isfinite(column).all()]
    if missing:
        must_be = "finite numbers without missing values for a Gaussian imputer"
        refuse(parameter, got=f"others in {_named(missing)}", must_be=must_be)
    return np.stack(columns, axis=1)


def _named(labels: list[Any]) -> str:
    some = ", ".join(repr(label) for label in labels[:5])
    return f"{'column' if len(labels) == 1 else 'columns'} {some}{', ...' if len(labels) > 5 else ''}"
