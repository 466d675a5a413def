"""Distinct complement pairs, spread over sizes with a given emphasis and over players evenly.

A pair is represented by one of its two coalitions, as a bool row. Sizes s and n - s belong to the same pairs.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from topshap.core import coalitions as co

if TYPE_CHECKING:
    from collections.abc import Collection

    from topshap.core.typing import Coalitions, Values

_LISTED = 200_000
"""Sizes with at most this many sets may be listed completely."""

_PERMUTED = 2**20
"""No more players than these are permuted at once."""

_PLENTY = 2**62
"""More pairs than this are as good as endless."""


def draw_pairs(n: int, count: int, exponent: float, rng: np.random.Generator) -> Coalitions:
    """Draw distinct complement pairs, sizes with weight (s (n - s))^-exponent.

    A size that would be sampled beyond its number of pairs is taken completely, and the rest goes to the others.
    Within a size, sets are cut from random permutations, so that all players occur about equally often.
    """
    sizes = np.arange(1, n // 2 + 1)
    available = np.array([min(pairs_of_size(n, int(s)), _PLENTY) for s in sizes], dtype=np.float64)
    weights = (4.0 * sizes * (n - sizes) / n**2) ** -exponent * np.where(2 * sizes == n, 0.5, 1.0)
    counts = fill(count, weights, available, rng)
    drawn = [draw_of_size(n, int(s), int(c), rng) for s, c in zip(sizes, counts, strict=True) if c > 0]
    rows = np.concatenate(drawn) if drawn else np.empty((0, n), dtype=np.bool_)
    rows[rng.random(len(rows)) < 0.5] ^= True
    return rows


def pairs_of_size(n: int, size: int) -> int:
    """Return how many complement pairs have a half of this size.

    Examples
    --------
    >>> pairs_of_size(4, 1), pairs_of_size(4, 2)
    (4, 3)
    """
    return comb(n, size) // (2 if 2 * size == n else 1)


def fill(count: int, weights: Values, available: Values, rng: np.random.Generator) -> np.ndarray:
    """Share `count` among bins in proportion to their weights, none beyond what it has; rounded at random.

    Examples
    --------
    >>> fill(10, np.array([3.0, 1.0, 1.0]), np.array([4.0, 9.0, 9.0]), np.random.default_rng(0))
    array([4, 3, 3])
    """
    left = min(float(count), available.sum())
    shares = np.zeros(len(weights))
    open_bins = np.ones(len(weights), dtype=np.bool_)
    while open_bins.any() and left > 0:
        proposal = left * weights / weights[open_bins].sum()
        full = open_bins & (proposal >= available)
        if not full.any():
            shares[open_bins] = proposal[open_bins]
            break
        shares[full] = available[full]
        left -= available[full].sum()
        open_bins &= ~full
    whole = np.floor(shares + 1e-9)
    # Systematic rounding: each bin gets its fraction's share of the remainder, up to one.
    missing = round(float(shares.sum() - whole.sum()))
    ends = np.cumsum(shares - whole) * (missing / max((shares - whole).sum(), 1e-300)) + rng.random()
    whole += np.diff(np.floor(ends), prepend=0.0) if missing else 0.0
    return np.minimum(whole, available).astype(np.intp)


def draw_of_size(n: int, size: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Draw `count` different pairs with a half of this size."""
    available = pairs_of_size(n, size)
    if available <= _LISTED and count > 0.3 * available:
        # Listed by their members, halves with player 0 come first: one of each pair.
        return co.all_of_size(n, size)[rng.permutation(available)[:count]]
    found: dict[bytes, np.ndarray] = {}
    while len(found) < count:
        rows = _cut_from_permutations(n, size, count - len(found), rng)
        if 2 * size == n:
            rows[~rows[:, 0]] ^= True  # one name for each pair of halves
        found.update(zip(co.keys(rows), rows, strict=True))
    return np.array(list(found.values())[:count])


def all_pairs(n: int) -> Coalitions:
    """Return all complement pairs but that of the empty and the grand coalition: those without the last player."""
    return co.from_ids(np.arange(1, 2 ** (n - 1)), n)


def pair_keys(rows: Coalitions) -> list[bytes]:
    """Return a key per pair, the same for both of its halves: that of the one with player 0."""
    return co.keys(np.where(rows[:, :1], rows, ~rows))


def without(rows: Coalitions, used: Collection[bytes]) -> Coalitions:
    """Return the rows whose pairs are neither used nor repeated."""
    fresh = {key: row for row, key in enumerate(pair_keys(rows)) if key not in used}
    return rows[sorted(fresh.values())]


def _cut_from_permutations(n: int, size: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Cut random permutations into at least `count` sets, or fewer of many players."""
    blocks = n // size
    permutations = min(-(-count // blocks), max(1, _PERMUTED // n))
    drawn = rng.permuted(np.tile(np.arange(n), (permutations, 1)), axis=1)
    return co.of_members(drawn[:, : blocks * size].reshape(-1, size), n)
