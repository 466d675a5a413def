"""Imputers: the rows that replace the features outside a coalition, and the weights of these rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from topshap.core.errors import ParameterError
from topshap.core.validation import check_choice, check_int, refuse
from topshap.games.backgrounds import as_background
from topshap.games.conditional_rows import ConditionalImputer
from topshap.games.tables.cells import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Values
    from topshap.games.backgrounds import Background
    from topshap.games.tables import Table

ImputerName: TypeAlias = Literal[
    "mean-mode", "baseline", "missing", "marginal", "conditional", "gaussian", "gaussian-copula"
]
IMPUTERS: tuple[ImputerName, ...] = get_args(ImputerName)
GAUSSIAN: tuple[ImputerName, ...] = ("gaussian", "gaussian-copula")
"""The imputers that draw absent columns from a fitted distribution."""

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
    row_weights: Values | None = None
    """The weight of each row in the background; None if they are equal."""

    @property
    def conditional(self) -> bool:
        """Whether the weights depend on the present columns."""
        return self.squared_distances is not None or bool(self.columns)

    @property
    def weighted(self) -> bool:
        """Whether the rows have different weights."""
        return self.conditional or self.row_weights is not None

    @property
    def parts(self) -> dict[str, Any]:
        """What the values depend on, besides the rows and their distances."""
        return {} if self.row_weights is None else {"weights": self.row_weights}

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
        if not self.conditional:
            return (
                None
                if self.row_weights is None
                else np.broadcast_to(self.row_weights, (len(present), self.rows.n_rows))
            )
        known = np.maximum(present.sum(axis=1, keepdims=True), 1)
        squared = self._sums_of_squares(present, own) / known
        # Subtracted so that the nearest row has a positive weight however far away it is.
        nearest = squared.min(axis=1, keepdims=True)
        kernel = np.exp((nearest - squared) / (2.0 * BANDWIDTH**2))
        if self.row_weights is not None:
            kernel *= self.row_weights
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


class ImputerOptions(NamedTuple):
    """The options of single imputers."""

    draws: int = 100
    """The number of draws of the Gaussian imputers."""
    seed: int = 0
    """The seed of these draws."""
    missing_value: Any = None
    """The value of absent columns for ``imputer="missing"``; None for a missing value."""


def make_imputer(
    name: ImputerName, background: Background, own: Table, categorical: set[int], options: ImputerOptions
) -> Imputer | ConditionalImputer:
    """Return the imputer with this name for a background and the rows to explain."""
    rows, weights = background.table, background.weights
    if name in GAUSSIAN:
        return _gaussian(name, background, categorical, options)
    if name == "missing":
        return Imputer(_missing(rows, options.missing_value))
    if name == "mean-mode":
        return Imputer(rows.typical(categorical) if weights is None else _weighted_mean(rows, weights, categorical))
    if name == "baseline" and rows.n_rows != 1:
        must_be = "a single row for imputer='baseline'"
        refuse("background", got=f"{rows.n_rows} rows", must_be=must_be)
    if name != "conditional":
        return Imputer(rows, row_weights=weights)
    columns = tuple(_distances(rows, own, j, categorical) for j in range(len(rows.labels)))
    if own.n_rows > 1:
        return Imputer(rows, columns=columns, row_weights=weights)
    only = np.zeros(1, dtype=np.intp)
    squared = np.stack([column.squared(only)[0] for column in columns], axis=1)
    return Imputer(rows, squared, row_weights=weights)


def background_for(name: ImputerName, background: Any, missing_value: Any = None) -> Background:
    """Return the background of an imputer; raise an error if there is no imputer of this name."""
    check_choice("imputer", name, IMPUTERS)
    if missing_value is not None and name != "missing":
        refuse("missing_value", missing_value, must_be=f"None with imputer={name!r}; use imputer='missing'")
    rows = as_background(background)
    if name == "missing" and (missing_value is None or is_missing(missing_value)):
        return replace(rows, table=rows.table.nullable())
    return rows


def _gaussian(
    name: ImputerName, background: Background, categorical: set[int], options: ImputerOptions
) -> ConditionalImputer:
    rows = background.table
    if background.weights is not None:
        must_be = f"all rows for imputer={name!r}, since a weighted summary understates the covariance"
        refuse("background", got=f"{rows.n_rows} weighted rows", must_be=must_be)
    if rows.n_rows < 2:
        refuse("background", got="1 row", must_be=f"at least 2 rows for imputer={name!r}")
    if categorical:
        labels = [rows.labels[j] for j in sorted(categorical)]
        refuse("categorical", labels, must_be=f"None with imputer={name!r}, which needs numeric columns")
    distribution = background.gaussian if name == "gaussian" else background.copula
    draws, seed = check_int("draws", options.draws, low=1), check_int("random_state", options.seed, low=0)
    return ConditionalImputer(rows, distribution, name, draws, seed)


def _missing(rows: Table, value: Any) -> Table:
    """Return one row with a missing value, or a given one, in every column."""
    cell = np.nan if value is None else value
    try:
        return rows.like([cell] * len(rows.labels))
    except ParameterError as error:
        raise ParameterError.about("missing_value", f"must be a value that all columns can hold: {error}") from error


def _weighted_mean(rows: Table, weights: Values, categorical: set[int]) -> Table:
    """Return one row: the weighted mean of each column, or the value with the largest weight of categories."""
    cells = rows.data.astype(np.float64)
    typical = weights @ cells
    for j in categorical:
        values, codes = np.unique(cells[:, j], return_inverse=True)
        typical[j] = values[np.bincount(codes, weights).argmax()]
    return rows.like(typical)


def _distances(background: Table, own: Table, j: int, categorical: set[int]) -> ColumnDistances:
    values, own_values = background.column(j), own.column(j)
    if object in (values.dtype, own_values.dtype) or j in categorical:
        codes = own.over(background).column_codes(j)
        return ColumnDistances(codes[: own.n_rows], codes[own.n_rows :], None)
    spread = 0.0 if np.isnan(values).all() else float(np.nanstd(values))
    return ColumnDistances(own_values, values, spread)
