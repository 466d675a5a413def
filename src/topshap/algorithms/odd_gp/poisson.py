"""Complement pairs drawn independently of each other, each with a known chance.

A design gives every pair T | N - T a chance of being evaluated, from which the values of the pairs that were not can be
estimated without bias. The chance depends on the size of T and on which side of it a few *watched* players stand. So
the pairs fall into classes of equal chances, and nothing has to be listed: with all players watched each pair is a
class of its own, with few of them a game may have hundreds of players.
"""

from __future__ import annotations

from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from topshap.algorithms.odd_gp.designs import pair_keys
from topshap.algorithms.odd_gp.integrals import shapley_weights
from topshap.core import coalitions as co

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players, Values

WATCHED, ALL_WATCHED_UP_TO = 8, 16
"""Chances depend on the sides of a few players, or of all in a small game."""

_LISTED = 200_000
"""Classes with at most this many pairs may be listed completely."""


class PairClasses:
    """All complement pairs but that of the grand coalition, by size and by the sides of the watched players.

    A pair is named by its half that contains the first watched player.

    Parameters
    ----------
    n
        The number of players.
    watched
        At least one player, at most about 16.

    Examples
    --------
    >>> classes = PairClasses(4, np.array([0, 1]))
    >>> classes.sizes, classes.counts
    (array([1, 2, 3, 2, 3]), array([1., 2., 1., 1., 2.]))
    """

    def __init__(self, n: int, watched: Players) -> None:
        self.n, self.watched = n, watched
        self._others = np.setdiff1d(np.arange(n), watched)
        patterns = 2 ** (len(watched) - 1)
        pattern, inside = np.divmod(np.arange(patterns * (len(self._others) + 1)), len(self._others) + 1)
        bits = np.ones((len(pattern), len(watched)), dtype=np.bool_)
        bits[:, 1:] = (pattern[:, None] >> np.arange(len(watched) - 1)) & 1
        proper = bits.sum(axis=1) + inside < n  # the last one is the grand coalition
        self.sides: Coalitions = bits[proper]
        """Which of the watched players are inside."""
        self.others_inside: NDArray[np.intp] = inside[proper]
        """How many of the other players are inside."""

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """The number of players inside."""
        return self.sides.sum(axis=1) + self.others_inside

    @cached_property
    def counts(self) -> Values:
        """How many pairs each class has."""
        others, inside = len(self._others), self.others_inside
        return np.round(np.exp(gammaln(others + 1) - gammaln(inside + 1) - gammaln(others - inside + 1)), 9)

    def of(self, rows: Coalitions) -> NDArray[np.intp]:
        """Return the class of each pair, given by either of its halves."""
        named = np.where(rows[:, self.watched[:1]], rows, ~rows)
        pattern = named[:, self.watched[1:]] @ (1 << np.arange(len(self.watched) - 1))
        return pattern * (len(self._others) + 1) + named[:, self._others].sum(axis=1)

    def separated(self, weights: Matrix) -> Values:
        """Return, for each class, the sum of `weights` over the pairs of watched players on different sides.

        `weights` is symmetric, with a row and a column for each watched player.
        """
        signs = 2.0 * self.sides - 1.0
        return (weights.sum() - np.einsum("ci,ci->c", signs @ weights, signs)) / 4.0

    def draw(self, chances: Values, rng: np.random.Generator) -> Coalitions:
        """Return the pairs that come up if each has the chance of its class, independently of the others."""
        numbers = np.where(
            self.counts < 2**53,
            rng.binomial(np.minimum(self.counts, 2.0**53).astype(np.int64), chances),
            rng.poisson(np.where(self.counts < 2**53, 0.0, self.counts * chances)),
        )
        if len(self._others) == 0:  # each class is one pair
            rows = np.empty((np.count_nonzero(numbers), self.n), dtype=np.bool_)
            rows[:, self.watched] = self.sides[numbers > 0]
            return rows
        drawn = [np.empty((0, self.n), dtype=np.bool_)]
        for chosen in np.flatnonzero(numbers):
            rows = np.empty((numbers[chosen], self.n), dtype=np.bool_)
            rows[:, self.watched] = self.sides[chosen]
            rows[:, self._others] = draw_sets(
                len(self._others), int(self.others_inside[chosen]), int(numbers[chosen]), rng
            )
            drawn.append(rows)
        return np.concatenate(drawn)


