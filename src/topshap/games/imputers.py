"""Imputers: the rows that replace the features outside a coalition, and the weights of these rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from topshap.core.validation import check_choice, refuse

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Matrix
    from topshap.games.tables import Table

ImputerName: TypeAlias = Literal["mean-mode", "baseline", "marginal", "conditional"]
IMPUTERS: tuple[ImputerName, ...] = ("mean-mode", "baseline", "marginal", "conditional")

BANDWIDTH = 0.1
"""Width of the conditional imputer's kernel in standard deviations per feature, as in Aas, Jullum and Løland (2021)."""


@dataclass(frozen=True)
class Imputer:
    """Rows that replace absent features, with their distances to x if they are weighted by similarity."""

    rows: Table
    squared_distances: Matrix | None = None
    """Distance of each row to x in each column, in squared standard deviations; None for equal weights."""

    def weights(self, present: Coalitions) -> Matrix | None:
        """Return the weight of each row for each coalition, shape (m, rows); None for equal weights.

        The weight is a Gaussian kernel of the distance to x in the present columns.
        """
        if self.squared_distances is None:
            return None
        known = np.maximum(present.sum(axis=1, keepdims=True), 1)
        squared = present @ self.squared_distances.T / known
        # Subtracted so that the nearest row has a positive weight however far away it is.
        nearest = squared.min(axis=1, keepdims=True)
        kernel = np.exp((nearest - squared) / (2.0 * BANDWIDTH**2))
        weights: Matrix = kernel / kernel.sum(axis=1, keepdims=True)
        return weights


def make_imputer(name: ImputerName, background: Table, x: Table, categorical: set[int]) -> Imputer:
    """Return the imputer with this name for a background and the row to explain."""
    check_choice("imputer", name, IMPUTERS)
    if name == "mean-mode":
        return Imputer(background.typical(categorical))
    if name == "baseline" and background.n_rows != 1:
        must_be = "a single row for imputer='baseline'"
        refuse("background", got=f"{background.n_rows} rows", must_be=must_be)
    if name == "conditional":
        return Imputer(background, _squared_distances(background, x, categorical))
    return Imputer(background)


def _squared_distances(background: Table, x: Table, categorical: set[int]) -> Matrix:
    """Return the squared distances to x: 1 for different categories, and 1 if only one of the values is missing."""
    columns = []
    for j in range(len(background.labels)):
        values, own = background.column(j), x.column(j)
        if object in (values.dtype, own.dtype) or j in categorical:
            codes = x.over(background).column_codes(j)
            columns.append((codes[1:] != codes[0]).astype(np.float64))
            continue
        spread = np.nanstd(values) if not np.isnan(values).all() else 0.0
        difference = (values - own) / (spread or 1.0)
        one_missing = np.isnan(values) != np.isnan(own)
        columns.append(np.where(one_missing, 1.0, np.nan_to_num(difference, nan=0.0) ** 2))
    return np.stack(columns, axis=1)
