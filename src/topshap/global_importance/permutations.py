"""Permutations of the players: the coalitions that a row is evaluated for, and the row's Shapley values from them.

Along a permutation, the players join one after the other, and each gets the difference that it makes. This is unbiased,
and exact if there are no interactions. With the reversed permutation as well, it is exact up to interactions of pairs.
Two more permutations, in which each half is reversed, are opposite in the other way: players of the same half change
their order, those of different halves do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix


def opposite_permutations(count: int, n: int, rng: np.random.Generator, *, halves: bool = False) -> NDArray[np.intp]:
    """Return random permutations of which every second one is the reverse of the one before, shape (count, n).

    With `halves`, they come in groups of four: a permutation, its reverse, the permutation with each half reversed, and
    the reverse of that.

    Examples
    --------
    >>> first, second = opposite_permutations(2, 4, np.random.default_rng(0))
    >>> (first[::-1] == second).all()
    np.True_
    >>> opposite_permutations(4, 4, np.random.default_rng(0), halves=True)
    array([[2, 0, 1, 3],
           [3, 1, 0, 2],
           [0, 2, 3, 1],
           [1, 3, 2, 0]])
    """
    size = 4 if halves else 2
    drawn = rng.permuted(np.tile(np.arange(n), (-(-count // size), 1)), axis=1)
    if halves:
        middle = n // 2
        turned = np.concatenate([drawn[:, :middle][:, ::-1], drawn[:, middle:][:, ::-1]], axis=1)
        drawn = np.stack([drawn, turned], axis=1).reshape(-1, n)
    both = np.stack([drawn, drawn[:, ::-1]], axis=1).reshape(-1, n)
    return np.asarray(both[:count])


def prefixes(permutations: NDArray[np.intp]) -> Coalitions:
    """Return the first 1, 2, ..., n - 1 players of each permutation, shape (count (n - 1), n).

    Examples
    --------
    >>> prefixes(np.array([[2, 0, 1]])).astype(int)
    array([[0, 0, 1],
           [1, 0, 1]])
    """
    count, n = permutations.shape
    rank = np.argsort(permutations, axis=1)
    return np.asarray((rank[:, None, :] <= np.arange(n - 1)[None, :, None]).reshape(count * (n - 1), n))


def contributions(permutations: NDArray[np.intp], values: Matrix, ends: Matrix) -> Matrix:
    """Return what each player adds along each permutation, shape (count, n).

    Parameters
    ----------
    permutations
        The permutations, shape (count, n).
    values
        The values of their `prefixes`, shape (count, n - 1).
    ends
        The values of the empty and the grand coalition, shape (2, count).

    Examples
    --------
    >>> contributions(np.array([[2, 0, 1]]), np.array([[5.0, 6.0]]), np.array([[1.0], [9.0]]))
    array([[1., 3., 4.]])
    """
    along = np.concatenate([ends[:1].T, values, ends[1:].T], axis=1)
    added = np.empty(permutations.shape)
    np.put_along_axis(added, permutations, np.diff(along, axis=1), axis=1)
    return added
