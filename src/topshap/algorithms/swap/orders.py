"""Sets of one stratum in a random order that all pairs of players share.

Two players i and j are compared in the company of a set S without them, by v(S + i) - v(S + j). The sets of one size,
or of a few neighbouring sizes, are a stratum. They stand in one random order for everybody; a pair takes those without
i and j, in that order. That is sampling without replacement for every pair, in which pairs share evaluations.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, comb, cos, inf, pi
from typing import TYPE_CHECKING

import numpy as np

from topshap.core import coalitions as co

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Players, Values

SINGLE_SIZES_UP_TO = 20
"""Games with at most this many players have a stratum for every size."""
BLOCKS = 12
"""Strata of larger games, besides that of the empty company and that of everybody else."""
_LISTED = 2**18
"""Sizes with at most this many sets are listed when half of them have been drawn."""
_AT_ONCE = 64


class SharedPermutation:
    """The companies of one stratum, in random order, drawn only as far as they are needed.

    Small companies are drawn as they are: the *base* is S, and everybody outside can be added. Large ones are drawn
    from above: the base is S with both players, and everybody inside can be taken out. So the base with one player
    flipped is evaluated in either case, and the fewer are fixed, the more pairs share a base.

    Parameters
    ----------
    n
        The number of players.
    sizes
        The sizes of S in this stratum, all in the lower or all in the upper half of 0 .. n-2.
    rng
        Where the order comes from.
    repeat
        Whether sets may come again and again, for games whose values vary from call to call.

    Examples
    --------
    >>> order = SharedPermutation(5, range(1, 2), np.random.default_rng(0))
    >>> first = order.of_pair(0, 1, start=0, count=2)
    >>> bool(order.bases[first][:, :2].any()), order.population
    (False, 3.0)
    """

    def __init__(self, n: int, sizes: range, rng: np.random.Generator, *, repeat: bool = False) -> None:
        self._n, self._rng = n, rng
        self.sizes = sizes
        above = 2 * sizes[0] > n - 2
        self.sign = -1.0 if above else 1.0
        """The factor that turns the difference of two bases with one player flipped into v(S + i) - v(S + j)."""
        self.population = inf if repeat or len(sizes) > 1 else float(comb(n - 2, sizes[0]))
        """How many sets a pair has; infinite where they may come again."""
        self._base_sizes = np.array(sizes) + (2 if above else 0)
        self._can_swap_if = above
        swappable = np.array([s if above else n - s for s in self._base_sizes.tolist()], dtype=np.float64)
        # A pair can use a base of c swappable players with probability c (c - 1) / (n (n - 1)): drawn with the inverse
        # of that, all sizes are equally likely among those that it uses.
        chances = 1.0 / (swappable * (swappable - 1.0))
        self._chances = chances / chances.sum()
        self._usable = float(1.0 / (chances.mean() * n * (n - 1.0)))
        self._rows: Coalitions = np.empty((0, n), dtype=np.bool_)
        self._drawn = 0
        self._left = comb(n, int(self._base_sizes[0])) if self.population < inf else inf
        self._keys: set[bytes] = set()

    @property
    def bases(self) -> Coalitions:
        """The bases drawn so far, in their order."""
        return self._rows[: self._drawn]

    def swappable(self, start: int = 0, stop: int | None = None) -> Coalitions:
        """Return who can be swapped in the bases drawn so far, from one position up to another."""
        rows = self.bases[start:stop]
        return rows if self._can_swap_if else ~rows

    def first(self, count: int) -> int:
        """Draw until there are `count` bases, or all of them; return how many of these there are."""
        while self._drawn < count and self._left > 0:
            self._draw(count - self._drawn)
        return min(count, self._drawn)

    def of_pair(self, i: int, j: int, start: int, count: int) -> Players:
        """Return the positions of the next `count` bases in which both players can be swapped, fewer at the end."""
        while True:
            rows = self._rows[start : self._drawn]
            usable = rows[:, i] & rows[:, j] if self._can_swap_if else ~(rows[:, i] | rows[:, j])
            found = start + np.flatnonzero(usable)[:count]
            if len(found) == count or self._left == 0:
                return found
            self._draw(ceil((count - len(found)) / self._usable))

    def _draw(self, count: int) -> None:
        """Draw about `count` further bases."""
        if self.population == inf:
            rows = self._random(max(count, _AT_ONCE))
        elif self._drawn >= self._left and self._left <= _LISTED:
            rows = self._rest()
            self._left = 0
        else:
            rows = self._fresh(self._random(min(max(count, _AT_ONCE), 2 * int(self._left))))
            self._left -= len(rows)
        self._append(rows)

    def _random(self, count: int) -> Coalitions:
        sizes = self._rng.choice(self._base_sizes, size=count, p=self._chances)
        return co.draw_of_sizes(sizes, self._n, self._rng)

    def _fresh(self, rows: Coalitions) -> Coalitions:
        """Return those that have not been drawn, each once, in the order they came."""
        fresh = []
        for row, key in enumerate(co.keys(rows)):
            if key not in self._keys:
                self._keys.add(key)
                fresh.append(row)
        return rows[fresh]

    def _rest(self) -> Coalitions:
        """Return all that are left, in random order."""
        return self._rng.permutation(self._fresh(co.all_of_size(self._n, int(self._base_sizes[0]))))

    def _append(self, rows: Coalitions) -> None:
        needed = self._drawn + len(rows)
        if needed > len(self._rows):
            more = np.empty((max(needed, 2 * len(self._rows)) - len(self._rows), self._n), dtype=np.bool_)
            self._rows = np.concatenate([self._rows, more])
        self._rows[self._drawn : needed] = rows
        self._drawn = needed


def strata(n: int, rng: np.random.Generator, *, repeat: bool = False) -> list[SharedPermutation]:
    """Return the strata of a game: one for every size of S, in large games blocks of neighbouring sizes.

    Examples
    --------
    >>> [list(stratum.sizes) for stratum in strata(5, np.random.default_rng(0))]
    [[0], [1], [2], [3]]
    """
    return [SharedPermutation(n, sizes, rng, repeat=repeat) for sizes in blocks_of_sizes(n)]


def blocks_of_sizes(n: int) -> list[range]:
    """Return the sizes 0 .. n-2 of S, each alone or, for many players, in blocks that are narrower towards the ends.

    Examples
    --------
    >>> blocks_of_sizes(3)
    [range(0, 1), range(1, 2)]
    >>> [len(block) for block in blocks_of_sizes(60)]
    [1, 1, 3, 4, 6, 7, 8, 7, 7, 6, 4, 3, 1, 1]
    """
    if n <= SINGLE_SIZES_UP_TO:
        return [range(s, s + 1) for s in range(n - 1)]
    edges = [round((n - 3) * (1.0 - cos(pi * b / BLOCKS)) / 2.0) + 1 for b in range(BLOCKS + 1)]
    edges[BLOCKS // 2] = (n - 2) // 2 + 1  # no block on both sides of the middle
    inner = [range(low, high) for low, high in pairwise(edges) if high > low]
    return [range(1), *inner, range(n - 2, n - 1)]


def weights(blocks: list[range], n: int) -> Values:
    """Return which part of all sizes each stratum holds: its weight in phi_i - phi_j.

    Examples
    --------
    >>> weights(blocks_of_sizes(5), 5)
    array([0.25, 0.25, 0.25, 0.25])
    """
    return np.array([len(block) / (n - 1.0) for block in blocks])
