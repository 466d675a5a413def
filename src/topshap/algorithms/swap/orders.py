"""Background sets of one stratum, in a random order that all pairs of players share.

Players i and j are compared against a background set S without them, by v(S + i) - v(S + j). The sets of one size, or
of a few neighbouring sizes, form a stratum. They have one random order for all pairs: a pair uses the sets without i
and j, in that order. Every pair thus samples without replacement, and pairs share evaluations.

Coalitions are *masks* here: integers whose bit p says whether player p is inside, for any number of players.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, comb, cos, inf, pi
from typing import TYPE_CHECKING

import numpy as np

from topshap.core import coalitions as co

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topshap.core.typing import Coalitions, Values

SINGLE_SIZES_UP_TO = 20
"""Games with at most this many players have one stratum per size."""
BLOCKS = 12
"""Number of strata of larger games, not counting those of the smallest and of the largest size."""
_LISTED_UP_TO = 2**18
"""Sizes with at most this many sets are listed once half of them have been drawn."""
_MIN_DRAWN = 64
"""Sets drawn together, since drawing one takes nearly as long."""


class SharedOrder:
    """The background sets of one stratum in random order, drawn only as far as they are needed.

    Small background sets are drawn directly: the *anchor* is S, and any player outside can be added. Large ones are
    drawn from above: the anchor is S with both players, and any player inside can be removed. In both cases the
    coalitions to evaluate are the anchor with one player flipped, and as many pairs as possible share an anchor.

    Parameters
    ----------
    n
        The number of players.
    sizes
        The sizes of S in this stratum, all in the lower or all in the upper half of 0 .. n-2.
    rng
        The source of randomness.
    repeat
        Whether sets may occur repeatedly, for games whose values vary from call to call.

    Examples
    --------
    >>> order = SharedOrder(5, range(1, 2), np.random.default_rng(0))
    >>> [order.anchors[position] & 0b11 for position in order.next_for(0, 1, start=0, count=2)]
    [0, 0]
    >>> order.population
    3.0
    """

    def __init__(self, n: int, sizes: range, rng: np.random.Generator, *, repeat: bool = False) -> None:
        self._n, self._rng = n, rng
        self.sizes = sizes
        self._from_above = 2 * sizes[0] > n - 2
        self.sign = -1.0 if self._from_above else 1.0
        """The factor that turns the difference of an anchor's values, i flipped or j flipped, into a comparison."""
        self.population = inf if repeat or len(sizes) > 1 else float(comb(n - 2, sizes[0]))
        """The number of sets of a pair; infinite where sets may occur repeatedly."""
        self.anchors: list[int] = []
        """The anchors drawn so far, in their order, as masks."""
        self._anchor_sizes = np.array(sizes) + (2 if self._from_above else 0)
        swappable = np.array([s if self._from_above else n - s for s in self._anchor_sizes.tolist()], dtype=np.float64)
        # A pair can use an anchor with c swappable players with probability c (c - 1) / (n (n - 1)). Sizes are drawn
        # with the inverse of that, so that all are equally likely among the anchors that a pair uses.
        chances = 1.0 / (swappable * (swappable - 1.0))
        self._chances = chances / chances.sum()
        self._usable = float(1.0 / (chances.mean() * n * (n - 1.0)))
        self._left = comb(n, int(self._anchor_sizes[0])) if self.population < inf else inf
        self._drawn: set[int] = set()

    def swappable(self, position: int) -> Coalitions:
        """Return, for each player, whether it can be flipped in the anchor at a position."""
        (inside,) = to_rows([self.anchors[position]], self._n)
        return inside if self._from_above else ~inside

    def draw_first(self, count: int) -> int:
        """Draw until there are `count` anchors, or all of them; return the number available, at most `count`."""
        while len(self.anchors) < count and self._left > 0:
            self._draw(count - len(self.anchors))
        return min(count, len(self.anchors))

    def next_for(self, i: int, j: int, start: int, count: int) -> list[int]:
        """Return the positions of the next `count` anchors in which i and j can be swapped, fewer at the end."""
        anchors, both = self.anchors, (1 << i) | (1 << j)
        wanted = both if self._from_above else 0
        found: list[int] = []
        position = start
        while len(found) < count:
            if position == len(anchors):
                if self._left == 0:
                    break
                self._draw(ceil((count - len(found)) / self._usable))
            elif anchors[position] & both == wanted:
                found.append(position)
                position += 1
            else:
                position += 1
        return found

    def _draw(self, count: int) -> None:
        """Draw about `count` further anchors."""
        if self.population == inf:
            self.anchors += to_masks(self._random(max(count, _MIN_DRAWN)))
        elif len(self.anchors) >= self._left and self._left <= _LISTED_UP_TO:
            rest = self._new(to_masks(co.all_of_size(self._n, int(self._anchor_sizes[0]))))
            self.anchors += [rest[index] for index in self._rng.permutation(len(rest)).tolist()]
            self._left = 0
        else:
            new = self._new(to_masks(self._random(min(max(count, _MIN_DRAWN), 2 * int(self._left)))))
            self.anchors += new
            self._left -= len(new)

    def _random(self, count: int) -> Coalitions:
        sizes = self._rng.choice(self._anchor_sizes, size=count, p=self._chances)
        return co.draw_of_sizes(sizes, self._n, self._rng)

    def _new(self, masks: list[int]) -> list[int]:
        """Return the anchors that have not been drawn before, each once, in their order."""
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._drawn]
        self._drawn.update(new)
        return new


