"""Distinct complement pairs, with a given distribution of sizes and balanced over players.

A pair is represented by one of its two coalitions, as a bool row. Sizes s and n - s belong to the same pairs.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from topshap.core import coalitions as co

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from topshap.core.typing import Coalitions, Values

_MAX_LISTED_SETS, _LISTED_ABOVE = 200_000, 0.3
"""Sets of a size are enumerated instead of drawn up to this number of them, where more than this share is needed."""
_MAX_KEPT_SETS = 1000
"""Enumerated sets of a size are kept for later races up to this number of them."""
_MAX_LISTED_PAIRS = 2**15
"""All pairs of a game are enumerated up to this number of them, where most have been used."""
_PERMUTED_TOGETHER = 2**20
"""The largest number of entries of the permutations drawn together, which bounds memory."""
_UNLIMITED = 2**62
"""Numbers of pairs above this are treated as infinite."""


def first_design(n: int, count: int, rng: np.random.Generator, *, singles_first: bool) -> Coalitions:
    """Return the pairs to evaluate first, before there is a model.

    With `singles_first`, for small budgets, the pairs of a single player and the others come first: these alone
    identify an additive game.
    """
    if not singles_first:
        return rng.permutation(draw_pairs(n, count, 0.5, rng))
    singles = np.eye(n, dtype=np.bool_)
    if n <= 3:  # there are no other pairs
        return singles[: min(count, 2 ** (n - 1) - 1)]
    larger = draw_pairs(n, count, 0.0, rng)
    sizes = larger.sum(axis=1)
    larger = larger[(sizes > 1) & (sizes < n - 1)]
    return np.concatenate([singles, rng.permutation(larger)[: count - n]])


def unused_pairs(n: int, used: Collection[bytes], count: int, rng: np.random.Generator) -> Coalitions:
    """Return distinct pairs that are not `used`, about `count`, half of them with an emphasis on extreme sizes.

    Where most pairs of a small game have been used, the remaining ones are enumerated.
    """
    counts = sum(_counts_of_sizes(n, count // 2 + 1, exponent, rng) for exponent in (0.5, 0.0))
    found = drop_used(_scattered(n, np.asarray(counts), rng), used)
    if len(found) < count / 2 and 2 ** (n - 1) <= _MAX_LISTED_PAIRS:
        left = drop_used(all_pairs(n), used)
        return left[rng.permutation(len(left))[:count]]
    return found


def draw_pairs(n: int, count: int, exponent: float, rng: np.random.Generator) -> Coalitions:
    """Draw distinct complement pairs, with sizes weighted by (s (n - s))^-exponent.

    A size whose share exceeds its number of pairs is taken completely, and the excess goes to the other sizes. Within a
    size, sets are cut from random permutations, so that all players occur about equally often.
    """
    counts = _counts_of_sizes(n, count, exponent, rng)
    drawn = [draw_pairs_of_size(n, s, c, rng) for s, c in enumerate(counts.tolist(), start=1) if c > 0]
    rows = np.concatenate(drawn) if drawn else np.empty((0, n), dtype=np.bool_)
    rows[rng.random(len(rows)) < 0.5] ^= True
    return rows


def _scattered(n: int, counts: np.ndarray, rng: np.random.Generator) -> Coalitions:
    """Draw pairs with these numbers of the sizes 1, 2, ..., independently of each other except where sizes are small.

    This is several times faster than `draw_pairs`. Players are not balanced, and a pair may occur twice.
    """
    listed = counts > _LISTED_ABOVE * _available(n)
    few = [draw_pairs_of_size(n, int(s) + 1, int(counts[s]), rng) for s in np.flatnonzero(listed)]
    many = co.draw_of_sizes(np.repeat(np.arange(1, n // 2 + 1), np.where(listed, 0, counts)), n, rng)
    return np.concatenate([*few, many])


def _counts_of_sizes(n: int, count: int, exponent: float, rng: np.random.Generator) -> np.ndarray:
    """Divide `count` pairs among the sizes 1 .. n // 2, weighted by (s (n - s))^-exponent."""
    return allocate(count, _weights_of_sizes(n, exponent), _available(n), rng)


