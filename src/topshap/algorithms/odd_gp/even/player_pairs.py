"""Pairs of players, and how many players two pairs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from topshap.core.typing import Matrix, Players, Values


class PlayerPairs(NamedTuple):
    """Pairs of players (i, j) with i < j, as two arrays of indices.

    Examples
    --------
    >>> PlayerPairs.of(3)
    PlayerPairs(i=array([0, 0, 1]), j=array([1, 2, 2]))
    """

    i: Players
    j: Players

    @classmethod
    def of(cls, n: int) -> PlayerPairs:
        """Return all pairs of n players in lexicographic order."""
        return cls(*np.triu_indices(n, 1))

    def chosen(self, which: Players) -> PlayerPairs:
        """Return some of the pairs."""
        return PlayerPairs(self.i[which], self.j[which])

    def of_matrix(self, matrix: Matrix) -> Values:
        """Return the entries of the pairs in a symmetric matrix with one row per player."""
        return np.asarray(matrix[self.i, self.j])

    @property
    def overlaps(self) -> np.ndarray:
        """The number of players, 0, 1 or 2, that each two of the pairs share."""
        i, j = self.i, self.j
        shared = (i[:, None] == i).astype(np.int8)
        shared += i[:, None] == j
        shared += j[:, None] == i
        shared += j[:, None] == j
        return shared
