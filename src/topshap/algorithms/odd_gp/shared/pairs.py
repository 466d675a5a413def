"""The complement pairs that have been observed for all outputs of a game."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.designs import all_pairs, pair_keys

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Matrix


class SharedPairs:
    """Complement pairs with the values of both coalitions for every output.

    One coalition represents the pair; the other is its complement. The first pair is the grand coalition with the empty
    one.

    Parameters
    ----------
    n
        The number of players.
    ends
        The values of the empty and of the grand coalition, of shape (2, R).

    Examples
    --------
    >>> pairs = SharedPairs(2, np.array([[0.0, 1.0], [3.0, 5.0]]))
    >>> pairs.add(np.array([[True, False]]), np.array([[1.0, 2.0], [0.0, 6.0]]))
    1
    >>> pairs.odd
    array([[ 1.5,  2. ],
           [ 0.5, -2. ]])
    """

    def __init__(self, n: int, ends: Matrix) -> None:
        self.x: Matrix = np.ones((1, n))
        """The representing coalitions as signs: +1 for the players inside, -1 for the others."""
        self._values = [ends[1:]]
        self._complement_values = [ends[:1]]

    def __len__(self) -> int:
        """Return the number of pairs, including the grand coalition with the empty one."""
        return len(self.x)

    @property
    def n_outputs(self) -> int:
        """The number of outputs."""
        return self._values[0].shape[1]

    @property
    def complete(self) -> bool:
        """Whether all pairs of the game have been observed."""
        m, n = self.x.shape
        return m >= 2 ** (n - 1)

    def add(self, coalitions: Coalitions, values: Matrix) -> int:
        """Add pairs from a prefix of the values of `with_complements(coalitions)`; return the number of pairs added."""
        count = len(values) // 2
        self.x = np.concatenate([self.x, np.where(coalitions[:count], 1.0, -1.0)])
        self._values.append(values[0 : 2 * count : 2])
        self._complement_values.append(values[1 : 2 * count : 2])
        return count

    def keys(self) -> set[bytes]:
        """Return the keys of all pairs, see `pair_keys`."""
        return set(pair_keys(self.x > 0))

    def unobserved(self) -> Matrix:
        """Return all pairs that have not been observed, as signs; for games whose pairs can be listed."""
        n = self.x.shape[1]
        left = np.ones(2 ** (n - 1), dtype=np.bool_)
        left[((self.x * -self.x[:, -1:]) > 0) @ (1 << np.arange(n))] = False  # the coalition without the last player
        return _all_signs(n)[left[1:]]

    @property
    def values(self) -> Matrix:
        """v(x) of every pair (rows) and output (columns)."""
        return np.concatenate(self._values)

    @property
    def complement_values(self) -> Matrix:
        """v(-x) of every pair and output."""
        return np.concatenate(self._complement_values)

    @property
    def odd(self) -> Matrix:
        """The odd part g(x) = (v(x) - v(-x)) / 2 of every pair and output."""
        return (self.values - self.complement_values) / 2.0

    @property
    def even(self) -> Matrix:
        """The even part e(x) = (v(x) + v(-x)) / 2 of every pair and output."""
        return (self.values + self.complement_values) / 2.0


@lru_cache(maxsize=16)
def _all_signs(n: int) -> Matrix:
    """Return all pairs but the grand coalition's as signs, in the order of `all_pairs`."""
    signs = np.where(all_pairs(n), 1.0, -1.0)
    signs.flags.writeable = False
    return signs
