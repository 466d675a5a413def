"""Pairs of a coalition and a row to explain, and the masked rows that they need.

A masked row is a pair together with a row that replaces the absent columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from topshap.games.equal_rows import first_equal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Values
    from topshap.games.equal_rows import EqualRows, Positions, Terms

_SALT = 0x1E3779B97F4A7C15
"""Added to hashes for each coalition, so that only rows of the same coalition are merged."""


@dataclass(frozen=True)
class Product:
    """Masked rows: consecutive pairs of a coalition and a row to explain, each with the same replacing rows."""

    start: int
    stop: int
    replacing: Positions
    position: Positions | None = None
    """The position of each row of the background among the replacing rows, if equal ones are merged."""

    @property
    def size(self) -> int:
        """The number of masked rows."""
        return (self.stop - self.start) * len(self.replacing)

    def split(self, most: int) -> Iterator[Product]:
        """Divide the pairs among products with at most this number of masked rows, if they have several pairs."""
        step = max(1, most // len(self.replacing))
        for start in range(self.start, self.stop, step):
            yield Product(start, min(start + step, self.stop), self.replacing, self.position)

    def pieces(self, most: int) -> Iterator[tuple[slice, Positions]]:
        """Divide pairs and replacing rows among pieces with at most this number of masked rows."""
        for product in self.split(most):
            for start in range(0, len(self.replacing), most):
                yield slice(product.start, product.stop), self.replacing[start : start + most]


@dataclass(frozen=True)
class Pairs:
    """Pairs of a coalition and a row to explain, ordered by coalition."""

    equal: EqualRows
    present: Coalitions
    coalition: Positions
    own: Positions
    own_hash: Values
    """One for each pair."""
    other_hash: Matrix
    """One for each coalition and replacing row."""

    @classmethod
    def of(cls, equal: EqualRows, present: Coalitions, wanted: NDArray[np.bool_] | None) -> Pairs:
        """Return the pairs that are wanted, by default all."""
        own_hash, other_hash = equal.hashes(present)
        if wanted is not None:
            coalition, own = np.nonzero(wanted)
            return cls(equal, present, coalition, own, own_hash[wanted], other_hash)
        m, n_own = own_hash.shape
        coalition, own = np.divmod(np.arange(m * n_own), n_own)
        return cls(equal, present, coalition, own, own_hash.ravel(), other_hash)

    def only(self, pairs: NDArray[np.bool_]) -> Pairs:
        """Return some of the pairs."""
        own_hash = self.own_hash[pairs]
        return Pairs(self.equal, self.present, self.coalition[pairs], self.own[pairs], own_hash, self.other_hash)

    @cached_property
    def keys(self) -> list[Terms]:
        """The terms of the exact keys: one for each pair, and one for each coalition and replacing row."""
        return [(own[self.coalition, self.own], others) for own, others in self.equal.keys(self.present)]

    def equal_pairs(self) -> Positions:
        """Return the first pair of the same coalition whose row agrees in the present columns, for each pair."""

        def agree(some: Positions, others: Positions) -> NDArray[np.bool_]:
            same = [self.coalition[some] == self.coalition[others]]
            return np.logical_and.reduce(same + [own[some] == own[others] for own, _ in self.keys])

        return first_equal(self.own_hash.astype(np.int64) + self.coalition * _SALT, agree)

    def products(self) -> list[Product]:
        """Return one product per coalition, of its pairs and the replacing rows that differ in absent columns."""
        m, n_replacing = self.other_hash.shape
        coalition = np.repeat(np.arange(m), n_replacing)

        def agree(some: Positions, others: Positions) -> NDArray[np.bool_]:
            same = [coalition[some] == coalition[others]]
            keys = [term.ravel() for _, term in self.keys]
            return np.logical_and.reduce(same + [key[some] == key[others] for key in keys])

        first = first_equal(self.other_hash.ravel().astype(np.int64) + coalition * _SALT, agree)
        distinct = (first == np.arange(len(first))).reshape(m, n_replacing)
        position = (np.cumsum(distinct, axis=1) - 1).ravel()[first].reshape(m, n_replacing)
        bounds = np.searchsorted(self.coalition, np.arange(m + 1))
        return [
            Product(int(start), int(stop), np.flatnonzero(distinct[c]), position[c])
            for c, (start, stop) in enumerate(pairwise(bounds))
            if start < stop
        ]

    def equal_rows(self, block: list[Product]) -> Positions:
        """Return the first masked row of a block with the same cells, for each of its masked rows."""
        hashes = np.concatenate([self._sums(product, self.own_hash, self.other_hash).ravel() for product in block])
        if self.equal.exact:
            return first_equal(hashes.astype(np.int64))

        def agree(some: Positions, others: Positions) -> NDArray[np.bool_]:
            first, second = self._sources(block, some), self._sources(block, others)
            return np.logical_and.reduce(
                [own[first[0]] + other[first[1:]] == own[second[0]] + other[second[1:]] for own, other in self.keys]
            )

        return first_equal(hashes.astype(np.int64), agree)

    def _sums(self, product: Product, own: Values, others: Matrix) -> Matrix:
        pairs = slice(product.start, product.stop)
        coalitions = self.coalition[pairs]
        if coalitions[0] == coalitions[-1]:
            return own[pairs, None] + others[coalitions[0], product.replacing]
        return own[pairs, None] + others[coalitions[:, None], product.replacing]

    def _sources(self, block: list[Product], positions: Positions) -> tuple[Positions, Positions, Positions]:
        """Return the pairs, the coalitions and the replacing rows of masked rows of a block."""
        offsets = np.cumsum([0, *(product.size for product in block)])
        which = np.searchsorted(offsets, positions, side="right") - 1
        widths = np.array([len(product.replacing) for product in block])
        pair, column = np.divmod(positions - offsets[which], widths[which])
        pair += np.array([product.start for product in block])[which]
        replacing = np.concatenate([product.replacing for product in block])
        return pair, self.coalition[pair], replacing[(np.cumsum(widths) - widths)[which] + column]


def blocks(products: list[Product], most: int) -> Iterator[list[Product]]:
    """Divide products among blocks with at most this number of masked rows, if they have several pairs."""
    block: list[Product] = []
    size = 0
    for whole in products:
        for product in whole.split(most):
            if block and size + product.size > most:
                yield block
                block, size = [], 0
            block.append(product)
            size += product.size
    yield block
