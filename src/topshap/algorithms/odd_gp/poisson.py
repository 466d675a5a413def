"""Poisson sampling of complement pairs: independent draws with known inclusion probabilities.

With known inclusion probabilities, the sum over the pairs that were not drawn can be estimated without bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.algorithms.odd_gp.strata import PairStrata

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Players, Values

ALL_PLAYERS_UP_TO, MAX_PLAYERS = 16, 8
"""Strata depend on the sides of all players in games up to the first size, and of a few players in larger ones."""


class PoissonDesign:
    """Complement pairs drawn in blocks, with the probability of each pair to be drawn in any of the blocks.

    Parameters
    ----------
    n
        The number of players.
    rng
        The source of randomness.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n, self._rng = n, rng
        self.strata = PairStrata(n, np.arange(n if n <= ALL_PLAYERS_UP_TO else 1))
        self._blocks: list[tuple[PairStrata, Values]] = []
        self._rows: Coalitions = np.empty((0, n), dtype=np.bool_)
        self._keys: set[bytes] = set()

    @property
    def undrawn(self) -> Values:
        """The number of pairs of each stratum that have not been drawn yet."""
        return self.strata.counts - np.bincount(self.strata.of(self._rows), minlength=len(self.strata.counts))

    def stratify_by(self, players: Players) -> None:
        """Stratify further blocks by the first of these players; small games are always stratified by all players."""
        if self.n > ALL_PLAYERS_UP_TO:
            self.strata = PairStrata(self.n, players[:MAX_PLAYERS])

    def draw(self, weights: Values, expected: float) -> Coalitions:
        """Draw a block of about `expected` new pairs, with probabilities proportional to the weights of their strata.

        The block is empty only if all pairs have been drawn.
        """
        fresh = self._rows[:0]
        while len(fresh) == 0 and self.undrawn.sum() > 0.0:
            probabilities = block_probabilities(
                self.strata.counts, self.undrawn, weights, expected, before=self._before()
            )
            self._blocks.append((self.strata, probabilities))
            drawn = self.strata.draw(probabilities, self._rng)
            new = [row for row, key in enumerate(pair_keys(drawn)) if key not in self._keys]
            fresh = drawn[self._rng.permutation(np.array(new, dtype=np.intp))]
        self._rows = np.concatenate([self._rows, fresh])
        self._keys.update(pair_keys(fresh))
        return fresh

    def _before(self) -> Values:
        """Return the inclusion probability of each stratum so far; 0 where the strata are new."""
        log_missed = np.zeros(len(self.strata.counts))
        with np.errstate(divide="ignore"):
            for strata, probabilities in self._blocks:
                log_missed += np.log1p(-probabilities) if strata is self.strata else 0.0
        return -np.expm1(log_missed)

    def cut(self, share: float) -> None:
        """Record that only this share of the last block, which is in random order, was evaluated."""
        strata, probabilities = self._blocks[-1]
        self._blocks[-1] = strata, share * probabilities

    def inclusion_probabilities(self, rows: Coalitions) -> Values:
        """Return the probability of each pair to be drawn in any of the blocks."""
        log_missed = np.zeros(len(rows))
        with np.errstate(divide="ignore"):
            for strata, probabilities in self._blocks:
                log_missed += np.log1p(-probabilities)[strata.of(rows)]
        return -np.expm1(log_missed)


def block_probabilities(
    counts: Values, undrawn: Values, weights: Values, expected: float, before: Values | float = 0.0
) -> Values:
    """Return the probabilities of a block that is expected to contain `expected` new pairs.

    After the block, the probability of a pair to be drawn in this or an earlier block is proportional to the weight of
    its stratum, at most 1, and never below its probability `before`. If at most `expected` pairs are left, all are
    drawn.

    Parameters
    ----------
    counts, undrawn
        The number of pairs in each stratum, and the number of those not drawn yet.
    weights
        The weights that the probabilities should be proportional to.
    expected
        The expected number of new pairs.
    before
        The inclusion probability of the pairs of each stratum in earlier blocks.

    Examples
    --------
    >>> block_probabilities(np.array([1.0, 10.0]), np.array([1.0, 10.0]), np.array([9.0, 1.0]), 3.0).round(6)
    array([1. , 0.2])
    """
    possible = weights > 0.0
    if undrawn[possible].sum() <= expected:
        return np.where(possible, 1.0, 0.0)

    def block(log_scale: float) -> Values:
        target = np.minimum(1.0, np.exp(log_scale) * weights)
        return np.clip((target - before) / np.maximum(1.0 - before, 1e-12), 0.0, 1.0)

    low, high = np.log(expected / (weights * counts).sum()), np.log(1.0 / weights[possible].min())
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (undrawn * block(middle)).sum() < expected else (low, middle)
    return block(high)
