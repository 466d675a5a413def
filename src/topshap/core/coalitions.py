"""Coalitions as rows of bits: drawing them, naming them, numbering them.

A coalition has three forms here. As a *row* of a bool array it is what algorithms and games work with. As a *key*, the
row as bytes, it is what a ledger looks up. As an *id*, the integer whose bit i says whether player i is inside,
it is the position in a complete table of 2**n values.
"""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import ParameterError
from topshap.core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalition, Coalitions, Matrix, Players


_NUMBERS_PER_BLOCK = 2**21
"""The number of random numbers that are drawn together: 16 MB."""
_UNPACKED_UP_TO = 64
"""The largest number of players whose keys are not packed: a dictionary entry is larger than such a key anyway."""


def keys(coalitions: Coalitions) -> list[bytes]:
    r"""Return one hashable key per row: its bytes, or for many players its bits packed into bytes.

    Examples
    --------
    >>> keys(np.array([[True, False, False], [True, True, False]]))
    [b'\x01\x00\x00', b'\x01\x01\x00']
    """
    m, n = coalitions.shape
    if m <= 8 and n <= _UNPACKED_UP_TO:  # faster for a few rows, and some algorithms ask for three at a time
        whole = coalitions.tobytes()
        return [whole[start : start + n] for start in range(0, m * n, n)]
    rows = coalitions if n <= _UNPACKED_UP_TO else np.packbits(coalitions, axis=1, bitorder="little")
    as_bytes: list[bytes] = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel().tolist()
    return as_bytes


