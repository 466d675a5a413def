"""Predictions for masked rows: some columns are those of a row to explain, all others are replaced.

The value of a coalition for a row is the average prediction over the rows that replace absent columns, so R rows, m
coalitions and B replacing rows need R m B predictions. Two things keep this cheap:

- Equal masked rows are predicted once. For each coalition, rows to explain that agree in the present columns are
  merged, and so are replacing rows that agree in the absent ones. What is still equal among the coalitions that fit
  into memory is found by hashes.
- Masked rows are assembled in the order coalition, row to explain, replacing row: the replacing rows are copied as one
  block, and the present columns are written over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import GameError
from topshap.games.equal_rows import EqualRows, first_equal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players, Values
    from topshap.games.equal_rows import Positions, Terms
    from topshap.games.imputers import Imputer
    from topshap.games.outputs import Prediction
    from topshap.games.tables import Table

MOST_ROWS = 2**16
"""The largest number of rows in one call of the model."""

_LEAST_ROWS, _CACHED_BYTES = 2**13, 2**21
"""Above this number of rows, calls are bounded by the memory of the assembled cells: beyond the cache, assembling a row
takes up to three times as long."""

_BYTES_PER_MASKED_ROW = 64
"""The approximate memory of hashes, positions and predictions for each masked row."""

_MOST_MASKED = 2**18
"""The largest number of masked rows among which equal ones are looked for: more leave the cache and take longer."""

_WORTH_MERGING = 16
"""Rows are merged for each coalition if there are at least this many rows to explain and replacing rows."""

_SALT = 0x1E3779B97F4A7C15
"""Added to hashes for each coalition, so that only rows of the same coalition are merged."""


class MaskedRows:
    """Average predictions of a model for rows of which only some columns are known.

    Parameters
    ----------
    prediction
        The model.
    own
        The rows to explain.
    imputer
        The rows that replace absent columns, and their weights.
    player_of
        The player of each column: the columns of a player are present together.
    batch_bytes
        The approximate memory of the rows in one call of the model, and of everything else.
    """

    def __init__(
        self, prediction: Prediction, own: Table, imputer: Imputer, player_of: Players, batch_bytes: int
    ) -> None:
        self.table = own.over(imputer.rows)
        """The rows to explain above the rows that replace absent columns."""
        self.n_own = own.n_rows
        self._prediction, self._imputer = prediction, imputer
        self._equal = EqualRows(self.table.codes(), own.n_rows, player_of)
        cells = self.table.sources()
        self._own, self._replacing = cells[: own.n_rows], cells[own.n_rows :]
        cell_bytes = cells.shape[1] * cells.itemsize
        cached_rows = min(MOST_ROWS, max(_LEAST_ROWS, _CACHED_BYTES // cell_bytes))
        self._max_rows = max(1, min(cached_rows, batch_bytes // (self.table.row_bytes + 2 * cell_bytes)))
        self._max_masked = min(_MOST_MASKED, max(1, batch_bytes // _BYTES_PER_MASKED_ROW))
        ends = np.repeat(np.array([[0], [own.n_rows]], dtype=np.intp), cells.shape[1], axis=1)
        self.first_answers = prediction.try_on(self.table, ends)
        """The predictions for a row to explain and for a replacing row."""
        self.n_outputs = self.first_answers.shape[1]

    @property
    def dummies(self) -> NDArray[np.bool_]:
        """Players with the same value in a row to explain and in all rows that replace it, shape (rows, players)."""
        own, replacing = self._equal.codes[: self.n_own], self._equal.codes[self.n_own :]
        same: NDArray[np.bool_] = (own == replacing[0]) & (replacing == replacing[0]).all(axis=0)
        return same

    def averages(self, present: Coalitions, wanted: NDArray[np.bool_] | None = None) -> Values:
        """Return the average prediction of each coalition for each row, shape (m, rows, outputs).

        Parameters
        ----------
        present
            The columns that are present in each coalition, shape (m, columns).
        wanted
            The rows that each coalition is evaluated for, shape (m, rows), by default all; the others are nan.
        """
        averages = np.full((len(present), self.n_own, self.n_outputs), np.nan)
        step = max(1, self._max_masked // max(self.n_own, len(self._replacing)))
        for start in range(0, len(present), step):
            some = slice(start, start + step)
            asked = None if wanted is None else wanted[some]
            part = _Part.of(self._equal, present[some], asked)
            if len(part.own):
                averages[some][part.coalition, part.own] = self._averages_of_pairs(part)
        return averages

    def _averages_of_pairs(self, part: _Part) -> Matrix:
        """Return the average prediction of each pair of a coalition and a row, shape (pairs, outputs)."""
        per_coalition = len(part.own) / len(part.present)
        if min(per_coalition, len(self._replacing)) < _WORTH_MERGING:
            everything = _Product(0, len(part.own), np.arange(len(self._replacing)))
            return self._averages_of_products(part, [everything], merged=False)
        first = part.equal_pairs()
        distinct = first == np.arange(len(first))
        fewer = part.only(distinct)
        averages = self._averages_of_products(fewer, fewer.products(), merged=True)
        return averages[(np.cumsum(distinct) - 1)[first]]

    def _averages_of_products(self, part: _Part, products: list[_Product], *, merged: bool) -> Matrix:
        averages = np.empty((len(part.own), self.n_outputs))
        for block in _blocks(products, self._max_masked):
            first = None if merged and len(block) == 1 else part.equal_rows(block)
            predictions = self._predictions(part, block, first)
            start = 0
            for product in block:
                own = predictions[:, start : start + product.size]
                averages[product.start : product.stop] = self._average(part, product, own).T
                start += product.size
        return averages

    def _average(self, part: _Part, product: _Product, predictions: Matrix) -> Matrix:
        """Return the average over the rows that replace absent columns, shape (outputs, pairs)."""
        each = predictions.reshape(self.n_outputs, -1, len(product.replacing))
        if product.position is not None:
            each = np.take(each, product.position, axis=2)
        pairs = slice(product.start, product.stop)
        weights = None
        if self._imputer.weighted:
            weights = self._imputer.weights(part.present[part.coalition[pairs]], part.own[pairs])
        average: Matrix = each.mean(axis=2) if weights is None else (weights * each).sum(axis=2)
        return average

    def _predictions(self, part: _Part, block: list[_Product], first: Positions | None) -> Matrix:
        """Return the predictions for all masked rows of a block, shape (outputs, rows)."""
        distinct = None if first is None else first == np.arange(len(first))
        if distinct is None or distinct.all():
            return np.concatenate([self._ask(rows) for rows in self._chunks(part, block, None)], axis=1)
        asked = np.concatenate([self._ask(rows) for rows in self._chunks(part, block, distinct)], axis=1)
        return np.take(asked, (np.cumsum(distinct) - 1)[first], axis=1)

    def _chunks(self, part: _Part, block: list[_Product], distinct: NDArray[np.bool_] | None) -> Iterator[NDArray[Any]]:
        """Assemble the distinct masked rows of a block, as many at a time as the model gets in one call."""
        waiting: list[NDArray[Any]] = []
        start = n_waiting = 0
        for product in block:
            for pairs, replacing in product.pieces(self._max_rows):
                rows = self._assemble(part, pairs, replacing)
                stop = start + len(rows)
                if distinct is not None:
                    rows = rows[distinct[start:stop]]
                start = stop
                if waiting and n_waiting + len(rows) > self._max_rows:
                    yield _stacked(waiting)
                    waiting, n_waiting = [], 0
                waiting.append(rows)
                n_waiting += len(rows)
        yield _stacked(waiting)

    def _assemble(self, part: _Part, pairs: slice, replacing: Positions) -> NDArray[Any]:
        """Return the cells of each pair of a coalition and a row with each of the replacing rows."""
        coalitions, own = part.coalition[pairs], self._own[part.own[pairs]]
        others = self._replacing if len(replacing) == len(self._replacing) else self._replacing[replacing]
        if coalitions[0] == coalitions[-1]:
            columns = np.flatnonzero(part.present[coalitions[0]])
            rows = np.empty((len(own), *others.shape), dtype=others.dtype)
            rows[:] = others
            rows[:, :, columns] = own[:, None, columns]
        else:
            rows = np.where(part.present[coalitions][:, None, :], own[:, None, :], others)
        return rows.reshape(-1, others.shape[1])

    def _ask(self, cells: NDArray[Any]) -> Matrix:
        """Return the predictions of the model, shape (outputs, rows)."""
        answer = self._prediction.outputs(self.table.assembled(cells))
        if answer.shape != (len(cells), self.n_outputs):
            expected = f"{self.n_outputs} numbers per row" if self.n_outputs > 1 else "one number per row"
            raise GameError(
                f"The model must return {expected}. Got an array of shape {answer.shape} for {len(cells)} rows instead."
            )
        return answer.T


@dataclass(frozen=True)
class _Product:
    """Masked rows: consecutive pairs of a coalition and a row to explain, each with the same replacing rows."""

    start: int
    stop: int
    replacing: Positions
    position: Positions | None = None
    """The position of each row of the background among the replacing rows, if equal ones are merged."""

    @property
    def size(self) -> int:
        return (self.stop - self.start) * len(self.replacing)

    def split(self, most: int) -> Iterator[_Product]:
        """Divide the pairs among products with at most this number of masked rows, if they have several pairs."""
        step = max(1, most // len(self.replacing))
        for start in range(self.start, self.stop, step):
            yield _Product(start, min(start + step, self.stop), self.replacing, self.position)

    def pieces(self, most: int) -> Iterator[tuple[slice, Positions]]:
        """Divide pairs and replacing rows among pieces with at most this number of masked rows."""
        for product in self.split(most):
            for start in range(0, len(self.replacing), most):
                yield slice(product.start, product.stop), self.replacing[start : start + most]


@dataclass(frozen=True)
class _Part:
    """Some coalitions and the pairs of a coalition and a row that are wanted, ordered by coalition."""

    equal: EqualRows
    present: Coalitions
    coalition: Positions
    own: Positions
    own_hash: Values
    """One for each pair."""
    other_hash: Matrix
    """One for each coalition and replacing row."""

    @classmethod
    def of(cls, equal: EqualRows, present: Coalitions, wanted: NDArray[np.bool_] | None) -> _Part:
        own_hash, other_hash = equal.hashes(present)
        if wanted is None:
            wanted = np.ones(own_hash.shape, dtype=np.bool_)
        coalition, own = np.nonzero(wanted)
        return cls(equal, present, coalition, own, own_hash[wanted], other_hash)

    def only(self, pairs: NDArray[np.bool_]) -> _Part:
        own_hash = self.own_hash[pairs]
        return _Part(self.equal, self.present, self.coalition[pairs], self.own[pairs], own_hash, self.other_hash)

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

    def products(self) -> list[_Product]:
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
            _Product(int(start), int(stop), np.flatnonzero(distinct[c]), position[c])
            for c, (start, stop) in enumerate(pairwise(bounds))
            if start < stop
        ]

    def equal_rows(self, block: list[_Product]) -> Positions:
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

    def _sums(self, product: _Product, own: Values, others: Matrix) -> Matrix:
        pairs = slice(product.start, product.stop)
        coalitions = self.coalition[pairs]
        if coalitions[0] == coalitions[-1]:
            return own[pairs, None] + others[coalitions[0], product.replacing]
        return own[pairs, None] + others[coalitions[:, None], product.replacing]

    def _sources(self, block: list[_Product], positions: Positions) -> tuple[Positions, Positions, Positions]:
        """Return the pairs, the coalitions and the replacing rows of masked rows of a block."""
        offsets = np.cumsum([0, *(product.size for product in block)])
        which = np.searchsorted(offsets, positions, side="right") - 1
        widths = np.array([len(product.replacing) for product in block])
        pair, column = np.divmod(positions - offsets[which], widths[which])
        pair += np.array([product.start for product in block])[which]
        replacing = np.concatenate([product.replacing for product in block])
        return pair, self.coalition[pair], replacing[(np.cumsum(widths) - widths)[which] + column]


def _blocks(products: list[_Product], most: int) -> Iterator[list[_Product]]:
    """Divide products among blocks with at most this number of masked rows, if they have several pairs."""
    block: list[_Product] = []
    size = 0
    for whole in products:
        for product in whole.split(most):
            if block and size + product.size > most:
                yield block
                block, size = [], 0
            block.append(product)
            size += product.size
    yield block


def _stacked(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
