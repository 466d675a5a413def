"""A batch of accesses: its cost, the coalitions that are still to be evaluated, and the values told so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from topshap.core.ledger import Ledger
    from topshap.core.typing import Coalitions, Values


class Batch:
    """Coalitions that an algorithm asks for together, priced by the ledger.

    Their values may be told at once or in parts. Parts are entered into the ledger as they are told; the algorithm gets
    all values together, so that its choices do not depend on how the batch was divided.

    Examples
    --------
    >>> from topshap.core.ledger import Ledger
    >>> ledger = Ledger(n_players=2)
    >>> batch = Batch(np.array([[True, False], [False, True], [True, True]]), ledger)
    >>> batch.take_part(np.array([0.5]))
    >>> ledger.evaluations, len(batch.pending)
    (1, 2)
    >>> batch.take(np.array([0.25, 1.0]))
    array([0.5 , 0.25, 1.  ])
    """

    __slots__ = ("_answers", "_bill", "_ledger", "pending", "rows")

    def __init__(self, rows: Coalitions, ledger: Ledger) -> None:
        self.rows = rows
        """All coalitions of the batch."""
        self._ledger = ledger
        self._bill = bill = ledger.price(rows)
        unpaid = bill.unpaid
        self.pending: Coalitions = rows if len(unpaid) == len(rows) else rows[unpaid]
        """The coalitions to evaluate: those that the budget covers and that have no value yet."""
        self._answers: list[Values] = []

    def take(self, values: Values) -> Values:
        """Take the values of all pending coalitions; return those of all rows that the budget covers."""
        rest = self._ledger.enter(self._bill, values)
        return np.concatenate([*self._answers, rest]) if self._answers else rest

    def take_part(self, values: Values) -> None:
        """Take the values of the first pending coalitions."""
        part, self._bill = self._ledger.split(self._bill, len(values))
        self._answers.append(self._ledger.enter(part, values))
        self.pending = self.pending[len(values) :]

    def told(self) -> Values:
        """Return the values that have been told so far, which are those of the first rows."""
        return np.concatenate(self._answers) if self._answers else self._ledger.no_values