class PoissonPairs:
    """Pairs drawn in blocks, with the chance each of them had to come up in one of the blocks.

    Parameters
    ----------
    n
        The number of players.
    rng
        Where the randomness comes from.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n, self._rng = n, rng
        everyone = n <= ALL_WATCHED_UP_TO
        self.classes = PairClasses(n, np.arange(n if everyone else 1))
        self._blocks: list[tuple[PairClasses, Values]] = []
        self._rows: Coalitions = np.empty((0, n), dtype=np.bool_)
        self._keys: set[bytes] = set()

    @property
    def unseen(self) -> Values:
        """How many pairs of each class have not come up yet."""
        return self.classes.counts - np.bincount(self.classes.of(self._rows), minlength=len(self.classes.counts))

    def watch(self, players: Players) -> None:
        """Let the chances of further blocks depend on the sides of these players; in a small game they all count."""
        if self.n > ALL_WATCHED_UP_TO:
            self.classes = PairClasses(self.n, players[:WATCHED])

    def draw(self, weights: Values, expected: float) -> Coalitions:
        """Return new pairs, about `expected`, with chances proportional to the weights of their classes.

        None are left once all have come up, and only then none are returned.
        """
        fresh = self._rows[:0]
        while len(fresh) == 0 and self.unseen.sum() > 0.0:
            chance = chances(self.classes.counts, self.unseen, weights, expected, had=self._had())
            self._blocks.append((self.classes, chance))
            drawn = self.classes.draw(chance, self._rng)
            new = [row for row, key in enumerate(pair_keys(drawn)) if key not in self._keys]
            fresh = drawn[self._rng.permutation(np.array(new, dtype=np.intp))]
        self._rows = np.concatenate([self._rows, fresh])
        self._keys.update(pair_keys(fresh))
        return fresh

    def _had(self) -> Values:
        """Return the chance that the pairs of each class had so far; 0 where the classes are new."""
        missed = np.zeros(len(self.classes.counts))
        with np.errstate(divide="ignore"):
            for classes, chance in self._blocks:
                missed += np.log1p(-chance) if classes is self.classes else 0.0
        return -np.expm1(missed)

    def cut(self, share: float) -> None:
        """Take note that only the first part of the last block was evaluated, which is in random order."""
        classes, chance = self._blocks[-1]
        self._blocks[-1] = classes, share * chance

    def chances_of(self, rows: Coalitions) -> Values:
        """Return the chance that each pair had to come up in one of the blocks."""
        missed = np.zeros(len(rows))
        with np.errstate(divide="ignore"):
            for classes, chance in self._blocks:
                missed += np.log1p(-chance)[classes.of(rows)]
        return -np.expm1(missed)


def draw_sets(n: int, size: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Draw `count` different sets of this size, all equally likely."""
    available = comb(n, size)
    if available <= _LISTED and count > 0.3 * available:
        return co.all_of_size(n, size)[rng.permutation(available)[:count]]
    found: dict[bytes, Coalitions] = {}
    while len(found) < count:
        rows = co.draw_of_sizes(np.full(count - len(found), size), n, rng)
        found.update(zip(co.keys(rows), rows, strict=True))
    return np.array(list(found.values()))


def chances(counts: Values, unseen: Values, weights: Values, expected: float, had: Values | float = 0.0) -> Values:
    """Return the chances of a block that should bring about `expected` pairs not seen yet.

    After the block, the chance that a pair came up in this or an earlier block is proportional to the weight of its
    class, at most 1, and never below what it `had` before. If there are not more unseen pairs than expected, all
    come up.

    Parameters
    ----------
    counts, unseen
        How many pairs each class has, and how many of them were not evaluated yet.
    weights
        What the chances should be proportional to.
    expected
        How many unseen pairs should come up.
    had
        The chance that each pair of a class had in earlier blocks.

    Examples
    --------
    >>> chances(np.array([1.0, 10.0]), np.array([1.0, 10.0]), np.array([9.0, 1.0]), 3.0).round(6)
    array([1. , 0.2])
    """
    possible = weights > 0.0
    if unseen[possible].sum() <= expected:
        return np.where(possible, 1.0, 0.0)

    def block(log_scale: float) -> Values:
        wanted = np.minimum(1.0, np.exp(log_scale) * weights)
        return np.clip((wanted - had) / np.maximum(1.0 - had, 1e-12), 0.0, 1.0)

    low, high = np.log(expected / (weights * counts).sum()), np.log(1.0 / weights[possible].min())
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (unseen * block(middle)).sum() < expected else (low, middle)
    return block(high)


def separation(n: int) -> Values:
    """Return |A_i - A_j| for a pair of size s that separates i and j, s = 0 .. n: what its g adds to phi_i - phi_j.

    See `pair_functional`; 0 for the empty and the grand coalition, which separate nobody.
    """
    weight = shapley_weights(n)
    result = 2.0 * (weight + weight[::-1])
    result[[0, n]] = 0.0
    return result


def spread(n: int) -> Values:
    """Return how much a pair of size s = 0 .. n tells about the differences between all players.

    The norm of A_T less its mean over the players, which is `separation` times sqrt(s (n - s) / n).
    """
    s = np.arange(n + 1)
    return separation(n) * np.sqrt(s * (n - s) / n)
