"""The rows of a table as games, and the order in which they are sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.values import check_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalitions, Matrix, Players, Values


@dataclass(frozen=True, eq=False)
class SampledRows:
    """A table whose rows are games with the same players."""

    game_of: Callable[[Players], Any]
    """A function from positions of rows to their game, with the method ``evaluate_for``."""
    ends: Matrix
    """The values of the empty and the grand coalition for all rows, shape (2, rows)."""
    covariates: list[Matrix]
    """What is known about all rows before any other coalition is evaluated: for each player, an array of shape
    (rows, p) in units of standard deviations."""

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return self.ends.shape[1]

    @property
    def n_players(self) -> int:
        """The number of players."""
        return len(self.covariates)

    @property
    def gains(self) -> Values:
        """v(N) - v(empty) of each row."""
        return np.asarray(self.ends[1] - self.ends[0])

    def evaluate(self, rows: Players, coalitions: Coalitions, owner: Players) -> Values:
        """Return the value of each coalition for one row each.

        Parameters
        ----------
        rows
            The positions of the rows of a block.
        coalitions
            The coalitions, shape (m, n).
        owner
            The position in the block of the row that each coalition is evaluated for.
        """
        if len(coalitions) == 0:
            return np.empty(0)
        wanted = np.zeros((len(coalitions), len(rows)), dtype=np.bool_)
        wanted[np.arange(len(coalitions)), owner] = True
        values = self.game_of(rows).evaluate_for(coalitions, wanted)
        return np.asarray(check_values(values[np.arange(len(coalitions)), owner], coalitions))


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
