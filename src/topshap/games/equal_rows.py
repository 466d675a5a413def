"""Equal rows among masked rows: rows with some cells of a row to explain and all others of a row that replaces them.

A model predicts equal rows only once. Each masked row has a key: one or several whole numbers, each the sum of one
number per player, so that the keys of all rows and coalitions are two matrix products. The numbers of the players are
mixed radices, so that rows are equal if and only if their keys are, and sums are below 2^53, so that they are exact in
floating point. If a single number is not enough for all players, rows are looked up by the sum of a random number per
cell, and those that are found are compared by their keys: a collision costs one more prediction and changes no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players

Positions: TypeAlias = "NDArray[np.intp]"
Hashes: TypeAlias = "NDArray[np.int64]"
Terms: TypeAlias = "tuple[Matrix, Matrix]"
"""The terms of rows to explain, shape (m, rows), and of replacing rows; their sum is a number of a masked row."""

_BITS = 53
_LOOP_UP_TO, _SORT_UP_TO = 64, 2048
"""Up to these numbers of hashes, a loop or a sort is faster than a hash table of arrays."""

_ROUNDS = 6
_ODD = np.int64(0x1E3779B97F4A7C15)
"""Multiplied with hashes, so that their upper bits depend on all of their bits."""


class EqualRows:
    """Hashes and exact keys of masked rows.

    Parameters
    ----------
    codes
        An integer for each cell, the same for equal values of a column: the rows to explain above the rows that
        replace absent cells.
    n_own
        The number of rows to explain.
    player_of
        The player of each column; columns that are always present have a player of their own.

    Examples
    --------
    >>> rows = EqualRows(np.array([[0, 1], [2, 1]]), n_own=1, player_of=np.array([0, 1]))
    >>> own, replacing = rows.hashes(np.array([[True, True], [True, False], [False, True]]))
    >>> (own + replacing)[:, 0].tolist(), rows.exact
    ([3.0, 3.0, 5.0], True)
    """

    def __init__(self, codes: NDArray[np.integer], n_own: int, player_of: Players) -> None:
        players, self._column = np.unique(player_of, return_index=True)
        if len(players) == len(player_of):
            self.codes = codes[:, self._column].astype(np.int64)
        else:
            self.codes = np.stack([_joint(codes[:, player_of == player]) for player in players], axis=1)
        """An integer for each row and player, the same for equal values."""
        self.n_own = n_own
        self._keys = _mixed_radix_keys(self.codes)
        self.exact = len(self._keys) == 1
        """Whether rows with equal hashes are equal."""
        self._numbers = self._keys[0] if self.exact else _random_numbers(self.codes)

    def hashes(self, present: Coalitions) -> Terms:
        """Return the terms of the hashes, given the columns that are present, shape (m, columns)."""
        return self._terms(self._numbers, present)

    def keys(self, present: Coalitions) -> list[Terms]:
        """Return the terms of all numbers of the keys."""
        return [self._terms(numbers, present) for numbers in self._keys]

    def _terms(self, numbers: Matrix, present: Coalitions) -> Terms:
        with_player = present[:, self._column].astype(np.float64)
        return with_player @ numbers[: self.n_own].T, (1.0 - with_player) @ numbers[self.n_own :].T


def first_equal(hashes: Hashes, agree: Callable[[Positions, Positions], NDArray[np.bool_]] | None = None) -> Positions:
    """Return the position of the first element with the same hash, for each element.

    Elements are put into a hash table; those whose slot belongs to another hash are tried again with other bits. This
    takes a fifth of the time of sorting.

    Parameters
    ----------
    hashes
        The hash of each element.
    agree
        A function that returns whether each of some elements is equal to its counterpart, if hashes are not enough. An
        element that differs from the first one with its hash gets its own position.

    Examples
    --------
    >>> first_equal(np.array([7, 3, 7, 3, 5]))
    array([0, 1, 0, 1, 4])
    """
    find = _first_equal_of_few if len(hashes) <= _SORT_UP_TO else _first_equal_by_table
    first = find(hashes)
    if agree is not None:
        copies = np.flatnonzero(first != np.arange(len(first)))
        if len(copies):
            collisions = copies[~agree(copies, first[copies])]
            first[collisions] = collisions
    return first


def _first_equal_by_table(hashes: Hashes) -> Positions:
    bits = (2 * len(hashes) - 1).bit_length()
    mask = (1 << bits) - 1
    table = np.empty(
        mask + 1, dtype=np.int32
    )  # half the size of positions; games hash far fewer than 2^31 rows at once
    mixed = hashes * _ODD
    elements = np.arange(len(hashes), dtype=np.int32)
    first = _owners_of_slots(table, (mixed >> (64 - bits)) & mask, elements).astype(np.intp)
    left = np.flatnonzero(hashes[first] != hashes)
    for turn in range(1, _ROUNDS):
        if len(left) <= _SORT_UP_TO:
            break
        found = _owners_of_slots(table, (mixed[left] >> max(0, 64 - bits - 5 * turn)) & mask, left)
        first[left] = found
        left = left[hashes[found] != hashes[left]]
    first[left] = left[_first_equal_of_few(hashes[left])]
    return first


def _owners_of_slots(table: NDArray[np.int32], slots: Hashes, elements: NDArray[Any]) -> NDArray[np.int32]:
    """Give each slot of a table to the first of the elements that want it; return the owner of each element's slot."""
    table[slots[::-1]] = elements[::-1]  # the last assignment wins
    return table[slots]


def _first_equal_of_few(hashes: Hashes) -> Positions:
    if len(hashes) <= _LOOP_UP_TO:
        seen: dict[int, int] = {}
        return np.array([seen.setdefault(each, i) for i, each in enumerate(hashes.tolist())], dtype=np.intp)
    _, index, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    return index[inverse]


def _joint(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return an integer for each row, the same for rows that are equal in all columns."""
    joint = codes[:, 0].astype(np.int64)
    for column in codes.T[1:]:
        joint = np.unique(joint * (int(column.max()) + 1) + column, return_inverse=True)[1]
    return joint


def _mixed_radix_keys(codes: NDArray[np.int64]) -> list[Matrix]:
    """Return a number for each row and player in each number of a key; 0 for players that are in other numbers."""
    radices: list[dict[int, int]] = [{}]
    radix = 1
    for player, size in enumerate((codes.max(axis=0) + 1).tolist()):
        if radix * size > 2**_BITS and radix > 1:
            radices.append({})
            radix = 1
        radices[-1][player] = radix
        radix *= size
    return [codes * np.array([own.get(player, 0.0) for player in range(codes.shape[1])]) for own in radices]


def _random_numbers(codes: NDArray[np.int64]) -> Matrix:
    """Return a random whole number for each cell, the same for equal codes of a player; sums are exact."""
    bits = _BITS - int(codes.shape[1]).bit_length()
    sizes = codes.max(axis=0) + 1
    numbers = np.random.default_rng(0).integers(0, 2**bits, size=int(sizes.sum()))
    return numbers[codes + (np.cumsum(sizes) - sizes)].astype(np.float64)
