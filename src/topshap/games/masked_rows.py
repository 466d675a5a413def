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

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import GameError
from topshap.games.equal_rows import EqualRows
from topshap.games.masked_pairs import Pairs, Product, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalitions, Matrix, Players, Values
    from topshap.games.equal_rows import Positions
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
        self.n_replacing = len(self._replacing)
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
        _reuse_freed_memory()
        averages = np.full((len(present), self.n_own, self.n_outputs), np.nan)
        step = max(1, self._max_masked // max(self.n_own, len(self._replacing)))
        for start in range(0, len(present), step):
            some = slice(start, start + step)
            pairs = Pairs.of(self._equal, present[some], None if wanted is None else wanted[some])
            if len(pairs.own):
                averages[some][pairs.coalition, pairs.own] = self._averages_of_pairs(pairs)
        return averages

    def _averages_of_pairs(self, pairs: Pairs) -> Matrix:
        """Return the average prediction of each pair of a coalition and a row, shape (pairs, outputs)."""
        per_coalition = len(pairs.own) / len(pairs.present)
        if min(per_coalition, len(self._replacing)) < _WORTH_MERGING:
            everything = Product(0, len(pairs.own), np.arange(len(self._replacing)))
            return self._averages_of_products(pairs, [everything], merged=False)
        first = pairs.equal_pairs()
        distinct = first == np.arange(len(first))
        fewer = pairs.only(distinct)
        averages = self._averages_of_products(fewer, fewer.products(), merged=True)
        return averages[(np.cumsum(distinct) - 1)[first]]

    def _averages_of_products(self, pairs: Pairs, products: list[Product], *, merged: bool) -> Matrix:
        averages = np.empty((len(pairs.own), self.n_outputs))
        for block in blocks(products, self._max_masked):
            first = None if merged and len(block) == 1 else pairs.equal_rows(block)
            predictions = self._predictions(pairs, block, first)
            start = 0
            for product in block:
                own = predictions[:, start : start + product.size]
                averages[product.start : product.stop] = self._average(pairs, product, own).T
                start += product.size
        return averages

    def _average(self, pairs: Pairs, product: Product, predictions: Matrix) -> Matrix:
        """Return the average over the rows that replace absent columns, shape (outputs, pairs)."""
        each = predictions.reshape(self.n_outputs, -1, len(product.replacing))
        if product.position is not None:
            each = np.take(each, product.position, axis=2)
        weights = None
        if self._imputer.weighted:
            some = slice(product.start, product.stop)
            weights = self._imputer.weights(pairs.present[pairs.coalition[some]], pairs.own[some])
        if weights is not None:
            return np.asarray((weights * each).sum(axis=2))
        return each[:, :, 0] if each.shape[2] == 1 else np.asarray(each.mean(axis=2))

    def _predictions(self, pairs: Pairs, block: list[Product], first: Positions | None) -> Matrix:
        """Return the predictions for all masked rows of a block, shape (outputs, rows)."""
        distinct = None if first is None else first == np.arange(len(first))
        if distinct is not None and distinct.all():
            distinct = None
        answers = [self._ask(rows) for rows in self._chunks(pairs, block, distinct)]
        predictions = answers[0] if len(answers) == 1 else np.concatenate(answers, axis=1)
        return predictions if distinct is None else np.take(predictions, (np.cumsum(distinct) - 1)[first], axis=1)

    def _chunks(self, pairs: Pairs, block: list[Product], distinct: NDArray[np.bool_] | None) -> Iterator[NDArray[Any]]:
        """Assemble the distinct masked rows of a block, as many at a time as the model gets in one call."""
        waiting: list[NDArray[Any]] = []
        start = n_waiting = 0
        for product in block:
            for some, replacing in product.pieces(self._max_rows):
                rows = self._assemble(pairs, some, replacing)
                stop = start + len(rows)
                if distinct is not None:
                    rows = np.compress(distinct[start:stop], rows, axis=0)
                start = stop
                if waiting and n_waiting + len(rows) > self._max_rows:
                    yield _stacked(waiting)
                    waiting, n_waiting = [], 0
                waiting.append(rows)
                n_waiting += len(rows)
        yield _stacked(waiting)

    def _assemble(self, pairs: Pairs, some: slice, replacing: Positions) -> NDArray[Any]:
        """Return the cells of some pairs, each with all of the given replacing rows."""
        coalitions, own = pairs.coalition[some], self._own[pairs.own[some]]
        others = self._replacing if len(replacing) == len(self._replacing) else self._replacing[replacing]
        if coalitions[0] == coalitions[-1]:
            columns = np.flatnonzero(pairs.present[coalitions[0]])
            rows = np.empty((len(own), *others.shape), dtype=others.dtype)
            rows[:] = others
            rows[:, :, columns] = own[:, None, columns]
        else:
            rows = np.where(pairs.present[coalitions][:, None, :], own[:, None, :], others)
        return rows.reshape(-1, others.shape[1])

    def _ask(self, cells: NDArray[Any]) -> Matrix:
        """Return the predictions of the model, shape (outputs, rows)."""
        return ask(self._prediction, self.table.assembled(cells), len(cells), self.n_outputs)


def ask(prediction: Prediction, data: Any, n_rows: int, n_outputs: int) -> Matrix:
    """Return the predictions of a model for data with a number of rows, shape (outputs, rows)."""
    answer = prediction.outputs(data)
    if answer.shape != (n_rows, n_outputs):
        expected = f"{n_outputs} numbers per row" if n_outputs > 1 else "one number per row"
        raise GameError(
            f"The model must return {expected}. Got an array of shape {answer.shape} for {n_rows} rows instead."
        )
    return answer.T


@cache
def _reuse_freed_memory() -> None:
    """Let the allocator keep freed arrays of a few megabytes for the next ones, once per process.

    The C library of Linux returns freed memory to the system above a threshold, and getting it back takes longer than
    writing the rows (three times, for 10,000 rows with 30 columns). Freeing a larger array raises the threshold.
    """
    np.empty(2**24, dtype=np.uint8)


def _stacked(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