def to_masks(rows: Coalitions) -> list[int]:
    """Return each coalition as an integer whose bit p says whether player p is inside.

    Examples
    --------
    >>> to_masks(np.array([[True, False, True]]))
    [5]
    """
    packed = np.packbits(rows, axis=1, bitorder="little")
    width, octets = packed.shape[1], packed.tobytes()
    return [int.from_bytes(octets[at : at + width], "little") for at in range(0, len(octets), width)]


def to_rows(masks: Iterable[int], n: int) -> Coalitions:
    """Return the coalitions of n players with these masks, one per row.

    Examples
    --------
    >>> to_rows([5], 3)
    array([[ True, False,  True]])
    """
    width = (n + 7) // 8
    octets = np.frombuffer(b"".join([mask.to_bytes(width, "little") for mask in masks]), dtype=np.uint8)
    return np.unpackbits(octets.reshape(-1, width), axis=1, count=n, bitorder="little").view(np.bool_)


def shared_orders(n: int, rng: np.random.Generator, *, repeat: bool = False) -> list[SharedOrder]:
    """Return the strata of a game: one for every size of S, or for many players blocks of neighbouring sizes.

    Examples
    --------
    >>> [list(order.sizes) for order in shared_orders(5, np.random.default_rng(0))]
    [[0], [1], [2], [3]]
    """
    return [SharedOrder(n, sizes, rng, repeat=repeat) for sizes in size_blocks(n)]


def size_blocks(n: int) -> list[range]:
    """Return the sizes 0 .. n-2 of S, one by one or for many players in blocks that are narrower towards the ends.

    Examples
    --------
    >>> size_blocks(3)
    [range(0, 1), range(1, 2)]
    >>> [len(block) for block in size_blocks(60)]
    [1, 1, 3, 4, 6, 7, 8, 7, 7, 6, 4, 3, 1, 1]
    """
    if n <= SINGLE_SIZES_UP_TO:
        return [range(s, s + 1) for s in range(n - 1)]
    edges = [round((n - 3) * (1.0 - cos(pi * b / BLOCKS)) / 2.0) + 1 for b in range(BLOCKS + 1)]
    edges[BLOCKS // 2] = (n - 2) // 2 + 1  # no block on both sides of the middle
    inner = [range(low, high) for low, high in pairwise(edges) if high > low]
    return [range(1), *inner, range(n - 2, n - 1)]


def stratum_weights(blocks: list[range], n: int) -> Values:
    """Return the weight of each stratum in phi_i - phi_j: its share of all sizes.

    Examples
    --------
    >>> stratum_weights(size_blocks(5), 5)
    array([0.25, 0.25, 0.25, 0.25])
    """
    return np.array([len(block) / (n - 1.0) for block in blocks])