@lru_cache
def _weights_of_sizes(n: int, exponent: float) -> Values:
    sizes = np.arange(1, n // 2 + 1)
    weights = (4.0 * sizes * (n - sizes) / n**2) ** -exponent * np.where(2 * sizes == n, 0.5, 1.0)
    weights.flags.writeable = False
    return np.asarray(weights)


@lru_cache
def _available(n: int) -> Values:
    """Return the numbers of pairs of the sizes 1 .. n // 2, where they are not infinite."""
    counts = [min(pairs_of_size(n, size), _UNLIMITED) for size in range(1, n // 2 + 1)]
    available = np.array(counts, dtype=np.float64)
    available.flags.writeable = False
    return available


def pairs_of_size(n: int, size: int) -> int:
    """Return the number of complement pairs with one coalition of this size.

    Examples
    --------
    >>> pairs_of_size(4, 1), pairs_of_size(4, 2)
    (4, 3)
    """
    return comb(n, size) // (2 if 2 * size == n else 1)


def allocate(count: int, weights: Values, available: Values, rng: np.random.Generator) -> np.ndarray:
    """Divide `count` among bins in proportion to their weights and within their capacities, with random rounding.

    Examples
    --------
    >>> allocate(10, np.array([3.0, 1.0, 1.0]), np.array([4.0, 9.0, 9.0]), np.random.default_rng(0))
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


def draw_pairs_of_size(n: int, size: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Draw `count` distinct pairs with one coalition of this size, balanced over players."""

    def draw(missing: int) -> Coalitions:
        rows = _cut_from_permutations(n, size, missing, rng)
        if 2 * size == n:
            rows[~rows[:, 0]] ^= True  # of the two halves, the one with player 0 represents the pair
        return rows

    # Of all halves in lexicographic order, those with player 0 come first: one of each pair.
    return _distinct(n, size, count, draw, rng, available=pairs_of_size(n, size))


def draw_sets_of_size(n: int, size: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Draw `count` distinct sets of this size, all equally likely."""

    def draw(missing: int) -> Coalitions:
        return co.draw_of_sizes(np.full(missing, size), n, rng)

    return _distinct(n, size, count, draw, rng, available=comb(n, size))


def _distinct(
    n: int, size: int, count: int, draw: Callable[[int], Coalitions], rng: np.random.Generator, *, available: int
) -> Coalitions:
    """Return `count` of the first `available` sets of a size: enumerated if these are few, drawn otherwise."""
    if available <= _MAX_LISTED_SETS and count > _LISTED_ABOVE * available:
        return _listed(n, size)[rng.permutation(available)[:count]]
    found: dict[bytes, np.ndarray] = {}
    while len(found) < count:
        rows = draw(count - len(found))
        found.update(zip(co.keys(rows), rows, strict=True))
    return np.array(list(found.values())[:count])


def _listed(n: int, size: int) -> Coalitions:
    """Return all sets of a size."""
    return _kept(n, size) if comb(n, size) <= _MAX_KEPT_SETS else co.all_of_size(n, size)


@lru_cache(maxsize=64)
def _kept(n: int, size: int) -> Coalitions:
    """Return all sets of a size, which are enumerated only once."""
    sets = co.all_of_size(n, size)
    sets.flags.writeable = False
    return sets


def all_pairs(n: int) -> Coalitions:
    """Return all complement pairs except the grand coalition's, as the coalitions without the last player."""
    return co.from_ids(np.arange(1, 2 ** (n - 1)), n)


def pair_keys(rows: Coalitions) -> list[bytes]:
    """Return one key per pair, the same for both of its coalitions: that of the coalition with player 0."""
    return co.keys(np.where(rows[:, :1], rows, ~rows))


def drop_used(rows: Coalitions, used: Collection[bytes]) -> Coalitions:
    """Return the rows whose pairs are not `used`, each pair once."""
    fresh = {key: row for row, key in enumerate(pair_keys(rows)) if key not in used}
    return rows[sorted(fresh.values())]


def _cut_from_permutations(n: int, size: int, count: int, rng: np.random.Generator) -> Coalitions:
    """Cut random permutations into at least `count` sets, or fewer if the permutations would take too much memory."""
    blocks = n // size
    permutations = min(-(-count // blocks), max(1, _PERMUTED_TOGETHER // n))
    drawn = rng.permuted(np.broadcast_to(np.arange(n), (permutations, n)), axis=1)
    return co.of_members(drawn[:, : blocks * size].reshape(-1, size), n)
