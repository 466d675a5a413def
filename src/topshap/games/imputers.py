"""Imputers: the rows that replace the features outside a coalition, and the weights of these rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from topshap.core.validation import check_choice, refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix
    from topshap.games.tables import Table

ImputerName: TypeAlias = Literal["mean-mode", "baseline", "marginal", "conditional"]
IMPUTERS: tuple[ImputerName, ...] = ("mean-mode", "baseline", "marginal", "conditional")

BANDWIDTH = 0.1
"""Width of the conditional imputer's kernel in standard deviations per feature, as in Aas, Jullum and Løland (2021)."""


@dataclass(frozen=True)
class ColumnDistances:
    """Squared distances between the cells of rows to explain and of background rows in one column."""

    own: NDArray[Any]
    """The cells of the rows to explain: floats, or codes of categories."""
    background: NDArray[Any]
    spread: float | None
    """The standard deviation of a numeric column; None for categories."""

    def squared(self, rows: NDArray[np.intp]) -> Matrix:
        """Return the squared distances of some rows to explain to each background row, shape (rows, background).

        They are in squared standard deviations; 1 for different categories, and 1 if only one of the values is missing.
        """
        own = self.own[rows][:, None]
        if self.spread is None:
            return (self.background != own).astype(np.float64)
        difference = (self.background - own) / (self.spread or 1.0)
        one_missing = np.isnan(self.background) != np.isnan(own)
        return np.where(one_missing, 1.0, np.nan_to_num(difference, nan=0.0) ** 2)


@dataclass(frozen=True)
class Imputer:
    """Rows that replace absent features, with their distances to the rows to explain if these determine the weights."""

    rows: Table
    squared_distances: Matrix | None = None
    """Distance of each row to the only row to explain in each column; None for equal weights or several rows."""
    columns: tuple[ColumnDistances, ...] = ()
    """The distances to several rows to explain; empty for equal weights."""

    @property
    def weighted(self) -> bool:
        """Whether the rows have different weights."""
        return self.squared_distances is not None or bool(self.columns)

    def weights(self, present: Coalitions, own: NDArray[np.intp] | None = None) -> Matrix | None:
        """Return the weight of each row for each coalition, shape (m, rows); None for equal weights.

        The weight is a Gaussian kernel of the distance to the row to explain in the present columns.

        Parameters
        ----------
        present
            The columns that are present, shape (m, columns).
        own
            The position of the row to explain for each coalition, if there are several.
        """
        if not self.weighted:
            return None
        known = np.maximum(present.sum(axis=1, keepdims=True), 1)
        squared = self._sums_of_squares(present, own) / known
        # Subtracted so that the nearest row has a positive weight however far away it is.
        nearest = squared.min(axis=1, keepdims=True)
        kernel = np.exp((nearest - squared) / (2.0 * BANDWIDTH**2))
        weights: Matrix = kernel / kernel.sum(axis=1, keepdims=True)
        return weights

    def _sums_of_squares(self, present: Coalitions, own: NDArray[np.intp] | None) -> Matrix:
        """Return the sums of squared distances over the present columns."""
        if self.squared_distances is not None:
            sums: Matrix = present @ self.squared_distances.T
            return sums
        rows = np.zeros(len(present), dtype=np.intp) if own is None else own
        sums = np.zeros((len(present), self.rows.n_rows))
        for column, with_column in zip(self.columns, present.T, strict=True):
            sums[with_column] += column.squared(rows[with_column])
        return sums


def make_imputer(name: ImputerName, background: Table, own: Table, categorical: set[int]) -> Imputer:
    """Return the imputer with this name for a background and the rows to explain."""
    check_choice("imputer", name, IMPUTERS)
    if name == "mean-mode":
        return Imputer(background.typical(categorical))
    if name == "baseline" and background.n_rows != 1:
        must_be = "a single row for imputer='baseline'"
        refuse("background", got=f"{background.n_rows} rows", must_be=must_be)
    if name != "conditional":
        return Imputer(background)
    columns = tuple(_distances(background, own, j, categorical) for j in range(len(background.labels)))
    if own.n_rows > 1:
        return Imputer(background, columns=columns)
    only = np.zeros(1, dtype=np.intp)
    return Imputer(background, np.stack([column.squared(only)[0] for column in columns], axis=1))


def _distances(background: Table, own: Table, j: int, categorical: set[int]) -> ColumnDistances:
    values, own_values = background.column(j), own.column(j)
    if object in (values.dtype, own_values.dtype) or j in categorical:
        codes = own.over(background).column_codes(j)
        return ColumnDistances(codes[: own.n_rows], codes[own.n_rows :], None)
    spread = 0.0 if np.isnan(values).all() else float(np.nanstd(values))
    return ColumnDistances(own_values, values, spread)
