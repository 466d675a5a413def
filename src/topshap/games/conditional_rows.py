"""Predictions for rows whose absent columns are drawn from their distribution given the present ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topshap.games.backgrounds import numbers
from topshap.games.masked_rows import MOST_ROWS, ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.typing import Coalition, Coalitions, Matrix, Players, Values
    from topshap.games.gaussian import Gaussian
    from topshap.games.outputs import Prediction
    from topshap.games.tables import Table


@dataclass(frozen=True)
class ConditionalImputer:
    """Draws of absent columns from a distribution, given the present ones."""

    rows: Table
    """The background, which the distribution is fitted to."""
    distribution: Gaussian
    name: str
    n_draws: int
    seed: int

    conditional = True
    """Whether the replacement of absent columns depends on the present ones."""

    @property
    def parts(self) -> dict[str, str | int]:
        """What the values depend on, besides the rows."""
        return {"imputer": self.name, "draws": self.n_draws, "seed": self.seed}


class ConditionalRows:
    """Average predictions of a model over conditional draws of the columns that are not known.

    It has the interface of `topshap.games.masked_rows.MaskedRows`. If all columns are known, a row is predicted once.

    Parameters
    ----------
    prediction
        The model.
    own
        The rows to explain.
    imputer
        The distribution and the number of draws.
    batch_bytes
        The approximate memory of the rows in one call of the model.
    """

    def __init__(self, prediction: Prediction, own: Table, imputer: ConditionalImputer, batch_bytes: int) -> None:
        self.table = own.over(imputer.rows)
        """The rows to explain above the background."""
        self.n_own, self.n_replacing = own.n_rows, imputer.n_draws
        self._prediction, self._distribution = prediction, imputer.distribution
        self._own = numbers("x" if own.n_rows == 1 else "X", own)
        self._standard = imputer.distribution.standard(self._own)
        self._draws = imputer.distribution.joint_draws(imputer.n_draws, imputer.seed)
        self._max_rows = max(1, min(MOST_ROWS, batch_bytes // (self.table.row_bytes + 16 * self._own.shape[1])))
        first = np.stack(
            [self._own[0], next(self._blocks(np.zeros((1, self._own.shape[1]), dtype=np.bool_), None))[2][0]]
        )
        self.first_answers = prediction.try_on_data(self.table.of_floats(first), 2)
        """The predictions for a row to explain and for a row of draws."""
        self.n_outputs = self.first_answers.shape[1]

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
        waiting: list[tuple[int, Players, Matrix]] = []
        n_waiting = 0
        for block in self._blocks(present, wanted):
            if waiting and n_waiting + len(block[2]) > self._max_rows:
                self._predict(waiting, averages)
                waiting, n_waiting = [], 0
            waiting.append(block)
            n_waiting += len(block[2])
        if waiting:
            self._predict(waiting, averages)
        return averages

    def _blocks(self, present: Coalitions, wanted: NDArray[np.bool_] | None) -> Iterator[tuple[int, Players, Matrix]]:
        """Return the draws of each coalition: its position, some of the rows to explain, and their draws in order."""
        everyone = np.arange(self.n_own)
        step = max(1, self._max_rows // len(self._draws))
        for c, columns in enumerate(present):
            rows = everyone if wanted is None else np.flatnonzero(wanted[c])
            if not len(rows):
                continue
            means, noise = self._conditional(columns)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                yield c, some, self._drawn(some, columns, means, noise)

    def _conditional(self, present: Coalition) -> tuple[Matrix, Matrix]:
        """Return the conditional mean for each row to explain, and the noise, on the standard scale."""
        absent = ~present
        if not present.any():
            return np.zeros((self.n_own, len(present))), self._draws
        coefficients = self._distribution.regression(present)
        # For all rows, since a product of other shapes may differ in the last bit.
        means = self._standard[:, present] @ coefficients
        return means, self._draws[:, absent] - self._draws[:, present] @ coefficients

    def _drawn(self, some: Players, present: Coalition, means: Matrix, noise: Matrix) -> Matrix:
        if present.all():
            return self._own[some]
        absent = ~present
        rows = np.repeat(self._own[some][:, None, :], len(noise), axis=1)
        rows[:, :, absent] = self._distribution.values(means[some][:, None, :] + noise, absent)
        return rows.reshape(-1, rows.shape[2])

    def _predict(self, blocks: list[tuple[int, Players, Matrix]], averages: Values) -> None:
        """Predict the draws of some blocks, and write their averages."""
        rows = np.concatenate([draws for _, _, draws in blocks])
        pieces = [rows[start : start + self._max_rows] for start in range(0, len(rows), self._max_rows)]
        answers = [ask(self._prediction, self.table.of_floats(piece), len(piece), self.n_outputs) for piece in pieces]
        predictions = np.ascontiguousarray(np.concatenate(answers, axis=1))
        start = 0
        for coalition, own, draws in blocks:
            each = predictions[:, start : start + len(draws)].reshape(self.n_outputs, len(own), -1)
            averages[coalition, own] = each.mean(axis=2).T
            start += len(draws)
