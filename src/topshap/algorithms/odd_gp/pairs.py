"""The complement pairs that have been observed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.core.algorithm import Problem, Round
from topshap.core.coalitions import with_complements

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Matrix, Values

GOLDEN_RATIO = (5.0**0.5 - 1.0) / 2.0


@dataclass
class ComplementPairs:
    """Complement pairs with the values of both coalitions of each pair.

    One coalition represents the pair; the other is its complement. The first pair is the grand coalition with the empty
    one.
    """

    x: Matrix
    """The representing coalitions as signs: +1 for the players inside, -1 for the others."""
    values: Values
    """v(x) of every pair."""
    complement_values: Values
    """v(-x) of every pair."""

    @classmethod
    def at_start(cls, problem: Problem) -> ComplementPairs:
        """Return the one pair that is known at the start of a race."""
        return cls(np.ones((1, problem.n)), np.array([problem.grand]), np.array([problem.empty]))

    def __len__(self) -> int:
        """Return the number of pairs, including the grand coalition with the empty one."""
        return len(self.x)

    def round(self, coalitions: Coalitions) -> Round:
        """Return the round that evaluates coalitions with their complements and adds the pairs."""
        return Round(with_complements(coalitions), partial(self.add, coalitions))

    def add(self, coalitions: Coalitions, values: Values) -> int:
        """Add pairs from a prefix of the values of `with_complements(coalitions)`; return the number of pairs added."""
        complete = len(values) // 2
        self.x = np.concatenate([self.x, np.where(coalitions[:complete], 1.0, -1.0)])
        self.values = np.concatenate([self.values, values[0 : 2 * complete : 2]])
        self.complement_values = np.concatenate([self.complement_values, values[1 : 2 * complete : 2]])
        return complete

    def evenly_ordered(self) -> ComplementPairs:
        """Return the pairs in an order whose every end contains early and late ones alike; the first stays first.

        Leave-one-out residuals are cheap for the last pairs, and the last ones in time would not be representative. The
        order is that of the fractional parts of the multiples of the golden ratio.
        """
        order = np.argsort(np.arange(len(self)) * GOLDEN_RATIO % 1.0, kind="stable")
        return ComplementPairs(self.x[order], self.values[order], self.complement_values[order])

    def keys(self) -> set[bytes]:
        """Return the keys of all pairs, see `pair_keys`."""
        return set(pair_keys(self.x > 0))

    @property
    def odd(self) -> Values:
        """The odd part g(x) = (v(x) - v(-x)) / 2 of every pair."""
        return (self.values - self.complement_values) / 2.0

    @property
    def even(self) -> Values:
        """The even part e(x) = (v(x) + v(-x)) / 2 of every pair."""
        return (self.values + self.complement_values) / 2.0