def from_ids(ids: NDArray[np.integer], n: int) -> Coalitions:
    """Return the coalitions with these ids: player i is inside where bit i is set.

    Examples
    --------
    >>> from_ids(np.array([0, 5]), 3)
    array([[False, False, False],
           [ True, False,  True]])
    """
    little_endian = np.ascontiguousarray(ids, dtype="<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(little_endian, axis=1, count=n, bitorder="little").view(np.bool_)


def to_ids(coalitions: Coalitions) -> NDArray[np.int64]:
    """Return each coalition's id, the position of its value in a complete table; for up to 62 players.

    Examples
    --------
    >>> to_ids(np.array([[False, False, False], [True, False, True]]))
    array([0, 5])
    """
    m, n = coalitions.shape
    octets = np.zeros((m, 8), dtype=np.uint8)
    octets[:, : (n + 7) // 8] = np.packbits(coalitions, axis=1, bitorder="little")
    return octets.view("<i8").ravel()


def smallest(sizes: NDArray[np.integer], order: Matrix) -> Coalitions:
    """Return, for each row, the set of its `sizes[r]` players with the smallest entries in `order`.

    With uniform random entries this is a uniform random set of that size. Every row consumes the same number of random
    numbers whatever its size, so that drawing rows one by one or many at a time gives the same sets.
    """
    ascending = np.sort(order, axis=1)
    beyond_last = np.full((len(order), 1), np.inf)
    first_outside = np.concatenate([ascending, beyond_last], axis=1)[np.arange(len(order)), sizes]
    return order < first_outside[:, None]


def draw_of_sizes(sizes: NDArray[np.integer], n: int, rng: np.random.Generator) -> Coalitions:
    """Draw one uniform random coalition for each size."""
    return _in_blocks(len(sizes), n, lambda block: smallest(sizes[block], rng.random((len(sizes[block]), n))))


def draw_anchors(count: int, n: int, rng: np.random.Generator) -> Coalitions:
    """Draw `count` coalitions with a size uniform in 0..n, then uniform among the sets of that size."""

    def draw(block: slice) -> Coalitions:
        uniform = rng.random((block.stop - block.start, n + 1))
        return smallest((uniform[:, 0] * (n + 1)).astype(np.intp), uniform[:, 1:])

    return _in_blocks(count, n, draw)


def draw_without(players: Players, n: int, rng: np.random.Generator) -> Coalitions:
    """Draw, for each player, a coalition without it: a size uniform in 0..n-1, then uniform among those sets."""

    def draw(block: slice) -> Coalitions:
        left_out = players[block]
        uniform = rng.random((len(left_out), n + 1))
        order = uniform[:, 1:]
        order[np.arange(len(left_out)), left_out] = 2.0  # last in the row, and a size below n never reaches the last
        return smallest((uniform[:, 0] * n).astype(np.intp), order)

    return _in_blocks(len(players), n, draw)


def _in_blocks(count: int, n: int, draw: Callable[[slice], Coalitions]) -> Coalitions:
    """Draw `count` coalitions in blocks, so that their random numbers take a bounded amount of memory."""
    size = max(1, _NUMBERS_PER_BLOCK // n)
    if count <= size:
        return draw(slice(0, count))
    return np.concatenate([draw(slice(start, min(start + size, count))) for start in range(0, count, size)])


def anchors(n: int, rng: np.random.Generator, count: int | None = None) -> Iterator[Coalition]:
    """Yield anchors as `draw_anchors` draws them, `count` of them or without end."""
    yield from _one_by_one(lambda block: draw_anchors(block, n, rng), n, count)


def uniforms(shape: tuple[int, ...], rng: np.random.Generator, count: int | None = None) -> Iterator[Matrix]:
    """Yield arrays of this shape of numbers uniform in [0, 1), `count` of them or without end."""
    yield from _one_by_one(lambda block: rng.random((block, *shape)), prod(shape), count)


def _one_by_one(draw: Callable[[int], Any], size: int, count: int | None) -> Iterator[Any]:
    """Yield one draw after the other; they are drawn in blocks, since a single draw takes nearly as long as many."""
    block = max(1, min(64, 2**20 // max(1, size)))
    done = 0
    while count is None or done < count:
        yield from draw(block if count is None else min(block, count - done))
        done += block


def with_and_without(coalitions: Coalitions, players: Players) -> Coalitions:
    """Return two rows for each coalition: with its player, then without it."""
    rows = np.repeat(coalitions, 2, axis=0)
    rows[np.arange(0, len(rows), 2), players] = True
    rows[np.arange(1, len(rows), 2), players] = False
    return rows


def with_complements(coalitions: Coalitions) -> Coalitions:
    """Return each coalition followed by its complement."""
    rows = np.repeat(coalitions, 2, axis=0)
    rows[1::2] ^= True
    return rows


def all_of_size(n: int, size: int) -> Coalitions:
    """Return all coalitions of this size, in lexicographic order of their members.

    Examples
    --------
    >>> all_of_size(3, 1)
    array([[ True, False, False],
           [False,  True, False],
           [False, False,  True]])
    """
    return of_members(np.array(list(combinations(range(n), size)), dtype=np.intp), n)


def of_members(members: Players, n: int) -> Coalitions:
    """Return the coalitions with these members: one coalition per row of indices.

    Examples
    --------
    >>> of_members(np.array([[0, 2], [2, 1]]), 3)
    array([[ True, False,  True],
           [False,  True,  True]])
    """
    rows = np.zeros((len(members), n), dtype=np.bool_)
    rows[np.arange(len(members))[:, None], members] = True
    return rows


def names_of(coalition: Coalition, player_names: tuple[str, ...] | None = None, at_most: int = 12) -> str:
    """Return the players of a coalition in braces, for messages; beyond `at_most`, only their number.

    Examples
    --------
    >>> names_of(np.array([True, False, True]))
    '{0, 2}'
    >>> names_of(np.array([True, False, True]), ("age", "sex", "bmi"))
    '{age, bmi}'
    """
    members = np.flatnonzero(coalition)
    shown = [str(i) if player_names is None else printable(player_names[i]) for i in members[:at_most]]
    more = [f"... {len(members) - at_most} more"] if len(members) > at_most else []
    return "{" + ", ".join(shown + more) + "}"


def check_coalitions(coalitions: Coalitions, n_players: int | None) -> Coalitions:
    """Return coalitions as a contiguous array, or raise an error if they are not a bool array of the right shape.

    Numbers are not accepted: an array of player indices could be mistaken for coalitions.

    Examples
    --------
    >>> check_coalitions(np.array([[0, 2]]), 2)
    Traceback (most recent call last):
        ...
    topshap.core.errors.ParameterError: The 'coalitions' parameter of a game must be a bool array of shape (m, 2).
    Got int... of shape (1, 2) instead.
    """
    rows = np.asarray(coalitions)
    if rows.dtype != np.bool_ or rows.ndim != 2 or (n_players is not None and rows.shape[1] != n_players):
        raise ParameterError(
            "The 'coalitions' parameter of a game must be a bool array of shape "
            f"(m, {'n' if n_players is None else n_players}). Got {rows.dtype} of shape {rows.shape} instead."
        )
    return np.ascontiguousarray(rows)
