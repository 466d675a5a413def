"""Complement pairs as they come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.legacy import evaluate
from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.core.coalitions import with_complements

if TYPE_CHECKING:
    from collections.abc import Generator

    from topshap.core.typing import Coalitions, Matrix, Values


@dataclass
class Pairs:
    """The complement pairs seen so far: one half of each as signs, and the values of both halves.

    The first is the grand coalition with the empty one.
    """

    x: Matrix
    values: Values
    opposites: Values
    keys: set[bytes] = field(default_factory=set)

    @classmethod
    def of_the_ends(cls, n: int, grand: float, empty: float) -> Pairs:
        """Return the one pair that is known from the start."""
        return cls(np.ones((1, n)), np.array([grand]), np.array([empty]))

    def ask(self, halves: Coalitions) -> Generator[Coalitions, Values, bool]:
        """Ask for both halves of pairs; return whether the budget lasted."""
        rows = with_complements(halves)
        values = yield from evaluate([rows])
        whole = len(values) // 2
        self.x = np.concatenate([self.x, np.where(halves[:whole], 1.0, -1.0)])
        self.values = np.concatenate([self.values, values[0 : 2 * whole : 2]])
        self.opposites = np.concatenate([self.opposites, values[1 : 2 * whole : 2]])
        self.keys.update(pair_keys(halves[:whole]))
        return len(values) == len(rows)

    @property
    def odd(self) -> Values:
        """The odd part g = (v(x) - v(-x)) / 2 of every pair."""
        return (self.values - self.opposites) / 2.0

    @property
    def even(self) -> Values:
        """The even part e = (v(x) + v(-x)) / 2 of every pair."""
        return (self.values + self.opposites) / 2.0
