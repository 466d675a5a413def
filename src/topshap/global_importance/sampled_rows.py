"""The rows of a table as games, and the order in which they are sampled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalitions, Matrix, Players, Values


MOST_AT_ONCE = 2**20
"""The largest number of evaluations that are asked for together, which bounds memory."""


@dataclass(frozen=True, eq=False)
class SampledRows:
    """A table whose rows are games with the same players.

    The game of a row may be a weighted average of games, its parts: one for each part of the background.
    """

    values: Callable[[Coalitions, Players], Values]
    """A function from coalitions and numbers, one each, to values; row r and part p of P have the number r P + p."""
    part_ends: Values
    """The values of the empty and the grand coalition, shape (2, rows, parts)."""
    covariates: list[Matrix]
    """What is known about all rows before any other coalition is evaluated: for each player, an array of shape
    (rows, p) in units of standard deviations."""
    weights: Values = field(default_factory=lambda: np.ones(1))
    """The weight of each part; they add up to 1."""

    @property
    def ends(self) -> Matrix:
        """The values of the empty and the grand coalition for all rows, shape (2, rows)."""
        return np.asarray(self.part_ends @ self.weights)

    @property
    def n_parts(self) -> int:
        """The number of parts of each row."""
        return len(self.weights)

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return self.part_ends.shape[1]

    @property
    def n_players(self) -> int:
        """The number of players."""
        return len(self.covariates)

    @property
    def gains(self) -> Values:
        """v(N) - v(empty) of each row."""
        return np.asarray(self.ends[1] - self.ends[0])

    def of_all(self, coalitions: Coalitions) -> Matrix:
        """Return the values of coalitions for all rows, which have one part each, shape (m, rows)."""
        rows, step = np.arange(self.n_rows), max(1, MOST_AT_ONCE // self.n_rows)
        found = np.empty((len(coalitions), self.n_rows))
        for start in range(0, len(coalitions), step):
            some = coalitions[start : start + step]
            each = self.values(np.repeat(some, self.n_rows, axis=0), np.tile(rows, len(some)))
            found[start : start + step] = each.reshape(len(some), self.n_rows)
        return found


def spread_order(scores: Values, rng: np.random.Generator) -> Players:
    """Return all rows in an order in which every prefix is spread over the scores.

    Rows sorted by score are visited in the order of a van der Corput sequence with a random start. Like a random
    order, it does not prefer any row; a prefix has fewer gaps.

    Parameters
    ----------
    scores
        One number per row.
    rng
        Draws the start and breaks ties.

    Examples
    --------
    >>> order = spread_order(np.arange(8.0), np.random.default_rng(0))
    >>> sorted(order.tolist()) == list(range(8)), sorted((order[:4] // 2).tolist())
    (True, [0, 1, 2, 3])
    """
    count = len(scores)
    shuffled = rng.permutation(count)
    by_score = shuffled[np.argsort(scores[shuffled], kind="stable")]
    index = np.arange(2 ** max(count - 1, 1).bit_length())
    positions, width = np.zeros(len(index)), 0.5
    while index.any():
        positions += width * (index & 1)
        index, width = index >> 1, width / 2.0
    # Each number of the sequence is rounded to a row, so some rows come up twice: only the first time counts.
    places = ((positions + rng.random()) % 1.0 * count).astype(np.intp)
    _, first = np.unique(places, return_index=True)
    return np.asarray(by_score[places[np.sort(first)]])
